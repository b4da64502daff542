/** What a child counts and says about itself outlives its process: killed with a real signal, then resumed. */
import { expect, onTestFinished, test } from 'vitest';
import type { RequestView } from '../../src/emulator/index.ts';
import { REFUSED_OFTEN } from '../../src/engine/agent/notices.ts';
import { call, lastTexts, startAgents, taskOf } from '../fixtures/family.ts';
import { KilledSession } from './killed-session.ts';

const FLAGS = ['--permission-mode', 'bypassPermissions', '--disallowedTools', 'Bash(rm:*)'];
const CALLS_IN_ALL = 5;

function answer({ task, turn }: RequestView) {
  if (!task.startsWith('child'))
    return turn === 0 ? startAgents(['child'], { subagent_type: 'general-purpose' }) : { text: 'All done.' };
  if (turn === CALLS_IN_ALL) return { text: 'Scope: child. Done.' };
  return { ...call('Bash', { command: `rm ${turn}` }), text: `Trying ${turn}.` };
}

test('FORK-4, RES-4: refusals are counted and progress is shown across kill -9, and nothing is told twice', async () => {
  const session = await KilledSession.open(answer);
  onTestFinished(() => session[Symbol.asyncDispose]());
  const killBefore = async (turn: number, ...how: string[]): Promise<void> => {
    session.fault = (view) =>
      view.task.startsWith('child') && view.turn === turn ? { kind: 'stall', at: 'headers' } : undefined;
    const before = session.requests.length;
    void session.start(...how, ...FLAGS);
    await session.until(() => session.requests.slice(before).some(({ outcome }) => outcome === 'fault'));
    await session.kill();
    expect(await session.agents()).toMatchObject([
      {},
      { status: 'interrupted', progress: `Trying ${turn - 1}.` },
    ]);
  };
  await killBefore(2, 'Work.');
  await killBefore(4, '--continue');
  expect(await session.start('--continue', ...FLAGS)).toMatchObject({ code: 0, stdout: 'All done.\n' });
  const [, ...answered] = session.requests.filter(
    (record) => taskOf(record).startsWith('child') && record.outcome === 'answered',
  );
  const told = answered.map((record) => lastTexts(record).join().includes(REFUSED_OFTEN));
  expect(told).toEqual([false, false, true, false, false]);
});
