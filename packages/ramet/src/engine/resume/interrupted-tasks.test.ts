import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Cast,
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { describeEvent } from '../../views/timeline.ts';

const never = (): Promise<never> => new Promise(() => {});
const inBackground = call('Bash', {
  command: 'echo begun; touch begun; exec sleep 300',
  run_in_background: true,
});
const NOTICE = 'Your background commands were interrupted with you. ';

/** Interrupted by a usage limit once the agent with that task has made a second request. */
async function interrupted(
  task: string,
  cast: Cast,
  executor: 'in-process' | 'process',
): Promise<FamilySession> {
  const stop = new AbortController();
  const family = await startFamily({ cast, agents: { executor } });
  const running = family.run('Go.', { signal: stop.signal });
  while (family.requestsOf(task).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  while (!existsSync(join(family.cwd, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort('limit');
  await running;
  return family;
}

function noticesIn(family: FamilySession, task: string): string[] {
  return lastTexts(family.requestsOf(task).at(-1)).filter((text) => text.startsWith(NOTICE));
}

describe('AGENT-5: a background command that an interruption stopped', () => {
  test.each(['in-process', 'process'] as const)(
    'is told to the resumed agent, once (%s)',
    async (executor) => {
      const family = await interrupted(
        'child',
        { 'Go.': [startAgents(['child'])], child: [inBackground, never] },
        executor,
      );
      const again = await family.reopen({ 'Go.': () => ({ text: 'All.' }), child: [inBackground, never] });
      const stop = new AbortController();
      const running = again.run(null, { signal: stop.signal });
      while (again.requestsOf('child').length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
      const [notice = ''] = noticesIn(again, 'child');
      expect(notice).toContain('- bash-1 was stopped (agent end). Its output is in ');
      const path = notice.slice(notice.indexOf('is in ') + 'is in '.length);
      expect(existsSync(path) && readFileSync(path, 'utf8')).toBe('begun\n');
      stop.abort('limit');
      await running;

      const third = await again.reopen({
        'Go.': () => ({ text: 'All.' }),
        child: () => ({ text: 'Scope: mine.' }),
      });
      expect((await third.run(null)).result).toMatchObject({ status: 'done' });
      const said = JSON.stringify(third.requestsOf('child').at(-1)?.request?.messages);
      expect(said.split(NOTICE)).toHaveLength(2);
      expect(third.recordedOf(2).map((event) => describeEvent(event))).toContain(
        'told that background tasks were interrupted: bash-1',
      );
    },
  );

  test('is told to the main agent, also with another prompt', async () => {
    const family = await interrupted('Go.', { 'Go.': [inBackground, never] }, 'in-process');
    const again = await family.reopen({ 'Else?': () => ({ text: 'Else.' }) });
    expect((await again.run('Else?')).result).toMatchObject({ status: 'done' });
    const said = JSON.stringify(again.emulator.requests.at(-1)?.request?.messages);
    expect(said.split(NOTICE)).toHaveLength(2);
  });

  test('is not told to an agent that had finished', async () => {
    const family = await startFamily({ cast: { 'Go.': [inBackground, { text: 'Done.' }] } });
    await family.run('Go.');
    const again = await family.reopen({ 'Else?': () => ({ text: 'Else.' }) });
    expect((await again.run('Else?')).result).toMatchObject({ status: 'done' });
    expect(eventsOf(again.recordedOf(1), 'message.received')).toEqual([]);
  });
});
