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
    ['PreToolUse', { permission: 'deny', user_message: 'no curl' }, 'permission'],
    ['PreToolUse', { decision: { type: 'deny' } }, 'decision.type'],
    ['PreToolUse', specific('PreToolUse', { permission: 'deny' }), 'hookSpecificOutput.permission'],
    ['Stop', { permission: 'deny' }, 'permission'],
    ['Stop', { exit_code: 2 }, 'exit_code'],
    ['Stop', { valid: false }, 'valid'],
    ['PreToolUse', { continue: true, cancel: true }, 'cancel'],
    ['PreToolUse', { decision: 'approve', safe: false }, 'safe'],
    ['UserPromptSubmit', { shouldContinue: false }, 'shouldContinue'],
  ] as const)(
    'SEC-1: %s: %j, a no that is not understood, is a failure that names it',
    ([event, value, name]) => {
      expect(answerOfValue(event, value)).toEqual({
        failure: expect.stringContaining(`it seems to refuse by ${name}, which is not understood`),
      });
    },
  );

  test.for([
    [{ cancel: true }, 'cancel'],
    [{ abort: true }, 'abort'],
    [{ stop: true }, 'stop'],
    [{ exit_code: 2 }, 'exit_code'],
    [{ safe: false }, 'safe'],
    [{ valid: false }, 'valid'],
    [{ shouldContinue: false }, 'shouldContinue'],
    [{ type: 'block' }, 'type'],
    [{ error: 'blocked' }, 'error'],
    [{ reason: 'not allowed' }, 'reason'],
    [{ decisions: ['deny'] }, 'decisions'],
    [{ risk: 9, ok: true }, 'risk'],
    [{ compliant: false }, 'compliant'],
    [{ stopped: 'denied earlier' }, 'stopped'],
    [{ verdicts: [{ rule: 'no-curl', level: 'high' }] }, 'verdicts.rule'],
    [{ message: 'Access denied: no curl' }, 'message'],
    [{ suppressOutput: true, decision: { kind: 'never' } }, 'decision.kind'],
  ] as const)(
    'SEC-1: %j around a call, in fields that are not known, is a failure that names %s',
    ([value, name]) => {
      for (const event of ['PreToolUse', 'PermissionRequest'] as const) {
        const failure = expect.stringMatching(`\\b${name}\\b.*not understood`);
        expect(answerOfValue(event, value)).toEqual({ failure });
      }
    },
  );

  test('what a hook prints of its own, and of its input, is harmless around a call', () => {
    const input = { session_id: 's', cwd: '/', tool_name: 'Bash', tool_input: { action: 'deny', n: 1 } };
    for (const value of [
      input,
      { continue: true, suppressOutput: true, checked: 3 },
      { status: 'ok', success: true, error: null, warnings: [], exit_code: 0, failed: false },
      { message: 'checked 3 files', timestamp: '2026-11-20', duration_ms: 12 },
      { result: 'allow', blocked: false },
      { systemMessage: 'formatted', files: 3 },
      { additionalContext: 'use npm', score: 4 },
      { updatedInput: { n: 2 }, changed: true },
      { decision: 'approve', reason: 'fine', rule: 'r1' },
      specific('PreToolUse', {}),
      { decision: null, reason: '' },
    ])
      expect([value, answerOfValue('PreToolUse', value)]).toEqual([value, { reply: expect.anything() }]);
  });

  test('SEC-1: a field that is there twice is a failure', () => {
    for (const text of [
      '{"decision": "block", "decision": "approve"}',
      '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}',
    ])
      expect(printed('PreToolUse', text)).toEqual({ failure: expect.stringContaining('twice') });
    for (const text of [
      '{"tool_input": {"a": 1, "a": 2}}',
      '{"decision": "approve", "reason": "\\"decision\\": {\\"decision\\": 1"}',
      '{"reason": "x", "decision": "approve", "hookSpecificOutput": {"decision": {"reason": 1}}}',
    ])
      expect(printed('PreToolUse', text)).toHaveProperty('reply');
  });

  test.for([
    'Access denied',
    'Permission denied.',
    'ERROR: blocked',
    '\x1b[31mDENIED\x1b[0m no curl',
    '❌ Command not allowed',
    'This tool call was blocked by policy',
  ])('SEC-1: %j, printed with exit code 0, is a no that is not understood', (text) => {
    expect(printed('PreToolUse', text)).toHaveProperty('failure');
    expect(printed('PostToolUse', text)).toHaveProperty('reply');
  });

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

  test.for(['SessionStart', 'SubagentStart'] as const)(
    '%s: decision: block is a failure that says what ends it',
    (event) => {
      for (const value of [
        { decision: 'block', reason: 'no' },
        specific(event, { permissionDecision: 'deny' }),
      ])
        expect(answerOfValue(event, value)).toEqual({
          failure: expect.stringMatching(/(?:d|permissionD)ecision.*"continue": false/),
        });
      expect(answerOfValue(event, { decision: 'block', continue: false })).toHaveProperty('reply');
      expect(answerOfValue(event, { decision: 'approve' })).toHaveProperty('reply');
    },
  );

  test.for([
    ['PreToolUse', { additionalContext: 'CTX' }, { context: 'CTX' }],
    ['PermissionRequest', { additionalContext: 'CTX' }, { context: 'CTX' }],
    [
      'PostToolUse',
      { additionalContext: 'CTX', updatedToolOutput: 'NEW' },
      { context: 'CTX', updatedOutput: 'NEW' },
    ],
    ['PostToolUseFailure', { additionalContext: 'CTX' }, { context: 'CTX' }],
    ['PostToolBatch', { additionalContext: 'CTX' }, { context: 'CTX' }],
    ['PermissionDenied', { additionalContext: 'CTX' }, { context: 'CTX' }],
    ['PostToolUse', { updatedToolOutput: { n: 1 } }, { updatedOutput: '{"n":1}' }],
    [
      'PostToolUse',
      {
        additionalContext: 'a',
        ...specific('PostToolUse', { additionalContext: 'b', updatedToolOutput: 'c' }),
      },
      { context: 'a\nb', updatedOutput: 'c' },
    ],
  ] as const)('%s: %j counts without the object around it', ([event, value, reply]) => {
    expect(answerOfValue(event, value)).toMatchObject({ reply });
  });

  test('what says nothing of the kind is none', () => {
    for (const value of [
      {},
      { suppressOutput: true, ok: true, blocked: false },
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
      '{"a": null}',
      'Denylist read',
      'Permission mode is default',
      '0 commands blocked',
    ])
      expect(printed('PreToolUse', text)).toHaveProperty('reply');
    expect(printed('UserPromptSubmit', 'Blocked tickets: 3')).toEqual({
      reply: { context: 'Blocked tickets: 3' },
    });
    expect(answerOfValue('SessionEnd', { decision: 'block', ok: false })).toHaveProperty('reply');
  });
});

describe('EXT-2: an answer to what a server asks', () => {
  test.for([
    ['Elicitation', { action: 'accept', content: { name: 'x' } }, 'action'],
    ['Elicitation', { action: 'decline' }, 'action'],
    ['ElicitationResult', { content: { name: 'x' } }, 'content'],
    ['Elicitation', specific('Elicitation', { content: { name: 'x' } }), 'action'],
  ] as const)('%s: %j is told', ([event, value, named]) => {
    expect(answerOfValue(event, value)).toEqual({ failure: expect.stringContaining(named) });
  });
});
