import { describe, expect, test } from 'vitest';
import { fencedBlocks } from './fenced-blocks.ts';

/** Language, argument and content of every block. */
function read(...lines: string[]): string[][] {
  return fencedBlocks(lines.join('\n')).map(({ language, argument, content }) => [
    language,
    argument,
    content,
  ]);
}

describe('RECIPE-1: the fenced blocks of a text', () => {
  test('are found in order, with language, argument, content and line', () => {
    const text =
      'Do this:\n\n```sh\nnpm test\nnpm run build\n```\n\nand\n```Write  notes/a b.md \nhello\n```\n';
    expect(fencedBlocks(text)).toEqual([
      { language: 'sh', argument: '', content: 'npm test\nnpm run build\n', line: 3, closed: true },
      { language: 'write', argument: 'notes/a b.md', content: 'hello\n', line: 9, closed: true },
    ]);
  });

  test('may hold shorter fences, and fences of the other kind', () => {
    expect(read('````write README.md', '```sh', 'npm test', '```', '~~~', '````')).toEqual([
      ['write', 'README.md', '```sh\nnpm test\n```\n~~~\n'],
    ]);
    expect(read('~~~~ sh', '```', '~~~', '~~~~~')).toEqual([['sh', '', '```\n~~~\n']]);
  });

  test('are closed only by a bare fence', () => {
    expect(read('```sh', '```sh', '``', '``` no', '```  ')).toEqual([['sh', '', '```sh\n``\n``` no\n']]);
  });

  test('lose the indentation of their fence, in a list too', () => {
    expect(read('  ```sh', '  a', '    b', 'c', '  ```')).toEqual([['sh', '', 'a\n  b\nc\n']]);
    expect(
      read('1. ```sh', '   make', '   ```', '- [ ] then', '      ```sh', '      x', '      ```'),
    ).toEqual([
      ['sh', '', 'make\n'],
      ['sh', '', 'x\n'],
    ]);
    expect(read('\t```sh', '\tif a', '\t\tb', '\t```')).toEqual([['sh', '', 'if a\n\tb\n']]);
  });

  test('a fence that stands deeper inside a block is part of it', () => {
    expect(read('```write a.md', '    ```', '```')).toEqual([['write', 'a.md', '    ```\n']]);
  });

  test('may be empty, without a language, and written with carriage returns', () => {
    expect(read('```sh', '```', '```', '', '```')).toEqual([
      ['sh', '', ''],
      ['', '', '\n'],
    ]);
    expect(read('```sh\r', 'a\r', '```\r', '')).toEqual([['sh', '', 'a\n']]);
  });

  test('that are never closed are marked', () => {
    expect(fencedBlocks('```sh\nrm -rf build')).toMatchObject([{ content: 'rm -rf build\n', closed: false }]);
    expect(fencedBlocks('````sh\na\n```\n')).toMatchObject([{ closed: false }]);
  });

  test.each([
    ['a quotation', '> ```sh\n> rm -rf /\n> ```'],
    ['a comment', '<!--\n```sh\nrm -rf /\n```\n-->'],
    ['a comment on one line', '<!-- ```sh -->'],
    ['a code span', 'run ```sh``` or\n```sh x```'],
    ['two backticks', '``sh\n``'],
    ['text before the fence', 'see ```sh'],
  ])('are not found in %s', (_, text) => {
    expect(fencedBlocks(text)).toEqual([]);
  });

  test('a block after a comment is found', () => {
    expect(read('<!-- note -->', '```sh', 'a', '```')).toEqual([['sh', '', 'a\n']]);
  });

  test('of 10 MB are read, in lines short and long', () => {
    const long = `${' '.repeat(5_000_000)}${'`'.repeat(5_000_000)}`;
    expect(read('```write a', long, '```')[0]?.[2]).toHaveLength(long.length + 1);
    expect(read(long, `- ${long}`, '```write a', 'x\n'.repeat(5_000_000), '```')[0]?.[2]).toHaveLength(
      10_000_001,
    );
  });
});
