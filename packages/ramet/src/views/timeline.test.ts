import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  childOrigin,
  messageAppended,
  recorded,
  requestFailed,
  requestStarted,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../test/recorded-events.ts';
import type { JournalEvent } from '../schema/events.ts';
import { localMoment } from '../schema/local-time.ts';
import { describeEvent, recordedLine, timelineLine } from './timeline.ts';

const file = { type: 'file.changed', call: 'c', path: '/w/a.ts', before: 'x', after: 'y' } as const;

describe('the timeline', () => {
  test.each<[JournalEvent, string]>([
    [
      { type: 'session.started', version: '1.0', cwd: '/w', repository: null },
      'session started in /w (ramet 1.0)',
    ],
    [{ type: 'session.resumed', version: '1.0', cwd: '/w' }, 'session resumed in /w (ramet 1.0)'],
    [
      { type: 'task.changed', task: 'T1', status: 'blocked', cause: 'permission', attempt: { number: 2 } },
      'task T1 blocked: permission (attempt 2)',
    ],
    [
      { type: 'operator.asked', by: 'person', action: { kind: 'skip', task: 'T1' }, refused: 'it is done' },
      'asked for: skip T1, refused: it is done',
    ],
    [
      { type: 'operator.changed', status: 'tripped', cause: 'breaker', message: null },
      'operator tripped: breaker',
    ],
    [agentStarted({ name: 'scout' }), 'agent started: main scout on m, dontAsk, at most 200 turns'],
    [
      { type: 'agent.ended', status: 'failed', cause: 'budget', message: null },
      'agent ended: failed: budget',
    ],
    [
      { type: 'prefix.frozen', model: 'm', thinking: null, tools: ['a', 'b'], system: ['c'] },
      'prefix frozen: 2 tools, 1 system block',
    ],
    [messageAppended({ cause: 'tool_results' }), 'user message (tool results): 1 block'],
    [requestStarted({ messages: 3, cache: 'warm' }), 'request of turn 1 to m: 3 messages, cache warm'],
    [requestStarted({ attempt: 2 }), 'request of turn 1 to m: 1 message, cache cold, attempt 2'],
    [requestFailed(), 'request failed: 529 Overloaded; trying again in 0.50 s'],
    [
      requestFailed({ status: null, code: 'reset', message: 'lost', retryInMs: null }),
      'request failed: reset lost; giving up',
    ],
    [responseCompleted(), 'response (end_turn): 10 tokens in (0 cached), 5 out, $0.2500, 0.10 s'],
    [
      responseCompleted({ kept: false, costUsd: null, stopReason: 'refusal' }),
      'response (refusal, not kept): 10 tokens in (0 cached), 5 out, cost unknown, 0.10 s',
    ],
    [toolStarted('c', 'Bash'), 'Bash started'],
    [toolCompleted('c', 'Bash'), 'Bash done in 1.50 s'],
    [{ ...toolCompleted('c', 'Bash'), isError: true }, 'Bash failed in 1.50 s'],
    [{ ...toolCompleted('c', 'Bash'), isError: true, refused: 'Bash: no' }, 'Bash refused in 1.50 s'],
    [{ type: 'progress.reported', line: 'Reading.' }, 'progress: Reading.'],
    [{ type: 'permission.changed', mode: 'plan' }, 'permission mode changed: plan'],
    [
      { type: 'permission.answered', call: 'c', answer: 'policy', rules: [], reason: null },
      'permission given by rules or a mode that came meanwhile',
    ],
    [{ type: 'file.read', call: 'c', path: '/w/a.ts', version: 'x' }, 'file read: /w/a.ts'],
    [file, 'file changed: /w/a.ts'],
    [{ ...file, before: null }, 'file created: /w/a.ts'],
    [{ ...file, after: null }, 'file deleted: /w/a.ts'],
    [{ type: 'warning.raised', code: 'x', message: 'mind' }, 'warning x: mind'],
  ])('describes %o', (event, line) => {
    expect(describeEvent(event)).toBe(line);
  });

  test('puts time and agent before it', () => {
    const [own, session] = recorded(['s.1', toolStarted('c', 'Bash')], [null, toolStarted('c', 'Bash')]);
    expect(own && timelineLine(own)).toBe(`${localMoment(1_000)}  s.1  Bash started`);
    expect(session && timelineLine(session)).toBe(`${localMoment(2_000)}  session  Bash started`);
  });

  test('prints one bounded line without control characters, whatever a message holds', () => {
    const message = `two\nlines \u001b[31mred\u202e ${'x'.repeat(1000)}`;
    const line = describeEvent({ type: 'warning.raised', code: 'x', message });
    expect(line).toMatch(/^warning x: two lines {2}\[31mred {2}x+…$/);
    expect(line).toHaveLength(300);
  });

  test('names a kind of event that a later version added', () => {
    // The type does not exist here: that is the case under test.
    const event = { type: 'moon.risen' } as unknown as JournalEvent;
    expect(describeEvent(event)).toBe('event of an unknown kind: moon.risen');
  });
});

describe('UI-1: an event for programs', () => {
  const lineOf = (event: JournalEvent): unknown =>
    JSON.parse(recordedLine({ seq: 7, time: 0, agent: 'a', event }));

  test('has the spelling of all other views', () => {
    expect(lineOf(agentStarted({ name: 'scout' }))).toMatchObject({
      ...{ seq: 7, type: 'agent.started', agent_type: 'main', permission_mode: 'dontAsk', max_turns: 200 },
    });
    expect(lineOf(responseCompleted())).toMatchObject({ stop_reason: 'end_turn', total_cost_usd: 0.25 });
  });

  test('keeps names that others chose: of a schema, of the input of a call', () => {
    const schema = { type: 'object', properties: { dueDate: { maxLength: 9 } } };
    expect(lineOf(agentStarted({ origin: childOrigin({ schema }) }))).toMatchObject({ origin: { schema } });
    const verdict = { updatedInput: { newName: 1 } };
    expect(lineOf({ type: 'hooks.ran', event: 'PreToolUse', runs: [], verdict })).toMatchObject({
      ...{ verdict: { updated_input: { newName: 1 } } },
    });
  });
});
