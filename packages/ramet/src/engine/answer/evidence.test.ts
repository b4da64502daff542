import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../../test/fixtures/worktrees.ts';
import { headCommit, noteBefore } from './evidence.ts';

/** A git whose `status` takes longer than the first message of an agent waits for it, as in a large repository. */
function slowStatus(): Record<string, string> {
  const programs = temporaryDirectory();
  const path = process.env.PATH ?? '';
  const script = `#!/bin/sh\ncase " $* " in *" status "*) sleep 1.3;; esac\nPATH='${path}' exec git "$@"\n`;
  writeFiles(programs, { git: script });
  chmodSync(join(programs, 'git'), 0o755);
  return { ...gitVariables(), PATH: `${programs}:${path}` };
}

test('AGENT-6: a commit is expected also where the state of the files takes long to learn', async () => {
  const cwd = temporaryRepository({ 'src/a.txt': 'a\n' });
  const env = slowStatus();
  const before = await noteBefore({ commit: true }, join(cwd, 'src'), env);
  expect(before.commit).toBe(git(cwd, 'rev-parse', 'HEAD'));
  git(cwd, 'commit', '-q', '--allow-empty', '-m', 'new');
  expect(await headCommit(cwd, env)).toEqual({ commit: git(cwd, 'rev-parse', 'HEAD') });
});

test('AGENT-6: no commit yet is no problem, no repository is one', async () => {
  const cwd = temporaryDirectory();
  expect(await headCommit(cwd, gitVariables())).toEqual({
    problem: expect.stringContaining('git cannot say: fatal: not a git repository'),
  });
  git(cwd, 'init', '-q');
  expect(await headCommit(cwd, gitVariables())).toEqual({ commit: null });
});
