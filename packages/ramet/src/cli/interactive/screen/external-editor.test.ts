import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/fixtures/temporary-directory.ts';
import { editText } from './external-editor.ts';

function editing(directory: string, script: string): Parameters<typeof editText>[1] {
  const editor = join(directory, 'my editor');
  writeFileSync(editor, `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o755);
  return { cwd: directory, env: { PATH: process.env.PATH, EDITOR: `'${editor}' --wait` } };
}

describe('UI-3: writing a prompt in an editor', () => {
  test('gives the text back as it was saved, without line ends at its end', async ({ directory }) => {
    const options = editing(directory, 'printf "\\nand more\\n\\n" >> "$2"');
    expect(await editText('draft', options)).toEqual({ text: 'draft\nand more' });
  });

  test.for<[script: string, problem: RegExp]>([
    ['echo lost > "$2"; exit 1', /ended with exit code 1: your text stays as it was/],
    ['kill -9 $$', /ended with .*: your text stays/],
    ['rm "$2"', /your text stays/],
  ])('an editor that fails changes nothing: %s', async ([script, problem], { directory }) => {
    expect(await editText('draft', editing(directory, script))).toEqual({
      problem: expect.stringMatching(problem),
    });
  });

  test('an editor that is missing is named; VISUAL goes first; no file is left', async ({ directory }) => {
    const env = { PATH: process.env.PATH, VISUAL: 'no-such-editor', EDITOR: 'true', TMPDIR: directory };
    expect(await editText('draft', { cwd: directory, env })).toEqual({
      problem: 'no-such-editor ended with exit code 127: your text stays as it was',
    });
    expect(readdirSync(directory)).toEqual([]);
  });
});
