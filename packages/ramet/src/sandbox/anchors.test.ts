import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { isolatedStart, proveBounds, runIsolated } from './isolated-shell.ts';

test('WORK-7: no folder above a checkout, a home or a worktree in a temporary directory can be renamed', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const shared = temporaryDirectory();
  const inside = (name: string): string => join(shared, name);
  const [repository, home, own] = [inside('a/b/repository'), inside('c/home'), inside('c/d/worktree')];
  for (const folder of [repository, home, own]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(repository, 'file'), 'as it was\n');
  const bounds = { shared: [shared], caches: [], guarded: [repository, home], own: [own], made: [] };
  const env = { PATH: process.env.PATH ?? '' };
  // A program that moves files copies them where they cannot be renamed.
  const rename = `for (const name of 'a a/b a/b/repository c c/home c/d c/d/worktree'.split(' '))
try { require('node:fs').renameSync(name, 'moved'); console.log('moved ' + name); } catch {}`;
  const command = `cd "$0"; "$1" -e "$2"
echo more > a/b/repository/file; mkdir new && mv new newer && echo here > a/note && ls newer a/note; find . -name file`;
  expect(await proveBounds(program, bounds, own, env)).toBe('held');
  const first = await runIsolated(
    program,
    isolatedStart(bounds, own, command, shared, process.execPath, rename),
    {
      env,
    },
  );
  expect(first.stdout).toBe('a/note\n\nnewer:\n./a/b/repository/file\n');
  // What a first command moved away would be open to a second.
  const reach = 'echo evil >> "$0/moved/b/repository/file"; cat "$1"';
  const second = isolatedStart(bounds, own, reach, shared, join(repository, 'file'));
  expect((await runIsolated(program, second, { env })).stdout).toBe('as it was\n');
});
