import { getEventListeners } from 'node:events';
import { mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type EngineFixture, startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { askingOnce } from '../../permission/asking-once.ts';
import type { PermissionAnswer, PermissionQuestion } from '../../permission/broker.ts';
import { NO_RULES, sessionRules } from '../../permission/policy.ts';
import { agentId } from '../../schema/ids.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { writeTool } from '../../tools/files/write.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import type { Tool } from '../../tools/tool.ts';
import { Agent, hosted } from '../agent/agent.ts';
import { modeInForce } from '../agent/agent-spec.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import { ownPermit } from './authorize.ts';

interface Put {
  question: PermissionQuestion;
  signal: AbortSignal;
  answer(answer: PermissionAnswer): void;
}

/** An agent, and the open questions. Only the test answers. */
async function family(spec: Partial<AgentSpec> = { permissionMode: 'default' }, modeAdvice?: string) {
  const put: Put[] = [];
  const permissions = countedRules();
  const broker = askingOnce({
    modeAdvice,
    ask(question, signal) {
      const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
      put.push({ question, signal, answer: resolve });
      return promise;
    },
  });
  const engine = await startEngine({ provider: scriptedModel(), spec, runtime: { broker, permissions } });
  return { ...engine, put, permissions };
}

function countedRules() {
  const rules = sessionRules(NO_RULES, { base: '/', home: null });
  const counted = {
    watching: 0,
    get rules() {
      return rules.rules;
    },
    rulesOf: rules.rulesOf,
    reading: rules.reading,
    grant: rules.grant,
    revoke: rules.revoke,
    add: rules.add,
    allow: rules.allow,
    changed: rules.changed,
    watch(look: () => void) {
      counted.watching += 1;
      const stop = rules.watch(look);
      return () => {
        counted.watching -= 1;
        stop();
      };
    },
  };
  return counted;
}

let born = 1;

function childOf({ agent, runtime }: EngineFixture, spec: Partial<AgentSpec> = {}): Agent {
  const id = agentId(runtime.journal.session, ++born);
  const ceiling = (): ReturnType<typeof modeInForce> => modeInForce(agent);
  return Agent.start(runtime, {
    ...agent.spec,
    ...{ id, parent: agent.spec.id, permissionMode: 'bubble', ceiling, name: `child ${born}` },
    ...spec,
  });
}

const never = new AbortController().signal;
const close: Tool = toolOf('mcp__tracker__close', 'execute', async () => ({ content: 'closed' }));

/** Why the call may not run; null when it may. */
async function refusal(
  agent: Agent,
  input: unknown,
  tool: Tool = close,
  signal = never,
): Promise<string | null> {
  const call = { type: 'tool_use', id: `toolu_${born}`, name: tool.name, input } as const;
  const permit = await ownPermit(hosted(agent), { tool, request: { call }, input }, signal);
  return permit.kind === 'refused' ? permit.reason : null;
}

const bash = (agent: Agent, command: string): Promise<string | null> => refusal(agent, { command }, bashTool);

describe('RES-3: a child never exceeds its ancestors', () => {
  test('in bubble it is judged under its parent’s mode, as that is at each call', async () => {
    const root = await family({ permissionMode: 'bypassPermissions' });
    const child = childOf(root);
    expect(await bash(child, 'touch a')).toBeNull();
    root.agent.record({ type: 'permission.changed', mode: 'plan' });
    expect(await bash(child, 'touch a')).toContain('in plan mode');
    root.agent.record({ type: 'permission.changed', mode: 'dontAsk' });
    expect(await bash(child, 'touch a')).toContain('only reading is allowed');
    expect(await bash(child, 'ls')).toBeNull();
    expect(root.put).toEqual([]);
  });

  test('a wider mode of its own gives it nothing, a narrower one binds it', async () => {
    const root = await family({ permissionMode: 'dontAsk' });
    expect(await bash(childOf(root, { permissionMode: 'bypassPermissions' }), 'touch a')).not.toBeNull();
    root.agent.record({ type: 'permission.changed', mode: 'bypassPermissions' });
    expect(await bash(childOf(root, { permissionMode: 'plan' }), 'touch a')).toContain('in plan mode');
  });

  test('a change at the root reaches grandchildren, past a narrower agent between them', async () => {
    const root = await family({ permissionMode: 'bypassPermissions' });
    const child = childOf(root, { permissionMode: 'acceptEdits' });
    const grandchild = childOf(root, { parent: child.spec.id, ceiling: () => modeInForce(child) });
    expect(modeInForce(grandchild)).toBe('acceptEdits');
    root.agent.record({ type: 'permission.changed', mode: 'plan' });
    expect(modeInForce(grandchild)).toBe('plan');
    root.agent.record({ type: 'permission.changed', mode: 'default' });
    expect([modeInForce(child), modeInForce(grandchild)]).toEqual(['default', 'default']);
    expect([root, child].map((one) => Object.isFrozen('agent' in one ? one.agent.spec : one.spec))).toEqual([
      true,
      true,
    ]);
  });

  test('SEC-1: what was allowed is not written where a link that came meanwhile leads', async () => {
    const root = await family();
    const { cwd } = root.agent.directory;
    const outside = join(cwd, '..', `outside-${root.runtime.journal.session}`);
    mkdirSync(outside);
    onTestFinished(() => rmSync(outside, { recursive: true }));
    const write = (): Promise<string | null> =>
      refusal(root.agent, { file_path: 'made/new.txt', content: 'x' }, writeTool);
    const first = write();
    while (root.put.length === 0) await turn();
    symlinkSync(outside, join(cwd, 'made'));
    root.put[0]?.answer({ kind: 'once' });
    expect(await first).toContain(`now leads to ${join(realpathSync(outside), 'new.txt')}`);
    const second = write();
    while (root.put.length === 1) await turn();
    expect(root.put[1]?.question).toMatchObject({ reason: 'it writes outside the working directory' });
    root.put[1]?.answer({ kind: 'once' });
    expect(await second).toBeNull();
  });

  test('where a person is there, a mode that refuses advises what they can do, and no flag', async () => {
    const root = await family({ permissionMode: 'plan' }, 'Shift-Tab changes the mode');
    const said = / \(For the user: Shift-Tab changes the mode\.\)$/;
    expect(await refusal(root.agent, { id: 1 })).toMatch(said);
    expect(await refusal(childOf(root), { id: 1 })).toMatch(said);
    // What its type says stays.
    expect(await refusal(childOf(root, { permissionMode: 'plan' }), { id: 1 })).not.toContain('For the user');
    root.agent.record({ type: 'permission.changed', mode: 'dontAsk' });
    expect(await refusal(root.agent, { id: 1 })).toMatch(said);
  });

  test('a question knows whether rules would cover its call, and asking that allows nothing', async () => {
    const root = await family();
    const call = refusal(root.agent, { id: 1 });
    while (root.put.length === 0) await turn();
    const { question, answer } = root.put[0] ?? {};
    const covered = (...rules: string[]): Promise<boolean> | undefined => question?.covers?.(rules);
    expect(await covered('Bash(rm:*)')).toBe(false);
    expect(await covered('no rule (')).toBe(false);
    expect(await covered('Bash(rm:*)', 'mcp__tracker__close')).toBe(true);
    expect([root.permissions.rules.allow, root.put.length]).toEqual([[], 1]);
    answer?.({ kind: 'once' });
    expect(await call).toBeNull();
  });

  test('a question that a change of mode decides is not asked any longer', async () => {
    const root = await family();
    const [first, second] = [refusal(childOf(root), { id: 1 }), refusal(childOf(root), { id: 2 })];
    await turn();
    expect(root.put).toHaveLength(2);
    root.agent.record({ type: 'permission.changed', mode: 'bypassPermissions' });
    root.permissions.changed();
    expect(await Promise.all([first, second])).toEqual([null, null]);
    expect(root.put.every(({ signal }) => signal.aborted)).toBe(true);
  });
});

describe('RES-3: an agent’s own restriction', () => {
  const restricted = (canUseTool: AgentSpec['canUseTool']) =>
    family({ permissionMode: 'bypassPermissions', canUseTool });

  test.for<[string, AgentSpec['canUseTool']]>([
    ['refuses', () => ({ allowed: false, reason: 'not on a Friday' })],
    ['refuses later', async () => ({ allowed: false, reason: 'not on a Friday' })],
    ['throws', () => Promise.reject(new Error('not on a Friday'))],
  ])('that %s keeps a call from running in any mode', async ([, canUseTool]) => {
    const { agent } = await restricted(canUseTool);
    expect(await refusal(agent, {})).toBe('mcp__tracker__close is not permitted: not on a Friday');
  });

  test('that allows gives no right', async () => {
    const seen: unknown[] = [];
    const { agent } = await family({
      permissionMode: 'plan',
      canUseTool(tool, input) {
        seen.push(tool, input);
        return { allowed: true };
      },
    });
    expect(await refusal(agent, { id: 1 })).toContain('in plan mode');
    expect(seen).toEqual(['mcp__tracker__close', { id: 1 }]);
  });

  test('changes nothing of the call that it is shown', async () => {
    const { agent } = await restricted((_tool, shown) => {
      Object.assign(Object(shown), { command: 'rm -r src' });
      return { allowed: true };
    });
    const input = { command: 'ls src', nested: { to: 'alice' } };
    expect(await refusal(agent, input)).toBeNull();
    expect(input).toEqual({ command: 'ls src', nested: { to: 'alice' } });
  });

  test('that never decides ends with the turn', async () => {
    const stop = new AbortController();
    const { agent } = await restricted(() => new Promise(() => {}));
    const refused = refusal(agent, {}, close, stop.signal);
    stop.abort();
    expect(await refused).toContain('interrupted');
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});

describe('RES-3: a child’s question', () => {
  test('says who asks, and the agent is blocked until it is answered', async () => {
    const root = await family();
    const child = childOf(root, { name: null, origin: originOf('fix the tests') });
    const asked = [refusal(child, { id: 1 }), refusal(child, { id: 2 })];
    await turn();
    const { agent, cwd } = root;
    expect(root.put[0]?.question).toMatchObject({
      agent: child.spec.id,
      agentName: 'fix the tests',
      parent: agent.spec.id,
      cwd,
    });
    for (const { answer } of root.put) answer({ kind: 'once' });
    expect(await Promise.all(asked)).toEqual([null, null]);
    await root.runtime.journal.commit('written');
    expect(lifeOf(root)).toEqual(['blocked: permission', 'asked', 'asked', 'once', 'once', 'running: null']);
  });

  test('holds a copy of the input: who answers cannot change the call in place', async () => {
    const { agent, put } = await family();
    const input = { to: 'alice', lines: ['one'] };
    const asked = refusal(agent, input);
    await turn();
    const shown = Object(put[0]?.question.input);
    shown.to = 'mallory';
    shown.lines.push('two');
    put[0]?.answer({ kind: 'once' });
    expect(await asked).toBeNull();
    expect(input).toEqual({ to: 'alice', lines: ['one'] });
  });

  test('of the main agent names nobody', async () => {
    const { agent, put } = await family();
    void refusal(agent, {});
    await turn();
    expect(put[0]?.question).toMatchObject({ agentName: null, parent: null });
  });

  test('stays open while nobody answers, and ends with the agent', async () => {
    const root = await family();
    const stop = new AbortController();
    const asked = refusal(childOf(root), {}, close, stop.signal);
    for (let turns = 0; turns < 20; turns++) await turn();
    await root.runtime.journal.commit('written');
    expect(lifeOf(root)).toEqual(['blocked: permission', 'asked']);
    stop.abort();
    expect(await asked).toContain('interrupted');
    expect(root.put[0]?.signal.aborted).toBe(true);
    await root.runtime.journal.commit('written');
    expect(lifeOf(root).slice(2)).toEqual(['denied', 'running: null']);
  });
});

describe('RES-3: an answer for always', () => {
  test('answers the open questions that its rules allow, and leaves the others', async () => {
    const root = await family();
    const asked = ['npm test', 'npm test -- --watch', 'npm publish'].map((command) =>
      bash(childOf(root), command),
    );
    while (root.put.length < 3) await turn();
    const put = (command: string) => root.put.find(({ question }) => question.summary === command);
    put('npm test')?.answer({ kind: 'always', rules: ['Bash(npm test:*)'] });
    expect(await Promise.all(asked.slice(0, 2))).toEqual([null, null]);
    expect(put('npm test -- --watch')?.signal.aborted).toBe(true);
    expect(put('npm publish')?.signal.aborted).toBe(false);
    put('npm publish')?.answer({ kind: 'denied', reason: 'no.' });
    expect(await asked[2]).toContain('no.');
    await root.runtime.journal.commit('written');
    expect(lifeOf(root).filter((step) => /^(?:always|policy|denied)$/.test(step))).toEqual([
      'always',
      'policy',
      'denied',
    ]);
  });

  test('reaches a question that was being decided when it came', async () => {
    const root = await family();
    const asked = refusal(childOf(root), {});
    root.permissions.allow(['mcp__tracker']);
    expect(await asked).toBeNull();
    expect(root.put).toEqual([]);
  });
});

test('RES-3: ten thousand questions that nobody answers leave nothing behind', async () => {
  const root = await family();
  const child = childOf(root);
  const life = new AbortController();
  for (let number = 0; number < 100; number++) {
    const stop = new AbortController();
    const asked = Array.from({ length: 100 }, (_, id) => refusal(child, { id }, close, stop.signal));
    await turn();
    stop.abort();
    await Promise.all(asked);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  }
  const answered = refusal(child, {}, close, life.signal);
  await turn();
  root.put.at(-1)?.answer({ kind: 'once' });
  expect(await answered).toBeNull();
  expect(getEventListeners(life.signal, 'abort')).toEqual([]);
  expect(root.put).toHaveLength(10_001);
  expect([root.permissions.watching, child.here.openQuestions]).toEqual([0, 0]);
});

test('AGENT-5: a second prompt that asks is blocked on record too, and an agent that has ended is not', async () => {
  const root = await family();
  root.agent.record({ type: 'agent.ended', status: 'done', cause: null, message: null });
  root.agent.setStatus('waiting', 'children');
  expect(lifeOf(root)).toEqual([]);
  root.agent.say('prompt', [freezeBlock({ type: 'text', text: 'Again.' })]);
  const answered = refusal(root.agent, {});
  await turn();
  root.put[0]?.answer({ kind: 'once' });
  expect(await answered).toBeNull();
  await root.runtime.journal.commit('written');
  expect(lifeOf(root)).toEqual(['blocked: permission', 'asked', 'once', 'running: null']);
});

function originOf(description: string): AgentSpec['origin'] {
  return { kind: 'fresh', call: null, description, background: false, depth: 1 };
}

/** What the journal says about questions and about being blocked. */
function lifeOf(root: EngineFixture): string[] {
  return root.recorded().flatMap((event) => {
    if (event.type === 'status.changed') return [`${event.status}: ${event.cause}`];
    if (event.type === 'permission.asked') return ['asked'];
    return event.type === 'permission.answered' ? [event.answer] : [];
  });
}
