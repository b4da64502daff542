import { describe, expect, test } from 'vitest';
import { providerKind, selectProvider } from './select-provider.ts';

const BOTH = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };

describe('MODEL-1: which provider is used', () => {
  test.each<[string, Record<string, string>, string | undefined, string]>([
    ['nothing set', {}, undefined, 'recipe'],
    ['a key of Anthropic', { ANTHROPIC_API_KEY: 'a' }, undefined, 'anthropic'],
    ['a token of Anthropic', { ANTHROPIC_AUTH_TOKEN: 'a' }, undefined, 'anthropic'],
    ['both keys', BOTH, undefined, 'anthropic'],
    ['an empty key of Anthropic and one of OpenAI', { ...BOTH, ANTHROPIC_API_KEY: '' }, undefined, 'openai'],
    ['a chat completions address', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, undefined, 'openai'],
    ['both keys and a setting', BOTH, 'openai', 'openai'],
    ['a setting and RAMET_PROVIDER', { ...BOTH, RAMET_PROVIDER: 'recipe' }, 'openai', 'recipe'],
  ])('with %s', (_, env, preference, kind) => {
    expect(providerKind(env, preference)).toBe(kind);
  });

  test.each([
    [
      { RAMET_PROVIDER: 'gemini' },
      undefined,
      /^RAMET_PROVIDER names no provider: gemini; .* anthropic, openai, recipe$/,
    ],
    [{}, 'gemini', /^the setting "provider" names no provider: gemini/],
  ])('a name that is none is refused with those there are', (env, preference, message) => {
    expect(() => providerKind(env, preference)).toThrow(message);
  });

  test.each([
    ['anthropic', BOTH],
    ['openai', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }],
    ['openai', { ...BOTH, RAMET_PROVIDER: 'openai' }],
  ])('%s is opened', async (name, env) => {
    const provider = await selectProvider(env);
    expect(provider.name).toBe(name);
    provider.close();
  });

  test.each<[Record<string, string>, RegExp]>([
    [{ RAMET_PROVIDER: 'openai' }, /needs OPENAI_API_KEY, or OPENAI_BASE_URL/],
    [{ RAMET_PROVIDER: 'anthropic' }, /set ANTHROPIC_API_KEY/],
    [{ OPENAI_BASE_URL: 'localhost' }, /^OPENAI_BASE_URL is not an http\(s\) address: localhost$/],
    [{ OPENAI_API_KEY: 'key\n' }, /^OPENAI_API_KEY holds a line end/],
  ])('%j is a mistake of the user', async (env, message) => {
    await expect(selectProvider(env)).rejects.toMatchObject({
      family: 'mistake',
      message: expect.stringMatching(message),
    });
  });
});
