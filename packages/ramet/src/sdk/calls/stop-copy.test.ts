import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { findPlace } from '../place.ts';
import { stop } from './stop.ts';

const SESSIONS = join(import.meta.dirname, '../../journal/sessions.ts');

test('LOG-1: in a copy of the home, stop is refused and the writer of the original lives', async () => {
  const [cwd, home, copy] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const { project } = findPlace({ cwd, env: { RAMET_HOME: home } });
  const program = `import(${JSON.stringify(SESSIONS)}).then(async ({ createSession }) => {
    const journal = await createSession({ project: ${JSON.stringify(project)}, cwd: ${JSON.stringify(cwd)} });
    await journal.commit('written');
    console.log(journal.session);
    setInterval(() => {}, 1000);
  })`;
  const writer = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(writer, 'exit');
  onTestFinished(async () => {
    writer.kill('SIGKILL');
    await exited;
  });
  const [line] = await once(writer.stdout, 'data');
  const session = String(line).trim();
  cpSync(home, copy, { recursive: true });
  const env = { RAMET_HOME: copy };
  const refusal = `session ${session} is a copy of one that process ${writer.pid} is writing`;
  await expect(stop(session, { cwd, env })).rejects.toThrow(refusal);
  await expect(stop(`${session}.2`, { cwd, env })).rejects.toThrow();
  writer.kill('SIGUSR2');
  // The first signal that it got is the one that ends it.
  expect(await exited).toEqual([null, 'SIGUSR2']);
});
