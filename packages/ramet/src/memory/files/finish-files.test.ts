/** A change that moves lines between files is killed at each of its steps, a person edits before it is finished, and no line may be lost. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { momentsOf, SAMPLE_TIMEOUT_MS } from '../../../test/fixtures/kill-sample.ts';
import { seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { MemoryStore } from './memory-store.ts';

const moved = Array.from({ length: 9 }, (_, n) => `- Line ${n} of a person has ${n * 7} words.`);
const BEFORE: Readonly<Record<string, string>> = {
  'MEMORY.md': `## Notes of the user\n- Mine.\n\n## one\n- stays\n${moved.slice(0, 3).join('\n')}\n\n## two\n- stays too\n${moved.slice(3, 6).join('\n')}\n`,
  'old.md': '## two\n- was there\n- for long\n- and more\n',
  'gone.md': `## three\n${moved.slice(6).join('\n')}\n`,
};
const AFTER: Readonly<Record<string, string | null>> = {
  'MEMORY.md':
    '## Notes of the user\n- Mine.\n\n## one\n- stays\n- more in one.md\n\n## two\n- stays too\n- more in old.md\n',
  'old.md': `${BEFORE['old.md']}${moved.slice(3, 6).join('\n')}\n`,
  'one.md': `## one\n${moved.slice(0, 3).join('\n')}\n`,
  'part/three.md': `## three\n${moved.slice(6).join('\n')}\n`,
  'gone.md': null,
};
const LINES = [...moved, '- Mine.', '- stays', '- stays too', '- was there', '- for long', '- and more'];

/** What a process that is killed leaves after each step: a copy is as good as a kill, and quicker. */
const PROGRAM = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import { MemoryStore } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'memory-store.ts')).href)};
  const [root, killed, before, after] = process.argv.slice(1);
  using store = new MemoryStore(root);
  const source = { session: null, agent: null, turn: null };
  const put = (kind, files) => store.change({ ...source, kind }, () => new Map(Object.entries(JSON.parse(files))));
  await put('note', before);
  let steps = 0;
  const copy = () => fs.cpSync(root, killed + '/' + ++steps, { recursive: true });
  const { linkSync, renameSync, rmSync, fsyncSync } = fs;
  for (const [name, call] of Object.entries({ linkSync, renameSync, rmSync, fsyncSync }))
    fs[name] = (...args) => {
      const result = call(...args);
      copy();
      return result;
    };
  syncBuiltinESMExports();
  await put('dream', after);
`;

type Edit = (path: string, line: string) => void;

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const EDITS: Readonly<Record<string, Edit>> = {
  begin: (path, line) => writeFileSync(path, `${line}\n`),
  'begin with a heading': (path, line) => writeFileSync(path, `## Notes of the user\n${line}\n`),
  'begin with code': (path, line) => writeFileSync(path, `${line}\n\`\`\`\nnever ended\n`),
  add: (path, line) => writeFileSync(path, `${textOf(path)}${line}\n`),
  'add in front': (path, line) => writeFileSync(path, `${line}\n${textOf(path)}`),
  empty: (path) => writeFileSync(path, ''),
  remove: (path) => rmSync(path, { force: true }),
  'make a folder': (path, line) => {
    rmSync(path, { force: true });
    mkdirSync(path);
    writeFileSync(join(path, 'own.md'), `${line}\n`);
  },
};
const TAKES: readonly string[] = [
  'begin',
  'begin with a heading',
  'begin with code',
  'empty',
  'remove',
  'make a folder',
];

/** A folder for each step. */
async function killedAtEachStep(order: readonly string[]): Promise<string[]> {
  const [root, killed] = [temporaryDirectory(), temporaryDirectory()];
  const after = JSON.stringify(Object.fromEntries(order.map((path) => [path, AFTER[path]])));
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PROGRAM, root, killed];
  await promisify(execFile)(process.execPath, [...args, JSON.stringify(BEFORE), after]);
  return readdirSync(killed).map((step) => join(killed, step));
}

function linesIn(root: string): Set<string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name.endsWith('.md'),
  );
  return new Set(files.flatMap(({ parentPath, name }) => textOf(join(parentPath, name)).split('\n')));
}

test.for([
  ['MEMORY.md', 'old.md', 'one.md', 'part/three.md', 'gone.md'],
  ['gone.md', 'part/three.md', 'one.md', 'old.md', 'MEMORY.md'],
])(
  'MEM-1: a killed change loses no line, whatever a person does to its files before it is finished: %j',
  { timeout: SAMPLE_TIMEOUT_MS },
  async (order) => {
    const killed = await killedAtEachStep(order);
    expect(killed.length).toBeGreaterThan(15);
    const cases = killed.flatMap((folder) =>
      order.flatMap((path) => Object.keys(EDITS).map((what) => ({ folder, path, what }))),
    );
    const chance = seededRandom(order.indexOf('MEMORY.md'));
    const wanted = momentsOf({ sample: 100, all: cases.length });
    const problems = cases.filter(() => chance.below(cases.length) < wanted).flatMap(lostBy);
    expect(problems).toEqual([]);
  },
);

interface Case {
  readonly folder: string;
  readonly path: string;
  readonly what: string;
}

function lostBy({ folder, path, what }: Case): string[] {
  const root = temporaryDirectory();
  cpSync(folder, root, { recursive: true });
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  // What a person removes is no loss.
  const taken = TAKES.includes(what) ? new Set(textOf(file).split('\n')) : new Set();
  const own = '- Written by a person meanwhile.';
  EDITS[what]?.(file, own);
  const mayGo = what === 'empty' || what === 'remove';
  using store = new MemoryStore(root);
  store.files();
  const left = linesIn(root);
  const lost = [...LINES, ...(mayGo ? [] : [own])].filter((line) => !left.has(line) && !taken.has(line));
  const waiting = readdirSync(root).filter((name) => name.startsWith('.'));
  // A second time nothing is left to do.
  using again = new MemoryStore(root);
  again.files();
  const isSame = linesIn(root).symmetricDifference(left).size === 0;
  return [...lost, ...waiting, ...(isSame ? [] : ['not the same again'])].map(
    (one) => `step ${basename(folder)}, ${what} ${path}: ${one}`,
  );
}

test('MEM-1: a killed change that cannot be completed waits, says why, and is completed later', async () => {
  const root = temporaryDirectory();
  using store = new MemoryStore(root);
  const by = { session: null, agent: null, turn: null };
  await store.change({ ...by, kind: 'note' }, () => new Map([['MEMORY.md', '- stays\n- goes\n']]));
  const files = [
    { path: 'MEMORY.md', before: '- stays\n- goes\n', after: '- stays\n' },
    { path: 'part/two.md', before: null, after: '- goes\n' },
  ];
  writeFileSync(join(root, 'MEMORY.md'), '- stays\n');
  const change = { ...by, id: 2, at: 5, kind: 'dream', undoes: null, files };
  writeFileSync(join(root, '.ramet-change-2.json'), JSON.stringify(change));
  writeFileSync(join(root, 'part'), 'in the way');
  const said = `memory waits for a change of ${join(root, 'part/two.md')}, whose process was killed`;
  expect(() => store.changes()).toThrow(said);
  expect(() => store.files()).toThrow(said);
  rmSync(join(root, 'part'));
  expect(store.files()).toEqual(['MEMORY.md', 'part/two.md']);
  expect(store.changes().map(({ kind }) => kind)).toEqual(['note', 'dream']);
});
