/** A prompt as it stays in the scrollback: a long paste by its size, like in the input. */
import { editorOf } from './line-editor.ts';

export function shownPrompt(text: string): string {
  const cells = editorOf(text).cells.map((cell) => (typeof cell === 'string' ? cell : cell.label));
  return `> ${cells.join('').replaceAll('\n', '\n  ')}`;
}
