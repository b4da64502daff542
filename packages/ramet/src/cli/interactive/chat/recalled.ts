/** How prompts stay in the scrollback, and what is shown of a session that is resumed. */
import { lastLines } from '../../../views/exchanges.ts';
import { continuationHint } from '../../../views/interrupted-text.ts';
import { editorOf } from '../editor/line-editor.ts';
import type { TextStyle } from '../screen/text-style.ts';
import type { Chat } from './chat.ts';

const EXCHANGES_SHOWN = 3;
/** Of an answer: the end of the last one, less of those before. */
const LAST_LINES = 16;
const EARLIER_LINES = 4;

export interface RecallParts {
  readonly chat: Chat;
  readonly style: TextStyle;
  print(text: string): void;
  /** A whole answer, shown as one that streams. */
  answer(text: string): void;
}

export function showRecalled({ chat, print, answer, style }: RecallParts): void {
  const exchanges = chat.lastExchanges(EXCHANGES_SHOWN);
  for (const [index, said] of exchanges.entries()) {
    print(`\n${style.bold(shownPrompt(said.prompt))}\n`);
    const most = index === exchanges.length - 1 ? LAST_LINES : EARLIER_LINES;
    if (said.answer !== null) answer(lastLines(said.answer, most));
  }
  if (chat.openWork.length === 0) return;
  print(`\n${style.yellow(chat.openWork.join('\n'))}\n`);
  print(`${style.dim(continuationHint(chat.openWork))}\n`);
}

/** A prompt as it stays in the scrollback: a long paste by its size, like in the input. */
export function shownPrompt(text: string): string {
  const cells = editorOf(text).cells.map((cell) => (typeof cell === 'string' ? cell : cell.label));
  return `> ${cells.join('').replaceAll('\n', '\n  ')}`;
}
