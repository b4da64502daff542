/**
 * Chooses the provider (MODEL-1): the one that is named, else the one whose variables are set, Anthropic's first.
 * A base URL without a key is accepted: a local server may not want one, and says so itself if it does.
 */
import { UserMistake } from '../schema/errors.ts';
import { anthropicProvider } from './anthropic/anthropic.ts';
import type { WatchLimits } from './connection-watch.ts';
import type { ModelProvider } from './provider.ts';

export const PROVIDER_KINDS = ['anthropic', 'openai', 'recipe'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** `preference` is what settings say; RAMET_PROVIDER comes before it, as the environment does. */
export function providerKind(env: Environment, preference?: string): ProviderKind {
  const named = env.RAMET_PROVIDER || preference;
  if (named) return knownKind(named, env.RAMET_PROVIDER ? 'RAMET_PROVIDER' : 'the setting "provider"');
  if (env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL) return 'anthropic';
  if (env.OPENAI_API_KEY || env.OPENAI_BASE_URL) return 'openai';
  return 'recipe';
}

function knownKind(name: string, source: string): ProviderKind {
  const kind = PROVIDER_KINDS.find((one) => one === name);
  if (kind !== undefined) return kind;
  const known = PROVIDER_KINDS.join(', ');
  throw new UserMistake('bad_provider', `${source} names no provider: ${name}; it must be one of ${known}`);
}

export async function selectProvider(
  env: NodeJS.ProcessEnv,
  preference?: string,
  watch?: Partial<WatchLimits>,
): Promise<ModelProvider> {
  switch (providerKind(env, preference)) {
    case 'anthropic':
      return anthropic(env, watch);
    case 'openai':
      return openai(env, watch);
    case 'recipe':
      return (await import('./recipe/recipe.ts')).recipeProvider();
  }
}

function anthropic(env: NodeJS.ProcessEnv, watch?: Partial<WatchLimits>): ModelProvider {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL: base } = env;
  if (!apiKey && !authToken && !base) throw noProvider();
  requireSendable('ANTHROPIC_API_KEY', apiKey);
  requireSendable('ANTHROPIC_AUTH_TOKEN', authToken);
  const baseUrl = parseBase('ANTHROPIC_BASE_URL', base || 'https://api.anthropic.com');
  return anthropicProvider({ baseUrl, apiKey, authToken, env, watch });
}

/** Loaded only where it is used: most runs start without it. */
async function openai(env: NodeJS.ProcessEnv, watch?: Partial<WatchLimits>): Promise<ModelProvider> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: base } = env;
  if (!apiKey && !base) {
    throw new UserMistake(
      'no_provider',
      'the provider openai needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, such as http://127.0.0.1:11434/v1',
    );
  }
  requireSendable('OPENAI_API_KEY', apiKey);
  const baseUrl = parseBase('OPENAI_BASE_URL', base || 'https://api.openai.com/v1');
  const { openaiProvider } = await import('./openai/openai.ts');
  return openaiProvider({ baseUrl, apiKey, env, watch });
}

function noProvider(): UserMistake {
  return new UserMistake(
    'no_provider',
    'no model to talk to: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own (`ramet emulate` starts one), or OPENAI_API_KEY or OPENAI_BASE_URL for one that speaks chat completions',
  );
}

/** Keys come from files and pages: a line end or a typographic quote comes with them, and no header takes it. */
function requireSendable(name: string, value: string | undefined): void {
  if (value === undefined || /^[\x20-\x7e]*$/.test(value)) return;
  const message = `${name} holds a line end or another character that cannot be sent: set it again without`;
  throw new UserMistake('bad_key', message);
}

function parseBase(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UserMistake('bad_base_url', `${name} is not an http(s) address: ${text}`);
}
