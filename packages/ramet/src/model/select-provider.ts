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
  requireSendable('ANTHROPIC_API_KEY', apiKey);
  requireSendable('ANTHROPIC_AUTH_TOKEN', authToken);
  return anthropicProvider({ baseUrl: parseBase(base || DEFAULT_BASE_URL), apiKey, authToken, env });
}

/** Keys come from files and pages: a line end or a typographic quote comes with them, and no header takes it. */
function requireSendable(name: string, value: string | undefined): void {
  if (value === undefined || /^[\x20-\x7e]*$/.test(value)) return;
  const message = `${name} holds a line end or another character that cannot be sent: set it again without`;
  throw new UserMistake('bad_key', message);
}

function parseBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UserMistake('bad_base_url', `ANTHROPIC_BASE_URL is not an http(s) address: ${text}`);
}
