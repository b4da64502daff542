import { describe, expect, test } from 'vitest';
import { mayMention, mentionedFiles, quotedPath } from './mentions.ts';

const FILES = ['src/a.ts', 'my file.ts', '/tmp/a b.png', 'shot.png', 'it.jpeg', 'README.md'];
const isFile = (path: string): boolean => FILES.includes(path);

describe('UI-3: files that a prompt names', () => {
  test.for<[text: string, files: string[]]>([
    ['explain @src/a.ts', ['src/a.ts']],
    ['compare @src/a.ts with @README.md, please', ['src/a.ts', 'README.md']],
    ['(see @src/a.ts)', ['src/a.ts']],
    ['what does @src/a.ts? And @src/a.ts', ['src/a.ts']],
    ['look at @"my file.ts"', ['my file.ts']],
    ['mail bob@src/a.ts and ask @alice about @types/node', []],
    ["what is wrong in '/tmp/a b.png' here", ['/tmp/a b.png']],
    ['what is wrong in /tmp/a\\ b.png', ['/tmp/a b.png']],
    ['shot.png', ['shot.png']],
    ['@it.jpeg shot.png', ['it.jpeg', 'shot.png']],
    ['write a missing.png', []],
    ['@ @" @"" src/a.ts', []],
  ])('%j: %j', ([text, files]) => {
    expect(mentionedFiles(text, isFile)).toEqual(files);
    if (files.length > 0) expect(mayMention(text)).toBe(true);
  });

  test.for([
    'bad\u001b[31mname.txt',
    'new\nline.txt',
    'a "b" c.txt',
    'turned\u202etxt.exe',
    'tab\there',
    'a\\b c',
    '\u{e0001}tag',
    'C1\u009b2J',
  ])('a name with signs that cannot be typed is attached as the list wrote it: %j', (name) => {
    const written = quotedPath(name);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(written).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(mentionedFiles(`see @${written} please`, (path) => path === name)).toEqual([name]);
  });

  test('a long paste is looked through in no time, and at most twenty are attached', () => {
    const many = Array.from({ length: 50 }, (_, index) => `@f${index}`).join(' ');
    expect(mentionedFiles(many, () => true)).toHaveLength(20);
    expect(
      mentionedFiles(`${'"'.repeat(50_000)}${'\\'.repeat(50_000)}${'@"'.repeat(50_000)}`, isFile),
    ).toEqual([]);
  });
});
