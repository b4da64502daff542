import { describe, expect, test } from 'vitest';
import type { HookEventName } from './hook-event.ts';
import { answerOfCommand, answerOfValue } from './hook-reply.ts';

const printed = (event: HookEventName, stdout: string) =>
  answerOfCommand(event, { code: 0, signal: null, stdout, stderr: '', isText: true, isCut: false });
const specific = (hookEventName: string, fields: object) => ({
  hookSpecificOutput: { hookEventName, ...fields },
});
const behavior = { decision: { behavior: 'deny', message: 'never' } };
const word = { permissionDecision: 'deny', permissionDecisionReason: 'never' };

describe('EXT-2: what a hook answers about a call', () => {
  test.for([
    ['PermissionRequest', 'its own form without the object around it', behavior],
    ['PermissionRequest', 'the form of the other event without it', word],
    [
      'PermissionRequest',
      'a no beside a yes',
      { ...behavior, ...specific('PermissionRequest', { decision: { behavior: 'allow' } }) },
    ],
    ['PreToolUse', 'its own form without the object around it', word],
    ['PreToolUse', 'the form of the other event', specific('PreToolUse', behavior)],
    ['PreToolUse', 'that without the object around it', behavior],
    [
      'PreToolUse',
      'a no beside a yes',
      { ...word, ...specific('PreToolUse', { permissionDecision: 'allow' }) },
    ],
  ] as const)('%s: %s is a no', ([event, , value]) => {
    expect(answerOfValue(event, value)).toMatchObject({ reply: { decision: 'deny', reason: 'never' } });
  });

  test('a yes in these forms is one', () => {
    const yes = { decision: { behavior: 'allow', updatedInput: { n: 2 } } };
    const reply = { decision: 'allow', updatedInput: { n: 2 } };
    expect(answerOfValue('PermissionRequest', yes)).toMatchObject({ reply });
    expect(answerOfValue('PreToolUse', { permissionDecision: 'allow' })).toMatchObject({
      reply: { decision: 'allow' },
    });
  });

  test('changes the input with the yes that it is for, and without one only before the call', () => {
    const yes = { permissionDecision: 'allow', updatedInput: { n: 2 } };
    for (const event of ['PreToolUse', 'PermissionRequest'] as const)
      for (const value of [yes, specific(event, yes)])
        expect(answerOfValue(event, value)).toMatchObject({
          reply: { decision: 'allow', updatedInput: { n: 2 } },
        });
    const changed = (event: HookEventName) =>
      answerOfValue(event, specific(event, { updatedInput: { n: 2 } }));
    expect(changed('PreToolUse')).toMatchObject({ reply: { updatedInput: { n: 2 } } });
    expect(changed('PermissionRequest')).not.toMatchObject({ reply: { updatedInput: { n: 2 } } });
    const both = { decision: 'ask', ...specific('PreToolUse', { permissionDecision: 'allow' }) };
    expect(answerOfValue('PreToolUse', both)).toMatchObject({ reply: { decision: 'ask' } });
  });

  test.for([
    ['PreToolUse', { blocked: true }, 'blocked'],
    ['PreToolUse', { allow: false, reason: 'no' }, 'allow'],
    ['PreToolUse', { continue: 'false' }, 'continue'],
    ['PreToolUse', { result: { action: 'Deny' } }, 'result.action'],
    ['PreToolUse', specific('PreToolUse', { behavior: 'deny' }), 'hookSpecificOutput.behavior'],
    ['PreToolUse', { permission_decision: 'deny' }, 'permission_decision'],
    [
      'PermissionRequest',
      specific('PermissionRequest', { decision: { allow: false } }),
      'hookSpecificOutput.decision.allow',
    ],
    ['Stop', { ok: false }, 'ok'],
    ['Stop', behavior, 'decision.behavior'],
    ['Stop', specific('Stop', { decision: 'block' }), 'hookSpecificOutput.decision'],
    ['UserPromptSubmit', word, 'permissionDecision'],
    ['TaskCompleted', { status: 'rejected' }, 'status'],
  ] as const)(
    'SEC-1: %s: %j, a no that is not understood, is a failure that names it',
    ([event, value, name]) => {
      expect(answerOfValue(event, value)).toEqual({
        failure: expect.stringContaining(`it seems to refuse by ${name}, which is not understood`),
      });
    },
  );

  test.for([
    '{"decision": "block"',
    'checking\n{"decision": "block"}',
    '[{"decision": "block"}]',
    '"deny"',
    'checking\nDENIED: no curl here',
    'Blocked by policy',
  ])('SEC-1: %j, printed with exit code 0, is a failure that names it', (text) => {
    for (const event of ['PreToolUse', 'PermissionRequest'] as const)
      expect(printed(event, text)).toHaveProperty('failure');
  });

  test('what says nothing of the kind is none', () => {
    for (const value of [
      {},
      { suppressOutput: true, ok: true, blocked: false, stopped: 'denied earlier' },
      { decision: 'approve', denied: [], status: 'allowed' },
      specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { block: true, action: 'deny' } }),
      { decision: 'block', blocked: true },
    ])
      expect(answerOfValue('PreToolUse', value)).toHaveProperty('reply');
    for (const text of [
      '',
      'checked 3 files',
      'no problems',
      'see https://x/deny',
      '{"a": 1}',
      'Denylist read',
    ])
      expect(printed('PreToolUse', text)).toHaveProperty('reply');
    expect(printed('UserPromptSubmit', 'Blocked tickets: 3')).toEqual({
      reply: { context: 'Blocked tickets: 3' },
    });
    expect(answerOfValue('SessionEnd', { decision: 'block', ok: false })).toHaveProperty('reply');
  });
});
