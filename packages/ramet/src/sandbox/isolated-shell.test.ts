import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { endUnmarked } from '../system/processes/marked-processes.ts';
import { findProcess } from '../system/processes/process-identity.ts';
import { isolatedStart, proveBounds, runIsolated } from './isolated-shell.ts';

test('WORK-7: what has cleared its environment is found by its fence, and ends alone', async ({ skip }) => {
  const { program } = await workingSandbox(skip);
  const PATH = process.env.PATH ?? '';
  // The shell has the mark: what it starts has it before it is another program.
  const leave = async (own: string, env: Record<string, string>): Promise<number> => {
    const bounds = { shared: [], caches: [], guarded: [], own: [own], made: [] };
    const command = `${'RAMET_AGENT' in env ? '' : 'env -i '}setsid sleep 300 > /dev/null 2>&1 & echo $!`;
    const { stdout } = await runIsolated(program, isolatedStart(bounds, own, command), {
      env: { PATH, ...env },
    });
    const pid = Number(stdout);
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    return pid;
  };
  const isAlive = (pid: number): boolean => findProcess(pid)?.ended === false;
  const [own, other] = [join(temporaryDirectory(), 'a b'), temporaryDirectory()];
  mkdirSync(own);
  const cleared = await leave(own, {});
  const elsewhere = await leave(other, {});
  // Some are just becoming another program: the system shows none of their variables then.
  const marked = await Promise.all(Array.from({ length: 8 }, () => leave(own, { RAMET_AGENT: 'other' })));
  await endUnmarked(own, 'RAMET_AGENT=');
  expect([cleared, elsewhere].map(isAlive)).toEqual([false, true]);
  expect(marked.filter(isAlive)).toEqual(marked);
});

test('WORK-7: a sandbox that cannot start for a moment is tried again before its bounds count as open', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const [own, folder, guarded] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const bounds = { shared: [], caches: [], guarded: [guarded], own: [own], made: [] };
  const env = { PATH: process.env.PATH ?? '' };
  const failing = (times: number): string => {
    const path = join(folder, `bwrap-${times}`);
    const fails = `echo x >> '${path}.tries'; [ $(wc -l < '${path}.tries') -gt ${times} ] && exec '${program}' "$@"`;
    const why = "echo 'bwrap: Cannot find source path /run/gone' >&2; exit 1";
    writeFileSync(path, `#!/bin/bash\n${fails}\n${why}\n`, { mode: 0o755 });
    return path;
  };
  expect(await proveBounds(failing(1), bounds, own, env)).toBe('held');
  expect(await proveBounds(failing(9), bounds, own, env)).toBe('open');
});

test('WORK-7: a command runs although git removes an empty folder of the fence before it begins', async ({
  skip,
}) => {
  const { program } = await workingSandbox(skip);
  const repository = temporaryRepository();
  const git = (...words: string[]): string => runSync('git', words, { cwd: repository });
  const inGit = ['refs/heads/ramet', 'logs/refs/heads/ramet'].map((name) => join(repository, '.git', name));
  const own = temporaryDirectory();
  const bounds = { shared: [], caches: [], guarded: [repository], own: [own], made: inGit };
  const start = isolatedStart(bounds, own, 'echo "ran in $PWD"');
  git('branch', '--create-reflog', 'ramet/other');
  git('branch', '--delete', '--force', 'ramet/other');
  expect(inGit.map((path) => existsSync(path))).toEqual([false, true]);
  const end = await runIsolated(program, start, { env: { PATH: process.env.PATH ?? '' } });
  expect(end).toMatchObject({ status: 0, stdout: `ran in ${own}\n` });
  expect(git('for-each-ref', '--format=%(refname)', 'refs/heads/ramet') + git('fsck')).toBe('');
});
