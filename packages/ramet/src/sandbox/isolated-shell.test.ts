import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { endUnmarked } from '../system/processes/marked-processes.ts';
import { findProcess } from '../system/processes/process-identity.ts';
import { isolatedStart, runIsolated } from './isolated-shell.ts';

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
  const others = [await leave(own, { RAMET_AGENT: 'other' }), await leave(other, {})];
  expect([cleared, ...others].map(isAlive)).toEqual([true, true, true]);
  await endUnmarked(own, 'RAMET_AGENT=');
  expect([cleared, ...others].map(isAlive)).toEqual([false, true, true]);
});
