/**
 * A resume that the provider refuses at once. The pause that `resume-agents.ts` makes after each agent lasts here until what was
 * started has ended, so each agent has ended before its parent looks for it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import timers from 'node:timers/promises';
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
import type { ModelProvider } from '../../model/provider.ts';
import { ModelError } from '../../schema/errors.ts';

/** Tests of a room share their modules: a mock of one would stay for the others, or come too late. */
function pausingUntil(isOver: () => boolean): Disposable {
  const { setImmediate } = timers;
  const patched: { setImmediate: () => Promise<void> } = timers;
  patched.setImmediate = async () => {
    do await setImmediate();
    while (!isOver());
  };
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      timers.setImmediate = setImmediate;
      syncBuiltinESMExports();
    },
  };
}

const never = () => new Promise<never>(() => {});
const BY_PROVIDER = { status: 'interrupted', cause: 'provider' };
const typed = { subagent_type: 'general-purpose' };

const refusing: ModelProvider = {
  name: 'refusing',
  send: () => Promise.reject(new ModelError('auth', 'terminal', 'the key is not valid', { status: 401 })),
  close() {},
};

/** A session that ended with its agents at work, as Ctrl-C ends it. */
async function interruptedAfter(requests: number, cast: Cast, cause = 'SIGINT'): Promise<FamilySession> {
  const stop = new AbortController();
  const family = await startFamily({ cast });
  const running = family.run('Go.', { signal: stop.signal });
  while (family.emulator.requests.length < requests) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(cause);
  await running;
  return family;
}

/** Resumes it while the provider refuses everybody; all agents that resume have ended before their parents look. */
async function refusedOnce(family: FamilySession): Promise<FamilySession> {
  const again = await family.reopen(undefined, { provider: refusing });
  using _ = pausingUntil(() => again.session.agents.length === 0);
  expect((await again.run(null)).result).toMatchObject(BY_PROVIDER);
  return again;
}

describe('AGENT-5: a resume that the provider refuses at once', () => {
  const effect = call('Bash', { command: 'echo done >> effects' });
  const later: Cast = {
    'Go.': () => ({ text: 'All.' }),
    outer: () => ({ text: 'Scope: outer.' }),
    child: [never, effect, { text: 'Scope: mine.' }],
  };
  const effectsIn = ({ cwd }: FamilySession): string =>
    existsSync(join(cwd, 'effects')) ? readFileSync(join(cwd, 'effects'), 'utf8') : '';

  test('leaves the calls open: the next resume continues the parent and every agent', async () => {
    const family = await interruptedAfter(5, {
      'Go.': [startAgents(['child one', 'child two'])],
      child: [call('Bash', { command: 'true' }), never],
    });
    const refused = await refusedOnce(family);
    expect(eventsOf(refused.recordedOf(1), 'tool.completed')).toEqual([]);
    const again = await refused.reopen(later);
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'All.' });
    expect(effectsIn(again)).toBe('done\ndone\n');
    for (const text of lastTexts(again.requestsOf('Go.').at(-1))) expect(text).toContain('Scope: mine.');
  });

  test('so does another prompt, though its own run closed the calls: the next prompt resumes every agent', async () => {
    const family = await interruptedAfter(
      5,
      {
        'Go.': [startAgents(['child one', 'child two'])],
        child: [call('Bash', { command: 'true' }), never],
      },
      'limit',
    );
    const refused = await family.reopen(undefined, { provider: refusing });
    using _ = pausingUntil(() => refused.session.agents.length === 0);
    expect((await refused.run('Else?')).result).toMatchObject(BY_PROVIDER);
    const again = await refused.reopen({ ...later, 'Now?': () => ({ text: 'Now.' }) });
    expect((await again.run('Now?')).result).toMatchObject({ status: 'done' });
    expect(effectsIn(again)).toBe('done\ndone\n');
    for (const number of [2, 3])
      expect(eventsOf(again.recordedOf(number), 'agent.ended').at(-1)).toMatchObject({ status: 'done' });
  });

  test('an agent two levels down that is refused does not answer the call of its parent', async () => {
    const family = await interruptedAfter(4, {
      'Go.': [startAgents(['outer'], typed)],
      outer: [startAgents(['child'], typed)],
      child: [call('Bash', { command: 'true' }), never],
    });
    const refused = await refusedOnce(family);
    for (const number of [1, 2]) expect(eventsOf(refused.recordedOf(number), 'tool.completed')).toEqual([]);
    expect(eventsOf(refused.recordedOf(2), 'agent.ended').at(-1)).toMatchObject(BY_PROVIDER);
    const again = await refused.reopen(later);
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'All.' });
    expect(effectsIn(again)).toBe('done\n');
    expect(lastTexts(again.requestsOf('outer').at(-1))[0]).toContain('Scope: mine.');
  });

  test('one in the background resumes again, and its parent hears of its end alone', async () => {
    const family = await interruptedAfter(4, {
      'Go.': [startAgents(['child'], { run_in_background: true }), { text: 'I wait.' }],
      child: [call('Bash', { command: 'true' }), never],
    });
    const again = await (await refusedOnce(family)).reopen(later);
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'All.' });
    expect(effectsIn(again)).toBe('done\n');
    const said = JSON.stringify(again.requestsOf('Go.').at(-1)?.request?.messages);
    expect(said).toContain('Scope: mine.');
    expect(said).not.toContain('interrupted');
  });
});
