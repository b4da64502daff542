import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { madeTask, startedRun } from '../../../test/fixtures/operator-run.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { createSession } from '../../journal/sessions.ts';
import { listTeams } from '../calls/teams.ts';
import { findPlace, operatorDirectory, type Place } from '../place.ts';
import { openSession } from '../session/session.ts';
import { operateTasks } from './operate.ts';
import { refuseSecondRun } from './recorded-runs.ts';

function madePlace(): Place {
  return findPlace({ cwd: temporaryDirectory(), env: { RAMET_HOME: join(temporaryDirectory(), 'ramet') } });
}

async function runIn(
  { project, cwd }: Place,
  { isOver, isLive = false }: { isOver: boolean; isLive?: boolean },
): Promise<{ session: string; close(): Promise<void> }> {
  const journal = await createSession({ project, cwd });
  const { session } = journal;
  mkdirSync(operatorDirectory({ project, session }), { recursive: true });
  journal.append(null, startedRun([madeTask('T1')]));
  if (isOver) journal.append(null, { type: 'operator.changed', status: 'ended', cause: null, message: null });
  await journal.commit('written');
  if (!isLive) await journal.close();
  return { session, close: () => journal.close() };
}

describe('OP-2: a file that is run a second time', () => {
  test('is refused while its run is not over, with the command that resumes it', async () => {
    const place = madePlace();
    expect(() => refuseSecondRun('tasks.md', place)).not.toThrow();
    const { session } = await runIn(place, { isOver: false });
    expect(() => refuseSecondRun('./tasks.md', place)).toThrow(
      `./tasks.md has a run that is not over: resume it with ramet operate --resume ${session}; to start another one, add --again (in the library, again: true)`,
    );
    expect(() => refuseSecondRun('other.md', place)).not.toThrow();
    symlinkSync('tasks.md', join(place.cwd, 'link.md'));
    expect(() => refuseSecondRun('link.md', place)).toThrow(/has a run that is not over/);
  });

  test('is refused while another process runs it, and not once its run has ended', async () => {
    const place = madePlace();
    const { session, close } = await runIn(place, { isOver: false, isLive: true });
    expect(() => refuseSecondRun('tasks.md', place)).toThrow(
      `tasks.md runs already, in session ${session}: see ramet operate status --session ${session}; to start another one, add --again (in the library, again: true)`,
    );
    await close();
    const ended = madePlace();
    await runIn(ended, { isOver: true });
    expect(() => refuseSecondRun('tasks.md', ended)).not.toThrow();
  });

  test('is refused in the library too, unless it says again', async () => {
    const cwd = temporaryRepository({ 'README.md': '#\n' });
    const home = temporaryDirectory();
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      RAMET_HOME: join(home, 'ramet'),
      ANTHROPIC_API_KEY: 'k',
    };
    const { session } = await runIn(findPlace({ cwd, env }), { isOver: false });
    await using own = await openSession({ cwd, env });
    await expect(own.operate({ file: 'tasks.md' })).rejects.toThrow(
      `tasks.md has a run that is not over: resume it with ramet operate --resume ${session}`,
    );
    const again = operateTasks('tasks.md', { cwd, env, isolation: 'team' });
    await expect(again).rejects.toThrow(/has a run that is not over/);
    expect(listTeams({ cwd, env })).toEqual([]);
    // There is no such file: that is found out only by one that may start.
    await expect(own.operate({ file: 'tasks.md', again: true })).rejects.toThrow(/tasks\.md is not there/);
  });
});
