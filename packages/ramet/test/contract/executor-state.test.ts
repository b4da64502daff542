/** What an agent knows, counts and says of itself is its own, wherever it runs; the root's stays as it is. */
import { describe, expect, test } from 'vitest';
import { REFUSED_OFTEN } from '../../src/engine/notices.ts';
import { call, eventsOf, lastTexts, startAgents } from '../fixtures/family.ts';
import { EXECUTORS_UNDER_TEST, startHosted } from './executor-scenes.ts';

const FRESH = { subagent_type: 'general-purpose' };
const REPORT = { text: 'Scope: child. Done.' };

describe.each(EXECUTORS_UNDER_TEST)('the state of an agent hosted %s', (executor) => {
  test('FORK-4: counts refusals from where its parent was, and its own forks do from where it is', async () => {
    const rm = call('Bash', { command: 'rm x' });
    const family = await startHosted(executor, {
      permissions: { deny: ['Bash(rm:*)'] },
      cast: {
        'Go.': [rm, startAgents(['fork']), startAgents(['child'], FRESH), rm, { text: 'ok' }],
        fork: [rm, rm, rm, REPORT],
        child: [rm, rm, startAgents(['inner']), rm, REPORT],
        inner: [rm, REPORT],
      },
    });
    await family.run('Go.');
    const told = (task: string) =>
      family.requestsOf(task).map((record) => lastTexts(record).join().includes(REFUSED_OFTEN));
    expect(told('fork')).toEqual([false, false, true, false]);
    expect(told('child')).toEqual([false, false, false, false, true]);
    expect(told('inner')).toEqual([false, true]);
    expect(told('Go.')).not.toContain(true);
  });

  test('RES-4: tells its progress, in its row at once and on record', async () => {
    const glob = (text: string) => ({ ...call('Glob', { pattern: '*' }), text });
    const todos = [{ content: 'Mend it', status: 'in_progress' }];
    const family = await startHosted(executor, {
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [glob('Reading.\nAll of it.'), call('TodoWrite', { todos }), glob('Mend it'), REPORT],
      },
    });
    const { events } = await family.run('Go.');
    const lines = ['Reading.', 'Mend it'];
    expect(events.flatMap((event) => (event.type === 'progress' ? [event.line] : []))).toEqual(lines);
    expect(eventsOf(family.recordedOf(2), 'progress.reported').map(({ line }) => line)).toEqual(lines);
  });
});
