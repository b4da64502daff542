import { describe, expect, test } from 'vitest';
import type { AgentRecord } from '../../../views/agent-record.ts';
import { textStyle } from '../screen/text-style.ts';
import { AgentScreen } from './agent-screen.ts';

function writing(): { screen: AgentScreen; write(text: string): void } {
  // What the screen asks of a record, and nothing else.
  const record = { agent: 'x.2', read: () => [] } as unknown as AgentRecord;
  const look = { colours: false, links: false };
  const screen = new AgentScreen({ record, style: textStyle(false), look, title: () => 'title' });
  const write = (text: string): void =>
    screen.take({ type: 'text_delta', text, agentId: 'x.2', parentAgentId: 'x.1' });
  return { screen, write };
}

const SIZE = { columns: 40, rows: 6 };

describe('UI-3: an answer of an agent while it is written', () => {
  test.for<[name: string, begin: string, line: string]>([
    ['code without an end', '```ts\n', 'const a = 1;\n'],
    ['lines', '', 'a line of words\n'],
    ['paragraphs', '', 'a line of words\n\n'],
    ['a list', '', '- an item\n'],
    ['one line', '', 'word after word '],
  ])('of 1 MB: %s ends where it ends, and takes no more room than a person scrolls', ([, begin, line]) => {
    const { screen, write } = writing();
    write(begin);
    const piece = line.repeat(400);
    for (let length = 0; length < 1_000_000; length += piece.length) {
      write(piece);
      screen.rows(SIZE);
    }
    const end = begin === '' ? 'the end' : 'const end = 2;';
    write(`${line.endsWith('\n') ? '' : '\n'}${end}`);
    const text = (): string =>
      screen
        .rows(SIZE)
        .map((row) => row.text)
        .join('\n');
    expect(text()).toContain(end);
    screen.toStart();
    const [, below = ''] = /\((\d+) more below\)/.exec(text()) ?? [];
    expect(Number(below)).toBeGreaterThan(1_000);
    expect(Number(below)).toBeLessThan(8_200);
    // Another width changes nothing of that.
    screen.toEnd();
    expect(
      screen
        .rows({ columns: 30, rows: 6 })
        .map((row) => row.text)
        .join('\n'),
    ).toContain(end);
  });
});
