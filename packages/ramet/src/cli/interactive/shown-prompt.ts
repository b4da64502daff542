/** A prompt as it stays in the scrollback: a long paste by its size, like in the input. */
import { pasteLabel } from './input-layout.ts';
import { editorOf } from './line-editor.ts';

export function shownPrompt(text: string): string {
  const cells = editorOf(text).cells.map((cell) =>
    typeof cell === 'string' ? cell : pasteLabel(cell.pasted),
  );
  return `> ${cells.join('').replaceAll('\n', '\n  ')}`;
}
