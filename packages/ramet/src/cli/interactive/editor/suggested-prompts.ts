/**
 * Prompts that may follow, beside the input (BG-4): Tab puts one there, Tab again the next, and after the last none. Enter sends
 * what is in the input, as always. What a person writes drops them.
 */
import { safeLine } from '../../../views/text/format.ts';
import { type EditorState, editorOf, editorText } from './line-editor.ts';

/** Where they come from; null for a session without them. */
export interface SuggestionSource {
  readonly suggestions: readonly string[];
  dropSuggestions(): void;
}

export class SuggestedPrompts {
  readonly #source: () => SuggestionSource | null | undefined;
  /** What is in the input, unchanged. */
  #taken: string | null = null;

  constructor(source: () => SuggestionSource | null | undefined) {
    this.#source = source;
  }

  /** What Tab makes of the input; null if it has its own meaning. */
  next({ cells, cursor }: EditorState): EditorState | null {
    const texts = this.#texts;
    if (texts.length === 0 || (cells.length > 0 && this.#taken === null) || cursor !== cells.length)
      return null;
    this.#taken = texts[this.#taken === null ? 0 : texts.indexOf(this.#taken) + 1] ?? null;
    return editorOf(this.#taken ?? '');
  }

  /** The input is this now. */
  written(editor: EditorState): void {
    if (editor.cells.length === 0) this.#taken = null;
    else if (this.#taken === null || editorText(editor) !== this.#taken) {
      this.#taken = null;
      this.#source()?.dropSuggestions();
    }
  }

  /** The row beside the input; null for none. */
  row({ cells }: EditorState): string | null {
    const texts = this.#texts;
    const [first] = texts;
    if (first === undefined || (cells.length > 0 && this.#taken === null)) return null;
    if (this.#taken === null) {
      const more = texts.length === 1 ? '' : ` (${texts.length - 1} more)`;
      return `Tab: ${safeLine(first)}${more}`;
    }
    const at = texts.indexOf(this.#taken) + 1;
    return `suggestion ${at} of ${texts.length}: Enter sends it, Tab ${at === texts.length ? 'removes it' : 'shows the next'}`;
  }

  get #texts(): readonly string[] {
    return this.#source()?.suggestions ?? [];
  }
}
