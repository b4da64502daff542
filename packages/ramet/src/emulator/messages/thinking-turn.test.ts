import { describe, expect, test } from 'vitest';
import type { WireBlock, WireRequest } from './message-request.ts';
import { sealThinking } from './thinking-seal.ts';
import { ThinkingTurns } from './thinking-turn.ts';

const thought = (text: string): WireBlock => ({
  type: 'thinking',
  thinking: text,
  signature: sealThinking('here', text),
});
const call: WireBlock = { type: 'tool_use', id: 'a', name: 'T', input: {} };
const given = [thought('one'), thought('two'), call];

function request(content: WireBlock[], more: Partial<WireRequest> = {}, next?: WireBlock): WireRequest {
  const answer = next ?? { type: 'tool_result', tool_use_id: 'a', content: 'r' };
  return {
    model: 'm',
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content },
      { role: 'user', content: [answer] },
    ],
    ...more,
  };
}

function check(asked: WireRequest): void {
  const turns = new ThinkingTurns();
  turns.remember('m', given);
  turns.check(asked);
}

describe('EMU-2: thinking inside a tool loop', () => {
  test.each<[string, WireRequest]>([
    ['it is unmodified', request(given)],
    ['its text was never shown', request([{ ...thought('one'), thinking: '' }, thought('two'), call])],
    ['another model is asked', request([call], { model: 'other' })],
    ['thinking is switched off', request([call], { thinking: { type: 'disabled' } })],
    ['the turn is over', request([call], {}, { type: 'text', text: 'new question' })],
    [
      'the call was never given out',
      request([{ ...call, id: 'b' }], {}, { type: 'tool_result', tool_use_id: 'b' }),
    ],
  ])('is accepted when %s', (_, asked) => {
    expect(() => check(asked)).not.toThrow();
  });

  test.each<[string, WireBlock[]]>([
    ['its text was changed', [{ ...thought('one'), thinking: 'won' }, thought('two'), call]],
    ['it is left out', [call]],
    ['a block of it is left out', [thought('one'), call]],
    ['its order was changed', [thought('two'), thought('one'), call]],
    ['its signature was changed', [{ ...thought('one'), signature: 's' }, thought('two'), call]],
  ])('is refused when %s', (_, content) => {
    expect(() => check(request(content))).toThrow('cannot be modified');
  });

  test('a call id used in two conversations accepts the thinking of either', () => {
    const turns = new ThinkingTurns();
    turns.remember('m', given);
    turns.remember('m', [thought('other'), call]);
    expect(() => turns.check(request([thought('other'), call]))).not.toThrow();
    expect(() => turns.check(request(given))).not.toThrow();
  });
});
