/** The directories that a script is said to run in, beside those that bash runs it in. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { readExactly } from './read-exactly.ts';
import type { ShellReading } from './shell-reading.ts';

const MOVES = [
  ...[
    'cd a',
    'cd b',
    'cd ..',
    'cd ../b',
    'cd a/b',
    'cd link',
    'cd link/..',
    'cd link/../b',
    'cd -P link',
    'cd -',
  ],
  ...['cd none', 'cd .', 'cd ../..', 'cd -- a', 'pushd a', 'pushd ../b', 'popd', 'pushd link', 'cd ./a/'],
];
const OTHERS = ['true', 'false', 'rmdir a/b', 'mkdir -p none', 'exit', 'cat x', 'OLDPWD=/tmp', 'CDPATH=..'];
const JOINS = [' && ', ' && ', ' || ', '; ', '; ', '\n', ' | ', ' & wait; '];
const WHERE = 'echo @:$PWD';

const piece: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...MOVES) },
  { weight: 3, arbitrary: fc.constant(WHERE) },
  { weight: 1, arbitrary: fc.constantFrom(...OTHERS) },
);
const list = fc
  .array(fc.tuple(piece, fc.constantFrom(...JOINS)), { minLength: 1, maxLength: 5 })
  .map((parts) => `${parts.map(([text, join]) => text + join).join('')}${WHERE}`);
const WRAPS = [
  (inner: string) => inner,
  (inner: string) => `(${inner})`,
  (inner: string) => `{ ${inner}; }`,
  (inner: string) => `! { ${inner}; } > /dev/null`,
  (inner: string) => `if cd a; then ${inner}; else cd b; fi`,
  (inner: string) => `if ! cd none; then cd a; ${inner}; fi`,
  (inner: string) => `case x in a) cd a;; x) ${inner};; esac`,
  (inner: string) => `for i in 1 2; do ${inner}; done`,
  (inner: string) => `for i in 1 2; do (${inner}); done`,
];
const wrapped = fc.tuple(list, fc.constantFrom(...WRAPS)).map(([inner, wrap]) => wrap(inner));
const script = fc
  .array(fc.tuple(wrapped, fc.constantFrom(' && ', ' || ', '; ', '\n')), { minLength: 1, maxLength: 2 })
  .map((parts) => `${parts.map(([text, join]) => text + join).join('')}${WHERE}`)
  .map((text) => {
    let at = 0;
    return text.replace(/@/g, () => `w${at++}`);
  });

/** So deep that no script here climbs out of it. */
function workingDirectory(): string {
  const base = realpathSync(temporaryDirectory());
  const cwd = join(base, ...Array.from({ length: 20 }, () => 'd'));
  mkdirSync(join(cwd, 'a/b'), { recursive: true });
  for (const name of ['b', 'a/a']) mkdirSync(join(cwd, name));
  symlinkSync('../b', join(cwd, 'a/link'));
  symlinkSync('a/b', join(cwd, 'link'));
  return cwd;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

interface Told {
  known: number;
  wrong: string[];
}

/** What bash printed, held against what was read. */
function compare(printed: readonly string[], { commands }: ShellReading): Told {
  const told: Told = { known: 0, wrong: [] };
  for (const line of printed) {
    const [mark = '', path = ''] = line.split(':');
    const found = commands.filter(({ words }) => words[1]?.source.startsWith(`${mark}:`));
    const directories = found.length === 1 ? found[0]?.directories : undefined;
    if (directories === null) continue;
    told.known++;
    if (!directories?.some((each) => real(each) === real(path)))
      told.wrong.push(`${line} not in ${directories}`);
  }
  return told;
}

test('TYPE-2: bash runs no command of a random script in a directory that was not foreseen', () => {
  const template = workingDirectory();
  let [runs, lines, known] = [0, 0, 0];
  fc.assert(
    fc.property(script, (text) => {
      const cwd = `${template}-${runs++}`;
      cpSync(template, cwd, { recursive: true, verbatimSymlinks: true });
      const env = { PATH: process.env.PATH, HOME: cwd };
      const reading = readExactly(text, [cwd]);
      if ('unread' in reading) return;
      const { stdout } = spawnSync('bash', ['-c', text], { cwd, env, encoding: 'utf8', timeout: 5_000 });
      const printed = stdout.split('\n').filter((line) => /^w\d+:/.test(line));
      const told = compare(printed, reading);
      expect(told.wrong, text).toEqual([]);
      lines += printed.length;
      known += told.known;
    }),
    { numRuns: 80 },
  );
  expect(known / lines).toBeGreaterThan(0.4);
});
