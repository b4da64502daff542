/** The prompt that is being written. */
import type { Key } from '../../editor/key-parser.ts';
import { editorOf, editorText } from '../../editor/line-editor.ts';
import {
  cleared,
  type InputAction,
  newPromptInput,
  type PromptInput,
  pressKey,
} from '../../editor/prompt-input.ts';
import { SuggestedPrompts, type SuggestionSource } from '../../editor/suggested-prompts.ts';
import { handedBack } from './steered-lines.ts';

export class WrittenPrompt {
  #input: PromptInput;
  readonly #suggested: SuggestedPrompts;

  constructor(
    history: readonly string[],
    suggestions: () => SuggestionSource | null | undefined = () => null,
  ) {
    this.#input = newPromptInput(history);
    this.#suggested = new SuggestedPrompts(suggestions);
  }

  /** The row of a prompt that may follow; null for none. */
  get suggestion(): string | null {
    return this.#suggested.row(this.#input.editor);
  }

  get input(): PromptInput {
    return this.#input;
  }

  get isEmpty(): boolean {
    return this.#input.editor.cells.length === 0;
  }

  set(input: PromptInput): void {
    this.#input = input;
    this.#suggested.written(input.editor);
  }

  clear(): void {
    this.set(cleared(this.#input));
  }

  press(key: Key, wordsFor: (command: string) => readonly string[]): InputAction | undefined {
    const isTab = key.type === 'press' && key.name === 'tab';
    const editor = isTab ? this.#suggested.next(this.#input.editor) : null;
    if (editor !== null) {
      this.#input = { ...cleared(this.#input), editor };
      return undefined;
    }
    const { input, action } = pressKey(this.#input, key, wordsFor);
    this.set(input);
    return action;
  }

  /** Puts back what was not carried out, before what is being written; returns the commands, which are no text to send. */
  handBack(lines: readonly string[], isCommand: (line: string) => boolean): readonly string[] {
    const { text, left } = handedBack(lines, editorText(this.#input.editor), isCommand);
    this.set({ ...cleared(this.#input), editor: editorOf(text) });
    return left;
  }
}
