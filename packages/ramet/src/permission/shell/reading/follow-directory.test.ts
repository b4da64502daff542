/** The directories that a script is said to run in, beside those that bash runs it in. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { readExactly } from './read-exactly.ts';
import type { ShellReading } from './shell-reading.ts';
import { understandScript } from './understand-script.ts';

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
  ...['cd none/..', 'cd link/../none/../b', 'cd -P -L link', 'cd a > none/x', 'cd -P -'],
];
const OTHERS = [
  ...['true', 'false', 'rmdir a/b', 'mkdir -p none', 'exit', 'cat x', 'OLDPWD=/tmp', 'CDPATH=..'],
  ...['[[ $(cd a) ]]', 'n=$((1/0))', 'UID=1', 'rm -f link', 'mv ../a ../c', 'break'],
];
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
  (inner: string) => `if false; then cd b; elif ${inner}; then cd a; fi`,
  (inner: string) => `until ${inner}; do break; done`,
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

function bareVariables(cwd: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: cwd };
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
function compare(printed: readonly string[], { commands }: Pick<ShellReading, 'commands'>): Told {
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

/** What bash printed where it was not foreseen. */
async function unforeseen(text: string): Promise<string[]> {
  const cwd = workingDirectory();
  let at = 0;
  const script = text.replace(/@/g, () => `w${at++}`);
  const { commands, unread } = await understandScript(script, { directories: [cwd] });
  expect(unread).toEqual([]);
  const read = { commands: commands.map(({ layers }) => layers.at(-1) ?? layers[0]) };
  const { stdout } = spawnSync('bash', ['-c', script], { cwd, env: bareVariables(cwd), encoding: 'utf8' });
  const printed = stdout.split('\n').filter((line) => /^w\d+:/.test(line));
  expect(printed.length).toBeGreaterThan(0);
  return compare(printed, read).wrong;
}

test.each([
  // A name that `..` drops must be there.
  'if ! cd none; then cd a; cd a && cd link/.. && echo; fi\ncd -; echo @:$PWD',
  'if cd a; then cd a && cd a; cd link/.. || echo @:$PWD; fi',
  'cd none/../a; echo @:$PWD',
  'cd a; cd -P a/link/..; echo @:$PWD',
  'cd link/../none/../b; echo @:$PWD',
  // The last of two options holds, and pushd and popd have none of them.
  'cd -P -L link; cd ..; echo @:$PWD',
  'pushd -P a; echo @:$PWD',
  'pushd a; popd -L; echo @:$PWD',
  // Nothing runs where a redirect fails.
  'cd a > none/x; echo @:$PWD',
  'cd a; cd ..; cd a/b; cd - < none; echo @:$PWD',
  // What a test runs moves nothing.
  '[[ $(cd a) = x ]]; echo @:$PWD',
  // An error breaks a line off.
  'cd a && x=$((1/0)); cd b\necho @:$PWD',
  'cd a && UID=5; cd b\necho @:$PWD',
  'readonly x=1\ncd a && x=5; cd b\necho @:$PWD',
  '{ cd a\n x=$((1/0)); cd b; }\necho @:$PWD',
  'for i in 1; do cd a && { break; exit; }; done; echo @:$PWD',
  // Commands that move without a name that says so.
  'x=cd; $x a; echo @:$PWD',
  'x=cd; command $x a; echo @:$PWD',
  'trap "cd b" DEBUG; echo @:$PWD',
  'mapfile -C "cd a;" -c 1 <<< x; echo @:$PWD',
  'set -o posix; alias move="cd a"\nmove; echo @:$PWD',
  'cd a; mv ../a ../c; cd b; echo @:$PWD',
  'cd a; mv -t ../b ../a; cd b; echo @:$PWD',
  'cd a; (cd ..; mv a c); cd b; echo @:$PWD',
  // Variables that cd looks at, set by a builtin.
  'printf -v CDPATH a; cd b; echo @:$PWD',
  'builtin printf -vCDPATH a; cd b; echo @:$PWD',
  'x=CDPATH; read $x <<< a; cd b; echo @:$PWD',
  'readarray -t CDPATH <<< a; cd b; echo @:$PWD',
  // A directory goes away before a move that stands before it, or while the shell is in it.
  'cd link && rm ../../link; cd ..; echo @:$PWD',
  '{ cd a/b; echo @:$PWD; } <<< $(rmdir a/b)',
  'cat <<E; cd a/b; echo @:$PWD\n$(rmdir a/b)\nE\n',
  'rmdir a/b; ln -s ../b a/b; cd a/b/../a; echo @:$PWD',
  // A script inside another.
  "rmdir a/b; bash -c 'cd a/b; echo @:$PWD'",
  "for i in 1 2; do bash -c 'cd a/b; echo @:$PWD; rmdir ../b'; done",
  "CDPATH=a bash -c 'cd b; echo @:$PWD'",
  "export CDPATH=a; bash -c 'cd b; echo @:$PWD'",
  "CDPATH=a; eval 'cd b; echo @:$PWD'",
  "pushd a; eval 'popd; echo @:$PWD'",
  "cd link; PWD=/ bash -c 'cd ..; echo @:$PWD'",
])('TYPE-2: bash is in no directory that was not foreseen: %s', async (text) => {
  expect(await unforeseen(text)).toEqual([]);
});

test.each([
  ['cd a; rmdir b; cd ..; echo @', ['', '/a']],
  ['cd a && npm test; cd ../b && echo @', ['/b']],
  ['cd a; echo x | tee y; cd b; echo @', ['/a/b', '/a']],
  ['cd a; npm test | tail -3; echo @', ['/a']],
  ['(cd a; npm test) | tail -3; cd b; echo @', ['/b', '']],
  ['n=$((1+1)); cd a; echo @', ['/a']],
  ['cd a; mv x .; mv y ..; echo @', ['/a']],
  ['cd a; "$root/bin/x"; ./run $x; command -v "$x"; echo @', ['/a']],
  ['cd a/../b; echo @', ['/b']],
  ['trap "rm -f x" EXIT; cd b; echo @', ['/b', '']],
])('TYPE-2: where ordinary moves lead stays known: %s', (text, ends) => {
  const cwd = workingDirectory();
  const reading = readExactly(text, [cwd]);
  const directories = 'unread' in reading ? null : reading.commands.at(-1)?.directories;
  expect(directories?.toSorted()).toEqual(ends.map((end) => `${cwd}${end}`).toSorted());
});

test('TYPE-2: bash runs no command of a random script in a directory that was not foreseen', () => {
  const template = workingDirectory();
  let [runs, lines, known] = [0, 0, 0];
  fc.assert(
    fc.property(script, (text) => {
      const cwd = `${template}-${runs++}`;
      cpSync(template, cwd, { recursive: true, verbatimSymlinks: true });
      const reading = readExactly(text, [cwd]);
      if ('unread' in reading) return;
      const { stdout } = spawnSync('bash', ['-c', text], {
        ...{ cwd, env: bareVariables(cwd), encoding: 'utf8' as const },
      });
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
