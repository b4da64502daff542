import { describe, expect, test } from 'vitest';
import { denseParagraphs } from './dense-markdown.ts';
import { markdownBlocks } from './markdown-blocks.ts';
import { forgeryIn } from './refuse-forged-notes.ts';
import { asOfAgents } from './reserved-heading.ts';

const PATTERNS = ['[a](', '![a](', '[[a](b)', '![[a](b)', 'a<!A', 'a<?', 'a<![CDATA[', '[a](\\('];
const SIZES = [100_000, 1_000_000];
const LEFT_OUT = '(a paragraph with too many brackets to be read is left out)';
const MOST = 50_000_000;
const MOST_OF_ONE = 5_000_000;

const repeated = (pattern: string, size: number): string => pattern.repeat(size / pattern.length);
const cases = PATTERNS.flatMap((pattern) => SIZES.map((size) => [pattern, size] as const));

describe('MEM-1: Markdown that would take minutes to parse', () => {
  test.for(cases)('%s in %i characters is not parsed, and everything around it is', ([pattern, size]) => {
    const text = `# Facts\n\nThe [tests](t.md) need a database.\n\n${repeated(pattern, size)}\n\n- a <b>fact</b>\n`;
    expect(denseParagraphs(text.split('\n'))).toEqual([{ start: 3, end: 5 }]);
    const blocks = markdownBlocks(text);
    expect(blocks.map(({ start, level }) => [start, level])).toEqual([
      [0, 1],
      [2, 0],
      [4, 0],
      [6, 0],
    ]);
    expect(blocks[1]?.text).toBe('The tests need a database.');
    expect(blocks[2]?.text).not.toMatch(/[[<]/);
    expect(blocks[3]?.html).toEqual(['<b>', '</b>']);
  });

  test.for(PATTERNS)('many paragraphs of %s are parsed only as far as all together may cost', (pattern) => {
    const paragraphs = Array.from({ length: 250 }, () => [repeated(pattern, 4_000), '']).flat();
    const dense = new Set(denseParagraphs(paragraphs).map(({ start }) => start));
    const work = paragraphs.flatMap((paragraph, index) =>
      // A paragraph begins with the blank line before it.
      dense.has(Math.max(0, index - 1)) ? [] : [paragraph.length * (paragraph.match(/[[<]/g)?.length ?? 0)],
    );
    expect(Math.max(...work)).toBeLessThanOrEqual(MOST_OF_ONE);
    expect(work.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MOST);
    expect(dense.size).toBeGreaterThan(0);
  });

  test('notes as people and agents write them are read whole', () => {
    const item =
      '- The [parser](src/parser.ts) returns `null` for <empty> input, see [issue 12](https://e.org/12).';
    const prose = 'The [parser](src/parser.ts) is called by the reader, and the reader by everybody. '.repeat(
      40,
    );
    const text = [
      ...Array.from({ length: 5_000 }, () => item),
      '',
      ...Array.from({ length: 100 }, () => [prose, '']).flat(),
    ];
    expect(denseParagraphs(text)).toEqual([]);
  });

  test('is shown as left out where agents wrote it, with the lines around it', async () => {
    const text = `- a fact\n\n${repeated('[a](', 100_000)}[Notes](x) of the user\n\n- another`;
    expect(await asOfAgents(text)).toBe(`- a fact\n${LEFT_OUT}\n\n\n- another`);
  });

  test('is not what an agent may leave in memory; a person may, and an agent may take it away', () => {
    const dense = `- a fact\n\n${repeated('[a](', 100_000)}\n`;
    expect(forgeryIn({ before: '- a fact\n', after: dense })).toBe('unread');
    expect(forgeryIn({ before: '- a fact\n', after: dense }, { byPerson: true })).toBeNull();
    expect(forgeryIn({ before: dense, after: '- a fact\n' })).toBeNull();
  });
});
