import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { trust } from '../system/trust.ts';
import { checkProgramsBy } from './folder-guard.ts';
import { runGit } from './run-git.ts';
import { writtenBy } from './trusted-programs.ts';

test('SEC-1: where nobody has said how files are checked, no program of a trusted folder runs', async () => {
  const before = checkProgramsBy(null);
  onTestFinished(() => void checkProgramsBy(before));
  const root = temporaryRepository({ 'a.txt': 'one\n', '.gitattributes': '*.txt filter=odd\n' });
  const base = temporaryDirectory();
  const mark = join(base, 'ran');
  const env = { PATH: process.env.PATH ?? '', HOME: base, RAMET_HOME: join(base, 'ramet') };
  appendFileSync(join(root, '.git/config'), `[filter "odd"]\n\tclean = "touch ${mark}; cat"\n`);
  trust({ home: env.RAMET_HOME, root });
  writeFileSync(join(root, 'a.txt'), 'two\n');
  const add = () => runGit(['add', 'a.txt'], { cwd: root, env });
  await expect(add()).rejects.toMatchObject({ code: 'folder_not_trusted' });
  expect(existsSync(mark)).toBe(false);
  checkProgramsBy(async () => new Map());
  expect((await add()).code).toBe(0);
  expect(existsSync(mark)).toBe(true);
});

const COMMIT = 'a'.repeat(40);

test.for([
  [['status'], null],
  [['read-tree', COMMIT], null],
  [['-c', 'x=y', 'read-tree', '--reset', '-u', COMMIT], [COMMIT]],
  [['restore', `--source=${COMMIT}`, '--staged', '--worktree'], [COMMIT]],
  [['merge', '--ff-only', '-q', COMMIT], [COMMIT]],
  [['checkout-index', '--all'], ['index']],
  [['checkout', 'main'], []],
] as const)('%j writes the files of %j', ([args, commits]) => {
  const command = args.find((word) => !word.startsWith('-') && word !== 'x=y') ?? '';
  expect(writtenBy(command, args)).toEqual(commits);
});
