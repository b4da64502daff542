import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stripAnsi } from '../../../system/text/visible-text.ts';
import { displayWidth } from '../../../views/text/format.ts';
import { AnswerStream } from './answer-stream.ts';
import type { Block } from './blocks.ts';
import type { Row } from './wrapped-rows.ts';

const PLAIN = { colours: false, links: false };
const COLOURS = { colours: true, links: false };

function rowsOf(blocks: readonly Block[], columns: number): Row[] {
  return blocks.flatMap((block) => [...block.rows(columns)]);
}

function rendered(text: string, { columns = 40, look = PLAIN } = {}): string {
  const stream = new AnswerStream(look);
  const blocks = [...stream.push(text), ...stream.end()];
  return rowsOf(blocks, columns)
    .map((row) => row.text)
    .join('\n');
}

/** The same text in pieces, on a screen with this much room: what has been written, and what is live at the end. */
function inPieces(pieces: readonly string[], columns: number, room: number): Row[] {
  const stream = new AnswerStream(PLAIN);
  const blocks: Block[] = [];
  for (const piece of pieces) {
    blocks.push(...stream.push(piece), ...stream.release(columns, room));
    expect(stream.rows(columns).every((row) => row.width <= columns)).toBe(true);
  }
  return rowsOf([...blocks, ...stream.end()], columns);
}

const textsOf = (rows: readonly Row[]): string[] => rows.map((row) => row.text);

describe('UI-1: an answer as a person reads it', () => {
  test('headings, paragraphs and lists', () => {
    const text =
      '# Title\nFirst *line* of **two**\nsecond.\n\n- one\n- two\n  - inner\n\n1. first\n2. second\n';
    expect(rendered(text)).toBe(
      '# Title\nFirst line of two\nsecond.\n\n• one\n• two\n  ◦ inner\n\n1. first\n2. second',
    );
  });

  test('a list item continues below its text', () => {
    expect(
      rendered('- one two three four\n  five\n\n  another\n- [x] done\n- [ ] open', { columns: 12 }),
    ).toBe('• one two\n  three four\n  five\n\n  another\n• ☑ done\n• ☐ open');
    const look = { colours: false, links: false, isAscii: true };
    expect(rendered('- [x] done\n- [ ] open', { look })).toBe('• [x] done\n• [ ] open');
  });

  test('quotes, with what is in them', () => {
    expect(rendered('before\n\n> said *so*\n> again\n>\n> - item\nlazy\n\nafter')).toBe(
      'before\n\n│ said so\n│ again\n│\n│ • item\n│   lazy\n\nafter',
    );
  });

  test('code is given as it was written, however wide the screen is', () => {
    const code =
      'const a = 1;\n\n\tif (a) { return "a line that is wider than the screen by far"; }\n  # no heading';
    expect(rendered(`Look:\n\`\`\`ts\n${code}\n\`\`\`\ndone`, { columns: 20 })).toBe(
      `Look:\n\n╭─ ts\n${code.replace('\t', '        ')}\n╰─\n\ndone`,
    );
  });

  test('code in colours has the same text', () => {
    const code = [
      '/* a',
      ' comment */ const x = `a',
      ' c`; // end',
      "it's 0x1f + 12.5e3",
      'return "a\\"b" + name;',
    ].join('\n');
    const shown = rendered(`\`\`\`ts\n${code}\n\`\`\``, { look: COLOURS });
    expect(stripAnsi(shown)).toBe(`╭─ ts\n${code}\n╰─`);
    expect(shown).toContain('\u001b[35mconst\u001b[39m');
    expect(shown).toContain('\u001b[2m comment */\u001b[22m');
    expect(shown).toContain('\u001b[32m"a\\"b"\u001b[39m');
  });

  test('a table, narrower if need be, and as a list if it must', () => {
    const text = '| a | number |\n|---|---:|\n| x | 1 |\n| longer text | 22 |\n';
    expect(rendered(text)).toBe(
      'a           │ number\n────────────┼───────\nx           │      1\nlonger text │     22',
    );
    expect(rendered(text, { columns: 16 })).toBe(
      'a       │ number\n────────┼───────\nx       │      1\nlonger  │     22\ntext    │',
    );
    expect(rendered(text, { columns: 8 })).toContain('longer\n');
  });

  test('links show their address where the terminal cannot open them', () => {
    expect(rendered('see [the page](https://e.org/a_(b) "t") or https://e.org/x.', { columns: 80 })).toBe(
      'see the page (https://e.org/a_(b)) or https://e.org/x.',
    );
    const shown = rendered('[page](https://e.org/ü)', { look: { colours: true, links: true } });
    expect(shown).toBe('\u001b]8;;https://e.org/%C3%BC\u001b\\\u001b[4mpage\u001b[24m\u001b]8;;\u001b\\');
    const look = { colours: true, links: true };
    expect(rendered('&copy; 2026 &mdash; a &rarr; b &unknown;')).toBe('© 2026 — a → b &unknown;');
    expect(rendered('[bank.example](https://evil.example)', { look })).toContain('(https://evil.example)');
    // A text that is an address itself ends with its bracket; brackets inside of an address are its own.
    expect(
      rendered('[https://e.org/x](https://e.org/x), [http://[::1]:3](http://[::1]:3)', { columns: 80 }),
    ).toBe('https://e.org/x, http://[::1]:3');
    expect(rendered('[https://e.org/x](https://e.org/x)', { look })).toContain(']8;;https://e.org/x\u001b');
    expect(rendered('[https://e.org](https://evil.example)', { look })).toContain('(https://evil.example)');
    // What a click opens is where the link leads, whatever its text is.
    for (const shown of [
      'https://e.org',
      '**https://e.org**',
      'see https://e.org',
      '![logo](https://e.org)',
    ]) {
      const link = rendered(`[${shown}](https://real.example)`, { columns: 80, look });
      expect(link).toContain(']8;;https://real.example');
      expect(link).not.toContain(']8;;https://e.org');
    }
    expect(rendered('[x](javascript:alert)', { look: { colours: true, links: true } })).toContain(
      '(javascript:alert)',
    );
  });

  test('references lead to what was defined before them; the others stay as they were written', () => {
    const defined = '[Docs]: https://e.org/docs "The docs"\n[1]: <https://e.org/1>\n';
    const shown = '[Docs]: https://e.org/docs "The docs"\n[1]: https://e.org/1';
    const text = 'See [the docs][docs], [DOCS][], [1], ![a picture][1], m[a][0] and [none][no].';
    expect(rendered(`${defined}\n${text}`, { columns: 200 })).toBe(
      `${shown}\n\nSee the docs (https://e.org/docs), DOCS (https://e.org/docs), 1 (https://e.org/1), image: a picture (https://e.org/1), m[a][0] and [none][no].`,
    );
    expect(rendered(`${text}\n\n${defined}`, { columns: 200 })).toBe(`${text}\n\n${shown}`);
    expect(rendered('[1]: https://e.org\n| a |\n|---|\n| [x][1] |\n')).toContain('x (https://e.org)');
    const look = { colours: true, links: true };
    expect(rendered('[1]: https://e.org\n# [a][1]', { look })).toMatch(/(?:\]8;;https:\/\/e.org.*){2}/s);
    expect(rendered('[1]: https://evil.example\n\n[bank.example][1]', { look })).toContain('(https://evil');
  });

  test.for([
    '[Note]: word',
    '[Note]: see the text.',
    '[^1]: https://e.org is a footnote',
    '[]: https://e.org',
    'text\n[a]: https://e.org',
    '[a]:',
  ])('%j defines nothing', (text) => {
    expect(rendered(`${text}\n\n[a] [Note] [^1]`)).toBe(`${text}\n\n[a] [Note] [^1]`);
  });

  test('a definition counts for its own answer', () => {
    const stream = new AnswerStream(PLAIN);
    stream.push('[1]: https://e.org\n');
    stream.end();
    expect(rowsOf([...stream.push('[a][1]'), ...stream.end()], 80).map((row) => row.text)).toEqual([
      '[a][1]',
    ]);
  });

  test('emphasis in colours; marks that mean nothing stay', () => {
    expect(
      rendered('a **b *c* d** `e*f` 2 * 3 snake_case_name \\*x\\* **open', { look: COLOURS, columns: 80 }),
    ).toBe(
      'a \u001b[1mb \u001b[22m\u001b[1m\u001b[3mc\u001b[22m\u001b[23m\u001b[1m d\u001b[22m \u001b[36me*f\u001b[39m 2 * 3 snake_case_name *x* **open',
    );
  });

  test('SEC-1: controls of the text do nothing, also in pieces', () => {
    const hostile =
      'a\u001b[2Jb\u001b]0;t\u0007c\u009b31md\u202e\r\n```\nx\u001b[3Ay\u0008\n```\n[l](http://a\u001b[5m)';
    const look = { colours: true, links: true };
    for (const size of [1, 3, 1_000]) {
      const stream = new AnswerStream(look);
      const blocks: Block[] = [];
      for (let at = 0; at < hostile.length; at += size)
        blocks.push(...stream.push(hostile.slice(at, at + size)));
      blocks.push(...stream.end());
      const shown = rowsOf(blocks, 40)
        .map((row) => row.text)
        .join('\n');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours and links are ours
      const rest = shown.replace(/\u001b\[\d+m|\u001b\]8;;[!-~]*\u001b\\/g, '');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be shown
      expect(rest).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

const LINE = fc.oneof(
  fc.stringMatching(/^[a-z ]{0,60}$/),
  fc.constantFrom(
    '',
    '',
    '# heading',
    '- item with some words in it',
    '  - inner item',
    '1. first',
    '2) second',
    '> quoted words',
    '> - listed in a quote',
    '```ts',
    '```',
    '    code by indentation',
    '| a | b |',
    '|---|---|',
    '| cell of a table | more |',
    '---',
    '===',
    '**bold text** and *more* of it, `code` too, and [a link](https://e.org) at the end of a long line',
    'an **open mark and words and words and words and words and words and words and words',
    '日本語の文章はここで折り返されますか、それともここですか。そうですね。',
    'x'.repeat(70),
    '\tcode\twith\ttabs',
    '- [ ] a box to tick and some text to go with it',
    '[ref]: https://example.org/a/rather/long/address "with a title"',
    '[other one]: not an address',
    'a [text][ref], [ref], [words of a link that are long][Ref] and [none][of them], [ref][',
    'a_b_c * d ~~gone~~ <br> &amp; \\* ![picture](p.png)',
  ),
);
const TEXT = fc.array(LINE, { maxLength: 14 }).map((lines) => lines.join('\n'));

describe('UI-1: an answer in pieces', () => {
  test.for(['1. first\nd <br> e f', 'one\nab &amp; c d', '- item\nab <br/> &lt;c'])(
    'a break or an entity at the edge of a narrow screen makes no row of its own: %j',
    (text) => {
      for (let columns = 6; columns < 16; columns++)
        expect(textsOf(inPieces([...text], columns, 1))).toEqual(textsOf(inPieces([text], columns, 1_000)));
    },
  );

  test('looks as if it had come at once, on a screen of any size', () => {
    const property = fc.property(
      TEXT,
      fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 6, max: 60 }),
      fc.integer({ min: 1, max: 12 }),
      (text, sizes, columns, room) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        const whole = inPieces([text], columns, 1_000);
        expect(inPieces(pieces, columns, room).map((row) => row.text)).toEqual(whole.map((row) => row.text));
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  test('no row is wider than the screen, except lines of code', () => {
    const property = fc.property(TEXT, fc.integer({ min: 4, max: 60 }), (text, columns) => {
      for (const row of inPieces([text], columns, 1_000)) {
        if (row.isWhole !== true) expect(displayWidth(row.text)).toBeLessThanOrEqual(columns);
      }
    });
    fc.assert(property);
  });

  test('a paragraph and a code block that are too high are released row by row', () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
    for (const text of [words.join(' '), `\`\`\`\n${words.join('\n')}`]) {
      const stream = new AnswerStream(PLAIN);
      const blocks = [...stream.push(text), ...stream.release(20, 5)];
      expect(stream.rows(20).length).toBeLessThanOrEqual(5);
      expect(blocks.length).toBeGreaterThan(0);
      const all = rowsOf([...blocks, ...stream.end()], 20).map((row) => row.text);
      expect(all.join('\n').match(/word\d+/g)).toEqual(words);
    }
  });

  test('what may still change is not released', () => {
    const stream = new AnswerStream(PLAIN);
    const text = `**${'many words in bold '.repeat(20)}`;
    expect([...stream.push(text), ...stream.release(20, 3)]).toEqual([]);
    const blocks = [...stream.push('end** after'), ...stream.end()];
    expect(rowsOf(blocks, 20)[0]?.text).toBe('many words in bold');
  });

  test('marks of every kind, thousands of them, take no longer than other text', () => {
    for (const mark of [
      '*a_',
      '[',
      '![',
      '`',
      '``a`',
      '**a*b',
      '[a](',
      '_*',
      '~~a~',
      '<',
      '](',
      '> ',
      '- ',
      '|-',
      '[a][',
      '[1]',
      '\n[x]: a.b/',
    ]) {
      const stream = new AnswerStream(COLOURS);
      const blocks = [...stream.push(`[1]: http://a\n\n${mark.repeat(20_000)} end`), ...stream.end()];
      expect(rowsOf(blocks, 80).length).toBeGreaterThan(0);
    }
  });

  test('an answer of megabytes leaves little behind', () => {
    const stream = new AnswerStream(PLAIN);
    let rows = 0;
    for (const [start, piece] of [
      ['', 'word '],
      ['\n\n```\n', 'x'],
      ['\n', 'line\n'],
      ['```\n|a|\n|-|\n', '|b|\n'],
    ] as const) {
      for (const block of stream.push(start)) rows += block.rows(80).length;
      for (let count = 0; count < 100; count += 1)
        for (const block of stream.push(piece.repeat(2_000))) rows += block.rows(80).length;
      expect(stream.rows(80).length).toBeLessThan(1_000);
    }
    expect(rows).toBeGreaterThan(10_000);
  });
});
