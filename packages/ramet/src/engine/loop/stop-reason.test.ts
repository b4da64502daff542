import { describe, expect, test } from 'vitest';
import type { ModelResponse } from '../../model/provider.ts';
import type { AssistantBlock } from '../../schema/content.ts';
import { nextStep } from './stop-reason.ts';

const TEXT: AssistantBlock = { type: 'text', text: 'hello' };
const THINKING: AssistantBlock = { type: 'thinking', thinking: 'hm', signature: 's' };
const CALL: AssistantBlock = { type: 'tool_use', id: 't', name: 'Read', input: {} };

function response(stopReason: string, blocks: AssistantBlock[], cutToolUse = false): ModelResponse {
  return {
    id: 'msg',
    model: 'm',
    stopReason,
    blocks: blocks.map((value) => ({ value, json: JSON.stringify(value) })),
    cutToolUse,
    usage: null,
    rate: {},
    firstTokenMs: 0,
    durationMs: 0,
  };
}

const fresh = { repeats: 0, maxTokens: 16_000 };

describe('MODEL-2: every stop reason has its behaviour', () => {
  test.each([
    ['end_turn', [TEXT], { kind: 'finish' }],
    ['stop_sequence', [TEXT], { kind: 'finish' }],
    ['something_new', [TEXT], { kind: 'finish' }],
    ['tool_use', [TEXT, CALL], { kind: 'run_tools', calls: [CALL] }],
    ['end_turn', [CALL], { kind: 'run_tools', calls: [CALL] }],
    [
      'tool_use',
      [TEXT],
      { kind: 'ask_again', keep: true, notice: expect.stringContaining('contained none') },
    ],
    ['tool_use', [], { kind: 'ask_again', keep: false, notice: expect.stringContaining('contained none') }],
    ['pause_turn', [TEXT], { kind: 'ask_again', keep: true }],
    ['pause_turn', [CALL], { kind: 'run_tools', calls: [CALL] }],
    ['end_turn', [THINKING], { kind: 'ask_again', keep: true, notice: expect.stringContaining('empty') }],
    ['max_tokens', [TEXT], { kind: 'ask_again', keep: true, notice: expect.stringContaining('cut off') }],
    ['max_tokens', [CALL], { kind: 'run_tools', calls: [CALL] }],
    ['max_tokens', [], { kind: 'ask_again', keep: false, notice: expect.any(String) }],
    ['end_turn', [], { kind: 'ask_again', keep: false, notice: expect.stringContaining('empty') }],
    ['recipe_failed', [TEXT], { kind: 'fail', keep: true, cause: 'recipe', message: 'hello' }],
    ['refusal', [TEXT], { kind: 'fail', keep: false, cause: 'refusal' }],
    ['model_context_window_exceeded', [TEXT], { kind: 'fail', keep: false, cause: 'context_window' }],
  ])('%s with %j', (reason, blocks, expected) => {
    expect(nextStep(response(reason, blocks), fresh)).toMatchObject(expected);
  });

  test('a cut tool call is asked for again with more room, up to the most there is', () => {
    const cut = response('max_tokens', [TEXT], true);
    expect(nextStep(cut, fresh)).toEqual({ kind: 'ask_again', keep: false, maxTokens: 32_000 });
    expect(nextStep(cut, { repeats: 2, maxTokens: 64_000 })).toMatchObject({
      kind: 'fail',
      cause: 'max_tokens',
    });
  });

  test.each([
    ['max_tokens', [TEXT], 'max_tokens'],
    ['pause_turn', [TEXT], 'pause_turn'],
    ['end_turn', [], 'no_answer'],
    ['tool_use', [TEXT], 'no_call'],
  ])('asking again for %s ends after three times in a row', (reason, blocks, cause) => {
    const step = nextStep(response(reason, blocks), { repeats: 3, maxTokens: 16_000 });
    expect(step).toMatchObject({ kind: 'fail', cause });
  });
});
