import { describe, expect, test } from 'vitest';
import { ChatPrefixCache } from './chat-cache.ts';

const MINUTE = 60_000;
const prompt = (tokens: number, tail = ''): string => 'x'.repeat(tokens * 4) + tail;

/** Sends a prompt to its end; the tokens it read. */
function ask(cache: ChatPrefixCache, text: string, now = 0, salt = 'me'): number {
  const admission = cache.admit(salt, text, now);
  cache.begin(admission);
  return admission.usage.cache_read_input_tokens;
}

describe('EMU-2: automatic caching of chat completions', () => {
  test.each([
    ['below the minimum of 1,024', 1023, 0],
    ['at the minimum', 1024, 1024],
    ['inside a step of 128', 1151, 1024],
    ['one step more', 1152, 1152],
  ])('%s: of %i tokens %i are read the second time', (_, tokens, read) => {
    const cache = new ChatPrefixCache();
    expect(ask(cache, prompt(tokens))).toBe(0);
    expect(ask(cache, prompt(tokens))).toBe(read);
  });

  test('only the common beginning is read, and the rest is input', () => {
    const cache = new ChatPrefixCache();
    ask(cache, prompt(2000, 'a'.repeat(4000)));
    const { usage } = cache.admit('me', prompt(2000, 'b'.repeat(4000)), 0);
    expect(usage).toMatchObject({ cache_read_input_tokens: 1920, input_tokens: 1080 });
  });

  test('a common beginning below the minimum is not read', () => {
    const cache = new ChatPrefixCache();
    ask(cache, prompt(900, 'a'.repeat(4000)));
    expect(ask(cache, prompt(900, 'b'.repeat(4000)))).toBe(0);
  });

  test('what a request writes can be read only once its response has begun', () => {
    const cache = new ChatPrefixCache();
    const first = cache.admit('me', prompt(2000), 0);
    expect(cache.admit('me', prompt(2000), 0).usage.cache_read_input_tokens).toBe(0);
    cache.begin(first);
    expect(cache.admit('me', prompt(2000), 0).usage.cache_read_input_tokens).toBe(1920);
  });

  test('another key or model has another cache', () => {
    const cache = new ChatPrefixCache();
    ask(cache, prompt(2000));
    expect(ask(cache, prompt(2000), 0, 'other')).toBe(0);
  });

  test('a prefix lives for five minutes from its last use', () => {
    const cache = new ChatPrefixCache();
    ask(cache, prompt(2000));
    expect(ask(cache, prompt(2000), 4 * MINUTE)).toBe(1920);
    expect(ask(cache, prompt(2000), 8 * MINUTE)).toBe(1920);
    expect(ask(cache, prompt(2000), 13 * MINUTE)).toBe(0);
  });
});
