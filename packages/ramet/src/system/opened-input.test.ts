import { spawnSync } from 'node:child_process';
import { readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { openedInput } from './opened-input.ts';

const text = `${'é'.repeat(100_000)}\n`;

test('an input is read from its beginning, by its name too, and has no file in any folder', () => {
  const place = temporaryDirectory();
  using input = openedInput(text, [place]);
  expect(readdirSync(place)).toEqual([]);
  for (const command of ['cat /dev/stdin', 'cat']) {
    using own = openedInput(text, [place]);
    const { stdout } = spawnSync('sh', ['-c', command], {
      stdio: [own?.descriptor ?? 'ignore', 'pipe', 'pipe'],
    });
    expect(stdout.toString()).toBe(text);
    expect(own?.isAsWritten()).toBe(true);
  }
  expect(input?.isAsWritten()).toBe(true);
});

test('an input that was written to is not as it was, also where its size and the clock are', () => {
  using input = openedInput(text);
  writeSync(input?.descriptor ?? -1, Buffer.from('x'), 0, 1, 0);
  expect(input?.isAsWritten()).toBe(false);
});

test('an input that no disk has room for leaves no file and is none', () => {
  const place = temporaryDirectory();
  const code = `const { openedInput } = await import(${JSON.stringify(import.meta.resolve('./opened-input.ts'))});
    console.log(openedInput('x'.repeat(100_000), [${JSON.stringify(place)}]), openedInput('x')?.isAsWritten());`;
  const limited = 'ulimit -f 8 && exec "$0" --input-type=module -e "$1"';
  const { stdout } = spawnSync('sh', ['-c', limited, process.execPath, code], { encoding: 'utf8' });
  expect(stdout).toBe('null true\n');
  expect(readdirSync(place)).toEqual([]);
});

test('where one folder cannot be written the next one is taken, and without any there is no input', () => {
  const [place, missing] = [temporaryDirectory(), join(temporaryDirectory(), 'missing')];
  using input = openedInput(text, [missing, place]);
  expect(input?.isAsWritten()).toBe(true);
  expect(openedInput(text, [missing])).toBeNull();
  expect(readdirSync(place)).toEqual([]);
});
