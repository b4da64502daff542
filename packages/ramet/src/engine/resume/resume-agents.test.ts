import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
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
  timesIn,
} from '../../../test/fixtures/family.ts';
import { witnessPath } from '../../journal/integrity.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { RECORD_LOST_ITS_END } from '../agent/notices.ts';

const never = () => new Promise<never>(() => {});

/** Runs a prompt until the emulator has taken this many requests, and interrupts it as Esc does. */
async function interruptedAfter(
  requests: number,
  cast: Cast,
  prompt = 'Go.',
): Promise<{ family: FamilySession; result: AgentResult }> {
  const stop = new AbortController();
  const family = await startFamily({ cast });
  const running = family.run(prompt, { signal: stop.signal });
  while (family.emulator.requests.length < requests) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort('SIGINT');
  return { family, result: (await running).result };
}

describe('AGENT-5: agents of an earlier process', () => {
  const one = call('Bash', { command: 'echo one >> one.txt' });
  const castOf = (): Cast => ({
    'Go.': [startAgents(['child one']), { text: 'Both.' }],
    'child one': [one, never],
  });
  const later: Cast = { 'Go.': () => ({ text: 'Both.' }), 'child one': () => ({ text: 'Scope: one.' }) };

  test('are reported as started and ended by the run that resumes them', async () => {
    const { family } = await interruptedAfter(3, castOf());
    const again = await family.reopen(later);
    const { events } = await again.run(null);
    const child = `${again.session.id}.2`;
    const told = events.filter(({ agentId }) => agentId === child).map(({ type }) => type);
    expect(told.at(0)).toBe('agent_started');
    expect(told.at(-1)).toBe('agent_ended');
  });

  test('LOG-1: each learns with its first request that the record lost its end', async () => {
    const { family } = await interruptedAfter(3, castOf());
    const [file = ''] = globSync(join(family.home, `projects/*/${family.session.id}.sqlite`));
    const before = family.emulator.requests.length;
    await family.session[Symbol.asyncDispose]();
    writeFileSync(witnessPath(file), `${'9999'.padStart(12)} ${'1'.padStart(15)}\n`);
    const again = await family.reopen(later);
    await again.run(null);
    const [child, main] = again.emulator.requests.slice(before);
    for (const request of [child, main]) expect(lastTexts(request)).toContain(RECORD_LOST_ITS_END);
    expect(child?.body).toContain('child one');
  });
});

describe('AGENT-5: agents in the background that were interrupted with their session', () => {
  const tasks = ['child one', 'child two', 'child three'];

  test.each([null, 'Else?'])('all resume, also when a turn begins meanwhile (%s)', async (prompt) => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(tasks, { run_in_background: true }), { text: 'I wait.' }],
        ...Object.fromEntries(tasks.map((task) => [task, never])),
      },
    });
    await family.run('Go.', { waitForChildren: false });
    while (family.emulator.requests.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    const done = () => ({ text: 'Scope: mine.' });
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      'Else?': () => ({ text: 'Heard.' }),
      ...Object.fromEntries(tasks.map((task) => [task, done])),
    });
    let turn: Promise<unknown> | undefined;
    again.session.subscribe(() => {
      turn ??= again.run(prompt);
    });
    expect(await again.session.resumeAgents()).toBe(3);
    await turn;
    for (const number of [2, 3, 4]) {
      const [before, after] = eventsOf(again.recordedOf(number), 'agent.ended');
      expect([before?.status, after?.status]).toEqual(['interrupted', 'done']);
    }
    expect(again.emulator.requests.map(({ body }) => body).join('')).not.toContain('interrupted: ');
  });
});

describe('AGENT-5: an interrupted run is resumed', () => {
  const castOf = (): Cast => ({
    'Go.': [startAgents(['child one', 'child two']), { text: 'Both.' }],
    'child one': [call('Bash', { command: 'echo one >> one.txt' }), never],
    'child two': [{ text: 'Scope: two.' }],
  });
  const later: Cast = {
    'Go.': () => ({ text: 'Both.' }),
    'child one': () => ({ text: 'Scope: one.' }),
  };

  test.each(['in the same process', 'by another process'])(
    '%s: each call is answered by its agent',
    async (where) => {
      const cast = castOf();
      const { family, result } = await interruptedAfter(4, cast);
      expect(result).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
      expect(family.session.isInterrupted).toBe(true);
      const again = where.startsWith('by') ? await family.reopen(later) : family;
      if (again === family) Object.assign(cast, later);
      expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'Both.' });
      expect(lastTexts(again.requestsOf('Go.').at(-1))).toEqual([
        expect.stringMatching(/^Agent \w+\.2 \(fork\) done: 2 turns,.*Scope: one\.$/s),
        expect.stringMatching(/^Agent \w+\.3 \(fork\) done: 1 turn,.*Scope: two\.$/s),
      ]);
      expect(readFileSync(join(again.cwd, 'one.txt'), 'utf8')).toBe('one\n');
      // Asked for before, and not again.
      expect(again.requestsOf('child two')).toHaveLength(1);
      expect(eventsOf(again.recordedOf(2), 'agent.resumed')).toEqual([
        { type: 'agent.resumed', from: 'interrupted' },
      ]);
      expect(again.session.isInterrupted).toBe(false);
    },
  );

  test('watchers learn what a resumed agent has taken before', async () => {
    const { family } = await interruptedAfter(4, castOf());
    const again = await family.reopen(later);
    const told: { type: string }[] = [];
    again.session.subscribe((event) => told.push(event));
    await again.run(null);
    const [started] = told.filter(({ type }) => type === 'agent_started');
    expect(started).toMatchObject({ carried: { turns: 1, costUsd: expect.any(Number) } });
  });

  test('with another prompt the calls are answered without waiting, and nothing goes on', async () => {
    const { family } = await interruptedAfter(3, {
      'Go.': [startAgents(['child'])],
      child: [call('Bash', { command: 'true' }), never],
      Else: [{ text: 'Else done.' }],
    });
    const { result } = await family.run('Else?');
    expect(result.text).toBe('Else done.');
    const [answers] = family.requestsOf('Else')[0]?.request?.messages.slice(-2) ?? [];
    expect(JSON.stringify(answers)).toContain('interrupted: agent');
    expect(family.requestsOf('child')).toHaveLength(2);
    expect(family.session.agents).toEqual([]);
  });

  test('an agent two levels down resumes before the agents that wait for it', async () => {
    const typed = { subagent_type: 'general-purpose' };
    const { family } = await interruptedAfter(3, {
      'Go.': [startAgents(['outer'], typed)],
      outer: [startAgents(['inner'], typed)],
      inner: never,
    });
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      outer: () => ({ text: 'Scope: outer.' }),
      inner: () => ({ text: 'Scope: inner.' }),
    });
    expect((await again.run(null)).result.text).toBe('Heard.');
    expect(lastTexts(again.requestsOf('outer').at(-1))[0]).toContain('Scope: inner.');
    expect(lastTexts(again.requestsOf('Go.').at(-1))[0]).toContain('Scope: outer.');
    expect(again.emulator.requests).toHaveLength(6);
  });

  test('a second interruption while they resume changes nothing', async () => {
    const { family } = await interruptedAfter(2, { 'Go.': [startAgents(['child'])], child: never });
    const stop = new AbortController();
    const running = family.run(null, { signal: stop.signal });
    while (family.requestsOf('child').length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort('SIGINT');
    expect((await running).result.status).toBe('interrupted');
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: late.' }),
    });
    await again.run(null);
    const said = JSON.stringify(again.emulator.requests.at(-1)?.request?.messages);
    expect(timesIn(said, 'Scope: late.')).toBe(1);
  });
});

describe('AGENT-6: a resumed agent is held to what was asked of it', () => {
  const schema = { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } };

  test('its report must still meet the schema', async () => {
    const { family } = await interruptedAfter(2, {
      'Go.': [startAgents(['child'], { schema })],
      child: never,
    });
    let asked = 0;
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: asked++ === 0 ? 'many' : '{"count": 3}' }),
    });
    await again.run(null);
    expect(lastTexts(again.requestsOf('Go.').at(-1))[0]).toContain('{"count": 3}');
    expect(asked).toBe(2);
  });

  test('what was there before it began does not count as its work', async () => {
    const expected = { expect: { files: ['made.txt'] } };
    const { family } = await interruptedAfter(2, {
      'Go.': [startAgents(['child'], expected)],
      child: never,
    });
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: made it.' }),
    });
    await again.run(null);
    expect(existsSync(join(again.cwd, 'made.txt'))).toBe(false);
    expect(lastTexts(again.requestsOf('Go.').at(-1))[0]).toContain('failed: no_artifact');
  });
});

describe('RES-2: what resumed agents spend', () => {
  test('counts against the resumed run, and into its bill', async () => {
    const { family } = await interruptedAfter(2, { 'Go.': [startAgents(['child'])], child: never });
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: late.', output_tokens: 5_000 }),
    });
    const { result } = await again.run(null);
    expect(result.usage.output_tokens).toBeGreaterThanOrEqual(5_000);
  });

  test('and what they and agents below them had spent before is in their reports', async () => {
    const typed = { subagent_type: 'general-purpose' };
    const { family } = await interruptedAfter(4, {
      'Go.': [startAgents(['outer'], typed)],
      outer: [startAgents(['inner'], typed), never],
      inner: [{ text: 'Scope: inner.', output_tokens: 15_000 }],
    });
    const again = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      outer: () => ({ text: 'Scope: outer.' }),
    });
    await again.run(null);
    const [, tokens = ''] =
      /done: 2 turns, ([\d,]+) tokens/.exec(lastTexts(again.requestsOf('Go.').at(-1))[0] ?? '') ?? [];
    expect(Number(tokens.replaceAll(',', ''))).toBeGreaterThan(20_000);
  });
});
