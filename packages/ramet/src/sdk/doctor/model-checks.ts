/** Which models can be reached, and how. Keys are named, never shown; nothing is sent. */
import { existsSync } from 'node:fs';
import { selectProvider } from '../../model/select-provider.ts';
import { describeError } from '../../schema/errors.ts';
import { describeSettings } from '../session/setup/session-settings.ts';
import { type DoctorContext, type HealthCheck, limited, missing, ok } from './health-check.ts';

const KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY'];
const ADDRESSES = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'];
const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

export async function checkProvider({ caller: { env }, place }: DoctorContext): Promise<HealthCheck> {
  const set = [
    ...KEYS.filter((name) => env[name]).map((name) => `${name} is set`),
    ...ADDRESSES.filter((name) => env[name]).map((name) => `${name} is ${originOf(env[name] ?? '')}`),
  ];
  const means = set.length === 0 ? 'no key is set' : set.join(', ');
  try {
    const { settings, values } = await describeSettings(place, env);
    const provider = await selectProvider(env, settings.provider);
    provider.close();
    const isChosen = values.some(({ path, level }) => path[0] === 'provider' && level !== 'default');
    if (provider.onlyModel === undefined || isChosen) return ok('model', `${provider.name}: ${means}`);
    const remedy = 'set ANTHROPIC_API_KEY or OPENAI_API_KEY to have a model that thinks';
    return limited('model', `${provider.name}: ${means}`, remedy);
  } catch (error) {
    return missing('model', means, withoutAddresses(describeError(error), env));
  }
}

export function checkNetwork(env: NodeJS.ProcessEnv): HealthCheck {
  const proxies = PROXIES.filter((name) => env[name]);
  const wrong = proxies.find((name) => !URL.canParse(env[name] ?? ''));
  if (wrong !== undefined)
    return limited('network', `${wrong} is not an address`, `write it like http://proxy.example:3128`);
  const certificates = env.NODE_EXTRA_CA_CERTS;
  if (certificates && !existsSync(certificates)) {
    const remedy = 'name the file of your certificates, or unset NODE_EXTRA_CA_CERTS';
    return limited('network', `NODE_EXTRA_CA_CERTS names ${certificates}, which does not exist`, remedy);
  }
  const parts = [
    ...proxies.map((name) => `${name} is ${originOf(env[name] ?? '')}`),
    ...['NO_PROXY', 'no_proxy'].filter((name) => env[name]).map((name) => `${name} is ${env[name]}`),
    ...(certificates ? [`certificates of ${certificates}`] : []),
  ];
  return ok('network', parts.length === 0 ? 'direct, no proxy is set' : parts.join(', '));
}

/** A message may quote the address that it complains of. */
function withoutAddresses(message: string, env: NodeJS.ProcessEnv): string {
  return ADDRESSES.reduce((text, name) => text.replaceAll(env[name] || name, name), message);
}

/** Without user name and password, which an address may hold. */
function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'not an address';
}
