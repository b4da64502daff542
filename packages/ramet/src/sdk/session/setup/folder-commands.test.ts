import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { runStatusCommand, statusLineSetting } from '../../calls/status-command.ts';
import { changeTrust } from '../../calls/trust.ts';

test('SEC-1: the status line of a folder runs with trusted scripts only, also later in a session', async () => {
  const base = temporaryDirectory();
  const cwd = join(base, 'work');
  const env = { PATH: process.env.PATH, HOME: join(base, 'home'), RAMET_HOME: join(base, 'ramet') };
  mkdirSync(cwd);
  makeRepository(cwd, {
    '.ramet/settings.json': JSON.stringify({ statusLine: { command: 'sh line.sh' } }),
    'line.sh': 'echo fine',
  });
  changeTrust('trust', { cwd, env });
  const setting = await statusLineSetting({ cwd, env });
  if (setting === null) throw new Error('the folder is trusted');
  const run = (): ReturnType<typeof runStatusCommand> =>
    runStatusCommand({
      ...{ ...setting, cwd, env, input: '{}', size: { columns: 80, rows: 24 } },
      signal: new AbortController().signal,
    });
  expect(await run()).toEqual({ lines: ['fine'] });
  writeFiles(cwd, { 'line.sh': `touch ${join(base, 'escaped')}` });
  expect(await run()).toEqual({
    problem: 'line.sh is not what you trusted (ramet trust --show shows the difference)',
  });
  expect(existsSync(join(base, 'escaped'))).toBe(false);
});
