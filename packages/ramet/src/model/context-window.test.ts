import { describe, expect, test } from 'vitest';
import {
  ASSUMED_CONTEXT_WINDOW,
  contextWindowOf,
  isContextOverflow,
  statedContextWindow,
} from './catalog.ts';

describe('RES-7: the context window of a model', () => {
  test('is a million where a source says so, under every name of the model', () => {
    const names = ['claude-opus-4-6', 'claude-sonnet-5', 'claude-opus-5-5', 'claude-sonnet-4-6-20260101'];
    expect(names.map(contextWindowOf)).toEqual(names.map(() => 1_000_000));
  });

  test('is assumed where none does', () => {
    const names = ['claude-haiku-4-5', 'claude-haiku-5-5', 'another-model'];
    expect(names.map(contextWindowOf)).toEqual(names.map(() => ASSUMED_CONTEXT_WINDOW));
  });

  test.each([
    ['prompt is too long: 215000 tokens > 200000 maximum', 200_000],
    ['input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it', 200_000],
    ["This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192],
    ['the request exceeds the context window size (32768 tokens)', 32_768],
    ['request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it', 8192],
    ['http://127.0.0.1:8787 answered 400 prompt is too long', undefined],
  ])('is learned from "%s"', (message, window) => {
    expect(isContextOverflow(message)).toBe(true);
    expect(statedContextWindow(message)).toBe(window);
  });

  test.each(['max_tokens: 99999 > 64000, which is the maximum', 'messages: text is empty', ''])(
    'is not what "%s" is about',
    (message) => {
      expect(isContextOverflow(message)).toBe(false);
    },
  );
});
