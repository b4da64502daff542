import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../../../../test/fixtures/run-sync.ts';
import { test } from '../../../../../test/fixtures/temporary-directory.ts';
import { builtInTools, detailsOfCall, findTool } from '../../../../tools/registry.ts';
import { textStyle } from '../../screen/text-style.ts';
import { wholeChange } from './whole-change.ts';

function shown(cwd: string, name: string, input: unknown, columns = 40, colours = false): string[] {
  const tool = findTool(builtInTools({ fork: true, types: [] }), name);
  const details = tool && detailsOfCall(tool, input);
  return wholeChange({ details, cwd }, columns, textStyle(colours));
}

describe('RES-3, UI-3: a user who is asked about a change sees all of it', () => {
  test('every line of a long Write', ({ directory }) => {
    const lines = Array.from({ length: 400 }, (_, index) => `line ${index}`);
    const content = `${lines.join('\n')}\n`;
    expect(shown(directory, 'Write', { file_path: 'new.txt', content })).toEqual(
      lines.map((line, index) => `${String(index + 1).padStart(3)} + ${line}`),
    );
  });

  test('what a line holds behind many blanks, in rows that fit', ({ directory }) => {
    const content = `short${' '.repeat(78)}HIDDEN-TAIL\u001b[2K`;
    const rows = shown(directory, 'Write', { file_path: 'new.txt', content });
    expect(rows.every((row) => row.length <= 40)).toBe(true);
    expect(rows[0]?.startsWith('1 + short')).toBe(true);
    expect(rows.slice(1).every((row) => row.startsWith('  +…'))).toBe(true);
    expect(rows.map((row) => row.slice(4)).join('')).toBe(`short${' '.repeat(78)}HIDDEN-TAIL\\x1b[2K`);
  });

  test('what disappears when a Write replaces a file', ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\r\ntwo\r\nthree\r\n');
    const input = { file_path: 'a.txt', content: 'one\n2\n' };
    expect(shown(directory, 'Write', input)).toEqual(['1   one', '2 - two', '3 - three', '2 + 2']);
  });

  test('every place of a replacement, with the lines around it', ({ directory }) => {
    const keep = Array.from({ length: 8 }, (_, index) => `keep ${index}`);
    writeFileSync(join(directory, 'a.txt'), ['x = 1', ...keep, 'x = 1; y', ''].join('\n'));
    const input = { file_path: 'a.txt', old_string: 'x = 1', new_string: 'x = 2', replace_all: true };
    expect(shown(directory, 'Edit', input)).toEqual([
      ...[' 1 - x = 1', ' 1 + x = 2', ' 2   keep 0', ' 3   keep 1', ' 4   keep 2'],
      '   ⋮',
      ...[' 7   keep 5', ' 8   keep 6', ' 9   keep 7', '10 - x = 1; y', '10 + x = 2; y'],
    ]);
  });

  test('which words of a line change, also where the line is wrapped', ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'const limit = readTheLimit(first, second);\n');
    const input = { file_path: 'a.txt', old_string: 'second', new_string: 'third, fourth' };
    const rows = shown(directory, 'Edit', input, 36, true).map((row) => row.replaceAll('\u001b', '^'));
    expect(rows).toEqual([
      '^[2m1 ^[22m^[31m- const limit = readTheLimit(first^[39m',
      '^[2m  ^[22m^[31m-…, ^[7msecond^[27m);^[39m',
      '^[2m1 ^[22m^[32m+ const limit = readTheLimit(first^[39m',
      '^[2m  ^[22m^[32m+…, ^[7mthird, fourth^[27m);^[39m',
    ]);
  });

  test('no numbers on a very narrow screen', ({ directory }) => {
    expect(shown(directory, 'Write', { file_path: 'new.txt', content: 'x\n' }, 29)).toEqual(['+ x']);
  });

  test('that a part cannot be shown, and why', ({ directory }) => {
    writeFileSync(join(directory, 'image'), Buffer.from([0, 1, 2]));
    runSync('mkfifo', [join(directory, 'pipe')]);
    const write = (file_path: string) => shown(directory, 'Write', { file_path, content: 'x' }, 80);
    expect(write('image')).toEqual([
      'what the file holds now is not shown: it is no text (3 bytes)',
      '1 + x',
    ]);
    expect(write('pipe')).toEqual(['what the file holds now is not shown: it is no regular file', '1 + x']);
  });

  test('that nothing changes but the end of the file', ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one');
    expect(shown(directory, 'Write', { file_path: 'a.txt', content: 'one\n' })).toEqual([
      '(no line changes)',
    ]);
  });

  test('the two texts of an Edit when the file does not hold the first', ({ directory }) => {
    const input = { file_path: 'a.txt', old_string: 'a', new_string: 'b' };
    expect(shown(directory, 'Edit', input)).toEqual(['- a', '+ b']);
  });

  test('nothing for a call that changes no file by itself', ({ directory }) => {
    expect(shown(directory, 'Bash', { command: 'ls' })).toEqual([]);
    expect(shown(directory, 'Write', null)).toEqual([]);
  });
});
