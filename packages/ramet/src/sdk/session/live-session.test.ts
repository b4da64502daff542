import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { drain } from '../../../test/fixtures/engine.ts';
import { call, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import type { ForkOverrides } from '../../engine/children/child-terms.ts';
import type { SessionEvent } from './event-bus.ts';
import type { ForkOptions } from './session-type.ts';

const REPORT = { text: 'Scope: done.' };

describe('FORK-3: the type of a fork’s options', () => {
  test('admits the four overrides, a label, a worktree, limits, a schema, and nothing else', () => {
    type Four = 'abortController' | 'skipTranscript' | 'skipCacheWrite' | 'canUseTool';
    expectTypeOf<keyof ForkOverrides>().toEqualTypeOf<Four>();
    expectTypeOf<keyof ForkOptions>().toEqualTypeOf<
      Four | 'description' | 'name' | 'isolation' | 'budget' | 'maxTurns' | 'schema'
    >();
  });
});

describe('LIB-1: what a session shows is a view', () => {
  test('the main agent cannot be changed through it', async () => {
    const { session, run } = await startFamily({ cast: {}, permissionMode: 'plan' });
    await expect(run(null)).rejects.toThrow('no prompt yet: give it one, as session.run("PROMPT") or ramet');
    expect(() => Object.assign(session.agent, { permissionMode: 'bypassPermissions' })).toThrow(TypeError);
    expect(session.agent.permissionMode).toBe('plan');
    session.setPermissionMode('default');
    expect(session.agent.permissionMode).toBe('default');
  });

  test('the list of children is a copy', async () => {
    const gate = Promise.withResolvers<void>();
    const { session, run } = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }], child: () => gate.promise.then(() => REPORT) },
    });
    await run('Go.');
    const child = await session.fork('child');
    (session.agents as unknown[]).pop(); // a library without types would
    expect(session.agents).toEqual([child]);
    gate.resolve();
    await child.result;
    expect(session.agents).toEqual([]);
  });
});

describe('LIB-1: answers of forks and typed agents that fit a schema', () => {
  const Findings = z.object({ findings: z.array(z.object({ line: z.int() })) });
  const fitting = '{"findings":[{"line":3}]}';

  test('an answer that does not fit is sent back, and the result is the JSON', async () => {
    const { session, run, requestsOf } = await startFamily({
      cast: {
        'Go.': [{ text: 'Ready.' }],
        fork: [{ text: 'There is one.' }, { text: fitting }],
        typed: [{ text: fitting }],
      },
    });
    await run('Go.');
    const fork = await session.fork('fork', { schema: Findings });
    const typed = await session.spawn({
      ...{ prompt: 'typed', description: 'x', subagent_type: 'general-purpose', schema: Findings },
    });
    for (const { result } of [fork, typed]) {
      const { status, text } = await result;
      expect(status).toBe('done');
      expect(Findings.parse(JSON.parse(text)).findings).toEqual([{ line: 3 }]);
    }
    expect(requestsOf('fork')).toHaveLength(2);
  });

  test('one that cannot be used is refused before anything starts', async () => {
    const { session, run } = await startFamily({ cast: { 'Go.': [{ text: 'Ready.' }] } });
    await run('Go.');
    await expect(session.fork('child', { schema: { type: 'nonsense' } })).rejects.toThrow('schema');
    expect(session.agents).toEqual([]);
  });
});

describe('AGENT-3: children of the library', () => {
  test('one in the background is news for the main agent, and a run without a prompt tells it', async () => {
    const { session, run, requestsOf } = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }, { text: 'Heard.' }], child: [REPORT] },
    });
    await run('Go.');
    const child = await session.spawn({ prompt: 'child', description: 'x', run_in_background: true });
    await child.result;
    expect(session.hasNews).toBe(true);
    expect((await run(null)).result).toMatchObject({ status: 'done', text: 'Heard.' });
    expect(JSON.stringify(requestsOf('Go.')[1]?.request?.messages.at(-1))).toContain('Scope: done.');
    expect(session.hasNews).toBe(false);
  });

  test('their events come in a run with their own id, and to who subscribes between runs', async () => {
    const { session, run } = await startFamily({
      cast: { 'Go.': [startAgents(['child']), { text: 'ok' }], child: [REPORT] },
    });
    const { events } = await run('Go.');
    const child = `${session.id}.2`;
    const own = events.filter(({ agentId }) => agentId === child);
    expect(own.map(({ type }) => type)).toEqual(['agent_started', 'assistant', 'agent_ended']);
    expect(new Set(own.map(({ parentAgentId }) => parentAgentId))).toEqual(new Set([`${session.id}.1`]));
    const heard: string[] = [];
    const leave = session.subscribe(({ agentId, type }) => heard.push(`${agentId.split('.')[1]} ${type}`));
    await (await session.fork('child')).result;
    leave();
    await (await session.fork('child')).result;
    expect(heard).toEqual(['3 agent_started', '3 assistant', '3 agent_ended']);
  });

  test('who subscribes hears how the status of the main agent changes too, and nothing else of it', async () => {
    const { session, run } = await startFamily({
      cast: { 'Go.': [startAgents(['child']), { text: 'ok' }], child: [REPORT] },
    });
    const heard: unknown[] = [];
    session.subscribe((event) => {
      if (event.parentAgentId === null)
        heard.push(event.type === 'status_changed' ? [event.status, event.cause] : event.type);
    });
    await run('Go.');
    expect(heard).toEqual([
      ['waiting', 'children'],
      ['running', null],
    ]);
  });

  test('closing the session ends them', async () => {
    const { session, run } = await startFamily({
      cast: { 'Go.': [{ text: 'Ready.' }], child: () => new Promise(() => {}) },
    });
    await run('Go.');
    const child = await session.fork('child');
    await session.close();
    await session[Symbol.asyncDispose]();
    expect(await child.result).toMatchObject({ status: 'interrupted', cause: 'parent_ended' });
  });
});

describe('LIB-1: a run and who reads its events', () => {
  test('a reader that stays away holds up nothing, and finds everything in order', async () => {
    const { session, recordedOf } = await startFamily({
      cast: {
        'Go.': [startAgents(['child']), call('Bash', { command: 'true' }), { text: 'ok' }],
        child: [REPORT],
      },
    });
    const events = session.run('Go.');
    const { value: first } = await events.next();
    while (!recordedOf(1).some(({ type }) => type === 'agent.ended')) await new Promise(setImmediate);
    const { result, events: rest } = await drain(events);
    expect(result).toMatchObject({ status: 'done', text: 'ok' });
    const told = [first as SessionEvent, ...rest].map(({ agentId, type }) => `${agentId.at(-1)} ${type}`);
    expect(told).toEqual([
      '1 assistant',
      '1 tool_started',
      '2 agent_started',
      '1 status_changed',
      '2 assistant',
      '2 agent_ended',
      '1 status_changed',
      '1 tool_completed',
      '1 assistant',
      '1 tool_started',
      '1 tool_completed',
      '1 assistant',
      '1 result',
    ]);
  });

  test('RES-5: a reader that leaves ends the run as interrupted, and the session takes another prompt', async () => {
    const { session, run, recordedOf } = await startFamily({
      cast: { 'Go.': [call('Bash', { command: 'sleep 600' })], 'Again.': [{ text: 'Resumed.' }] },
    });
    for await (const { type } of session.run('Go.')) if (type === 'tool_started') break;
    expect(recordedOf(1).at(-1)).toMatchObject({
      type: 'agent.ended',
      status: 'interrupted',
      cause: 'abandoned',
    });
    expect((await run('Again.')).result).toMatchObject({ status: 'done', text: 'Resumed.' });
  });
});
