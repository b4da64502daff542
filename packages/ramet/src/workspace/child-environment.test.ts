import { describe, expect, test } from 'vitest';
import { childEnvironment } from './child-environment.ts';

describe('SEC-1: the environment of child programs', () => {
  test('carries no model keys and no secrets of Ramet', () => {
    const env = {
      ANTHROPIC_API_KEY: 'a',
      ANTHROPIC_AUTH_TOKEN: 'b',
      ANTHROPIC_CUSTOM_HEADERS: 'x-key: c',
      OPENAI_API_KEY: 'd',
      RAMET_SERVER_TOKEN: 'e',
      RAMET_TOKEN: 'f',
      RAMET_MEMORY_KEY_FILE: 'g',
    };
    expect(childEnvironment(env)).toEqual({});
  });

  test('carries everything else, and leaves its source alone', () => {
    const env = { PATH: '/bin', RAMET_HOME: '/r', RAMET_MODEL_HAIKU: 'm', MY_TOKEN: 't', GONE: undefined };
    const child = childEnvironment(env);
    expect(child).toEqual({ PATH: '/bin', RAMET_HOME: '/r', RAMET_MODEL_HAIKU: 'm', MY_TOKEN: 't' });
    child.PATH = '/other';
    expect(env.PATH).toBe('/bin');
  });
});
