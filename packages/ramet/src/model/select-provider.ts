/** Chooses the provider from the environment (MODEL-1). */
import { UserMistake } from '../schema/errors.ts';
import { anthropicProvider } from './anthropic.ts';
import type { ModelProvider } from './provider.ts';

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** A base URL without a key is accepted: a local server may not want one, and says so itself if it does. */
export function selectProvider(env: NodeJS.ProcessEnv): ModelProvider {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL: base } = env;
  if (!apiKey && !authToken && !base) {
    throw new UserMistake(
      'no_provider',
      'no model to talk to: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own (`ramet emulate` starts one)',
    );
  }
  return anthropicProvider({ baseUrl: parseBase(base || DEFAULT_BASE_URL), apiKey, authToken, env });
}

function parseBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UserMistake('bad_base_url', `ANTHROPIC_BASE_URL is not an http(s) address: ${text}`);
}
