/** The prompt that is being written. */
import type { Key } from '../editor/key-parser.ts';
import { editorOf, editorText } from '../editor/line-editor.ts';
import {
  cleared,
  type InputAction,
  newPromptInput,
  type PromptInput,
  pressKey,
} from '../editor/prompt-input.ts';
import { handedBack } from './steered-lines.ts';

export class WrittenPrompt {
  #input: PromptInput;

  constructor(history: readonly string[]) {
    this.#input = newPromptInput(history);
  }

  get input(): PromptInput {
    return this.#input;
  }

  get isEmpty(): boolean {
    return this.#input.editor.cells.length === 0;
  }

  set(input: PromptInput): void {
    this.#input = input;
  }

  clear(): void {
    this.#input = cleared(this.#input);
  }

  press(key: Key, wordsFor: (command: string) => readonly string[]): InputAction | undefined {
    const { input, action } = pressKey(this.#input, key, wordsFor);
    this.#input = input;
    return action;
  }

  /** Puts back what was not carried out, before what is being written; returns the commands, which are no text to send. */
  handBack(lines: readonly string[], isCommand: (line: string) => boolean): readonly string[] {
    const { text, left } = handedBack(lines, editorText(this.#input.editor), isCommand);
    this.#input = { ...cleared(this.#input), editor: editorOf(text) };
    return left;
  }
}
