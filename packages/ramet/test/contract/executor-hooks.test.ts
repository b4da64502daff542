/** Hooks about an agent run alike wherever its loop and its tools run: the same events, with the same input, and their answers count. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { SUMMARISE } from '../../src/engine/compaction/compaction-summary.ts';
import { call, eventsOf, type FamilyOptions, lastTexts, startAgents } from '../fixtures/family.ts';
import { EXECUTORS_UNDER_TEST, startHosted } from './executor-scenes.ts';

const REPORT = { text: 'Scope: child. Done.' };
const FRESH = { subagent_type: 'general-purpose' };
const KINDS = { 'of a type': FRESH, 'as a fork': {} };
const LOOKED_AT = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionDenied',
  'PostToolBatch',
  'PreCompact',
  'PostCompact',
  'SubagentStart',
  'SubagentStop',
  'StopFailure',
  'CwdChanged',
] as const;

interface Learned extends Record<string, unknown> {
  readonly hook_event_name: string;
}

type Hooks = NonNullable<FamilyOptions['hooks']>;

/** Hooks of all these events: `seen` gets what they read about agents. */
function learning(answers: Record<string, unknown> = {}): { hooks: Hooks; seen: Learned[] } {
  const seen: Learned[] = [];
  const hook = (event: string) => (input: unknown) => {
    const read = input as Learned;
    if (read.agent_id === undefined) return {};
    seen.push(read);
    return answers[event] ?? {};
  };
  // Each is a function of one event: their answers have no field of another.
  const hooks = Object.fromEntries(LOOKED_AT.map((event) => [event, [{ hooks: [hook(event)] }]]));
  return { hooks: hooks as Hooks, seen };
}

function bash(id: string, command: string): Answer {
  return { tool_use: [{ id, name: 'Bash', input: { command } }] };
}

const SUMMARY_FIRST = SUMMARISE.slice(0, 40);

describe.each(EXECUTORS_UNDER_TEST)('EXT-2, EXEC-2: hooks of an agent hosted %s', (executor) => {
  test.each(Object.entries(KINDS))('run for each event, %s', async (_, kind) => {
    const { hooks, seen } = learning();
    const family = await startHosted(executor, {
      hooks,
      permissions: { deny: ['Bash(touch:*)'] },
      cast: {
        'Go.': [startAgents(['child'], kind), { text: 'ok' }],
        child: [bash('c1', 'echo one'), bash('c2', 'exit 3'), bash('c3', 'touch yy'), REPORT],
      },
    });
    await family.run('Go.');
    const ofCall = { tool_name: 'Bash', agent_id: `${family.session.id}.2` };
    const batch = (id: string, is_error: boolean) => ({
      hook_event_name: 'PostToolBatch',
      tool_calls: [{ tool_name: 'Bash', tool_use_id: id, tool_response: { is_error } }],
    });
    expect(seen).toMatchObject([
      { hook_event_name: 'SubagentStart' },
      { hook_event_name: 'PreToolUse', tool_use_id: 'c1', tool_input: { command: 'echo one' }, ...ofCall },
      { hook_event_name: 'PostToolUse', tool_use_id: 'c1', tool_response: { is_error: false }, ...ofCall },
      batch('c1', false),
      { hook_event_name: 'PreToolUse', tool_use_id: 'c2', ...ofCall },
      { hook_event_name: 'PostToolUseFailure', tool_use_id: 'c2', is_interrupt: false, ...ofCall },
      batch('c2', true),
      { hook_event_name: 'PreToolUse', tool_use_id: 'c3', ...ofCall },
      { hook_event_name: 'PermissionDenied', tool_use_id: 'c3', reason: expect.any(String), ...ofCall },
      batch('c3', true),
      { hook_event_name: 'SubagentStop', last_assistant_message: REPORT.text },
    ]);
  });

  test.each(Object.entries(KINDS))(
    'what PostToolBatch and PermissionDenied add is told, %s',
    async (_, kind) => {
      const { hooks } = learning({
        PostToolBatch: { hookSpecificOutput: { additionalContext: 'all have ended' } },
        PermissionDenied: { hookSpecificOutput: { additionalContext: 'ask for less' } },
      });
      const family = await startHosted(executor, {
        hooks,
        permissions: { deny: ['Bash(touch:*)'] },
        cast: {
          'Go.': [startAgents(['child'], kind), { text: 'ok' }],
          child: [bash('c1', 'touch yy'), REPORT],
        },
      });
      await family.run('Go.');
      const told = lastTexts(family.requestsOf('child')[1]).join('\n');
      expect(told).toContain('all have ended');
      expect(told).toContain('ask for less');
    },
  );

  test.each(Object.entries(KINDS))('PostToolBatch ends it with exit code 2, %s', async (_, kind) => {
    const command = `if grep -q '"agent_id"'; then echo enough >&2; exit 2; fi`;
    const family = await startHosted(executor, {
      hooks: { PostToolBatch: [{ hooks: [{ type: 'command', command }] }] },
      cast: {
        'Go.': [startAgents(['child'], kind), { text: 'ok' }],
        child: [bash('c1', 'true'), REPORT],
      },
    });
    expect((await family.run('Go.')).result.status).toBe('done');
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([
      { status: 'cancelled', cause: 'hook', message: expect.stringContaining('enough') },
    ]);
    expect(family.requestsOf('child')).toHaveLength(1);
  });

  test.each([
    ['run before and after a compaction', {}, ['PreCompact', 'PostCompact'], 99],
    [
      'keep a conversation that still fits',
      { PreCompact: { decision: 'block', reason: 'no' } },
      ['PreCompact'],
      6,
    ],
  ])('%s', async (_, answers, events, most) => {
    const { hooks, seen } = learning(answers);
    let calls = 0;
    const family = await startHosted(executor, {
      hooks,
      contextWindow: 20_000,
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        '': (view) => {
          if (view.last.includes(SUMMARY_FIRST)) return { text: 'SUMMARY' };
          const isOver = JSON.stringify(view.request.messages).includes('SUMMARY') || ++calls > most;
          return isOver ? REPORT : call('Bash', { command: 'printf "%09000d" 0' });
        },
      },
    });
    await family.run('Go.');
    const about = seen.filter(({ hook_event_name }) => hook_event_name.endsWith('Compact'));
    expect([...new Set(about.map(({ hook_event_name }) => hook_event_name))]).toEqual(events);
    expect(about[0]).toMatchObject({ trigger: 'auto', agent_id: `${family.session.id}.2` });
  });

  test('of its own type run for each event, too', async () => {
    const events = LOOKED_AT.filter((event) => /^P/.test(event));
    const own = Object.fromEntries(
      events.map((event) => [event, [{ hooks: [{ type: 'command', command: `echo ${event} >> hooked` }] }]]),
    );
    const family = await startHosted(executor, {
      agentTypes: { own: { description: 'd', prompt: 'p', hooks: own } },
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'own' }), { text: 'ok' }],
        child: [bash('c1', 'true'), REPORT],
      },
    });
    await family.run('Go.');
    const ran = eventsOf(family.recordedOf(2), 'hooks.ran');
    expect(ran.map(({ event }) => event)).toEqual(['PreToolUse', 'PostToolUse', 'PostToolBatch']);
  });

  test('are not told that its run failed: its parent is', async () => {
    const { hooks, seen } = learning();
    const family = await startHosted(executor, {
      hooks,
      cast: { 'Go.': [startAgents(['child'], FRESH), { text: 'ok' }], child: [{ status: 400 } as Answer] },
    });
    await family.run('Go.');
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([{ status: 'failed' }]);
    expect(seen.map(({ hook_event_name }) => hook_event_name)).toEqual(['SubagentStart']);
  });
});

describe('EXT-2: an agent that enters a worktree', () => {
  test.each(EXECUTORS_UNDER_TEST)(
    'hosted %s: CwdChanged runs, or the call says why it stays',
    async (executor) => {
      const { hooks, seen } = learning();
      const family = await startHosted(executor, {
        hooks,
        cast: {
          'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
          child: [call('EnterWorktree', {}), REPORT],
        },
      });
      await family.run('Go.');
      const moved = seen.filter(({ hook_event_name }) => hook_event_name === 'CwdChanged');
      const [said] = lastTexts(family.requestsOf('child')[1]);
      if (executor === 'process') {
        expect(moved).toEqual([]);
        expect(said).toContain('stays in its directory');
      } else expect(moved).toMatchObject([{ old_cwd: family.cwd, new_cwd: expect.any(String) }]);
    },
  );
});
