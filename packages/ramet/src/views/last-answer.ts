/** Where a resumed conversation stood: the end of its last answer, for a person who comes back to it. */
import { contentOfBytes } from '../conversation/frozen-block.ts';
import { foldAgent } from '../journal/projections/apply-event.ts';
import { itemsOf } from '../system/persistent-list.ts';
import type { SessionView } from './session-view.ts';

const MOST_LINES = 10;

export function lastAnswerOf({ reader }: SessionView, agent: string): string | null {
  const { messages } = foldAgent(reader.events({ agent }), agent);
  const answers = itemsOf(messages)
    .filter(({ role }) => role === 'assistant')
    .reverse();
  for (const { blocks } of answers) {
    const contents = blocks.map((digest) => contentOfBytes(reader.block(digest)));
    const text = contents.map((block) => (block.type === 'text' ? String(block.text) : '')).join('');
    if (text.trim() !== '') return lastLines(text.trimEnd());
  }
  return null;
}

function lastLines(text: string): string {
  const lines = text.split('\n');
  return lines.length > MOST_LINES ? ['…', ...lines.slice(-MOST_LINES)].join('\n') : text;
}
