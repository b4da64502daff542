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
import type { Answer } from '../../emulator/answer.ts';

const never = (): Promise<never> => new Promise(() => {});
const WORKS: Cast[string] = [call('Bash', { command: 'true' }), never];
const finishing = (): Cast => ({
  'Go.': () => ({ text: 'All.' }),
  'Else?': () => ({ text: 'Else.' }),
  child: () => ({ text: 'Scope: mine.' }),
});

/** A session on record whose agent was cut off and whose parent was told so, as older versions left it. */
async function stranded(
  after: readonly (Answer | typeof never)[],
  input: Record<string, unknown> = {},
  reason = 'provider',
): Promise<FamilySession> {
  const family = await startFamily({
    cast: { 'Go.': [startAgents(['child'], input), ...after], child: WORKS },
  });
  const stop = new AbortController();
  const running = family.run('Go.', { signal: stop.signal });
  while (family.requestsOf('child').length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const agent of family.session.agents) agent.stop(reason);
  while (family.requestsOf('Go.').length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  if (after.includes(never)) stop.abort('SIGINT');
  await running;
  expect(eventsOf(family.recordedOf(2), 'agent.ended').at(-1)).toMatchObject({
    status: 'interrupted',
    cause: reason,
  });
  return family;
}

/** The same with its run at an end, as a limit leaves it. */
async function cutOff(cause: 'limit' | 'provider' | 'SIGINT'): Promise<FamilySession> {
  const stop = new AbortController();
  const family = await startFamily({ cast: { 'Go.': [startAgents(['child'])], child: WORKS } });
  const running = family.run('Go.', { signal: stop.signal });
  while (family.requestsOf('child').length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(cause);
  await running;
  return family;
}

describe('AGENT-5: agents that a provider interrupted and whose parents were told so', () => {
  test.each([
    ['at the call', {}],
    ['in a notification', { run_in_background: true }],
  ])('resume when their parent is at rest, and it hears of their end (%s)', async (_, input) => {
    const family = await stranded([{ text: 'I continue without it.' }, { text: 'Truly.' }], input);
    const again = await family.reopen(finishing());
    const before = again.requestsOf('Go.').length;
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'All.' });
    expect(lastTexts(again.requestsOf('Go.').at(-1))[0]).toContain('Scope: mine.');
    expect(again.requestsOf('Go.')).toHaveLength(before + 1);
    expect(eventsOf(again.recordedOf(2), 'agent.ended').at(-1)).toMatchObject({ status: 'done' });
    await expect((await again.reopen()).run(null)).rejects.toMatchObject({ code: 'nothing_to_do' });
  });

  test('resume beside a parent that has work left, and it is told so', async () => {
    const family = await stranded([never]);
    const again = await family.reopen(finishing());
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'All.' });
    expect(JSON.stringify(again.requestsOf('Go.').at(-1)?.request?.messages)).toContain(
      `Agent ${again.session.id}.2 runs in the background.`,
    );
    expect(eventsOf(again.recordedOf(2), 'agent.ended').at(-1)).toMatchObject({ status: 'done' });
  });

  test.each([
    ['provider', 'the provider'],
    ['limit', 'a usage limit'],
  ])('another prompt leaves them as they are, and is not done without them (%s)', async (cause, who) => {
    const family = await stranded([{ text: 'I continue without it.' }], {}, cause);
    const other = await family.reopen(finishing());
    expect((await other.run('Else?')).result).toMatchObject({
      ...{ status: 'interrupted', cause, text: 'Else.' },
      message: `${who} interrupted agent ${other.session.id}.2, not resumed since`,
    });
    const again = await other.reopen({ ...finishing(), 'Else?': () => ({ text: 'All.' }) });
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'All.' });
    expect((await again.run('Else?')).result).toMatchObject({ status: 'done' });
  });

  test('a chat that waits for nobody is done with its prompt', async () => {
    const family = await stranded([{ text: 'I continue without it.' }]);
    const chat = await family.reopen(finishing());
    expect((await chat.run('Else?', { waitForChildren: false })).result).toMatchObject({ status: 'done' });
  });

  test('those whom a person interrupted stay as they are', async () => {
    const family = await stranded([{ text: 'I continue without it.' }], {}, 'SIGINT');
    const again = await family.reopen(finishing());
    await expect(again.run(null)).rejects.toMatchObject({ code: 'nothing_to_do' });
    expect((await again.run('Else?')).result).toMatchObject({ status: 'done' });
  });
});

describe('AGENT-5: another prompt for a session that a provider interrupted', () => {
  test.each(['limit', 'provider'] as const)('resumes its agents in the background (%s)', async (cause) => {
    const family = await cutOff(cause);
    const other = await family.reopen({
      'Else?': () => ({ text: 'Else.' }),
      child: () => ({ text: 'Scope: mine.' }),
    });
    expect((await other.run('Else?')).result).toMatchObject({ status: 'done', text: 'Else.' });
    const said = JSON.stringify(other.requestsOf('Else?').at(-1)?.request?.messages);
    expect(said).toContain('Scope: mine.');
    expect(eventsOf(other.recordedOf(2), 'agent.ended').at(-1)).toMatchObject({ status: 'done' });
  });

  test('leaves those that a person interrupted', async () => {
    const family = await cutOff('SIGINT');
    const other = await family.reopen({ 'Else?': () => ({ text: 'Else.' }) });
    expect((await other.run('Else?')).result).toMatchObject({ status: 'done', text: 'Else.' });
    expect(other.requestsOf('child')).toHaveLength(2);
  });
});
