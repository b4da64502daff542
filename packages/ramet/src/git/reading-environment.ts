/**
 * What a command that nobody was asked about gets besides, or instead of, the environment of an agent's programs: it
 * only reads, so it runs nothing that the folder's git configuration names (SEC-1), fetches nothing in
 * secret, and needs no password of a proxy.
 */
import { folderGuard, NO_TRANSPORT } from './folder-guard.ts';

/** `env` is that of the agent's programs. */
export async function readingEnvironment(
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const { environment } = await folderGuard(cwd, { env, lenient: true });
  return { ...NO_TRANSPORT, ...withoutPasswords(env), ...environment };
}

/** Addresses with a name and a password in front of the host: `http://name:password@proxy:8080`. */
const CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/|)[^/\s]*@/i;

function withoutPasswords(env: Readonly<Record<string, string>>): Record<string, string> {
  const proxies = Object.entries(env).filter(
    ([name, value]) => /_proxy$/i.test(name) && CREDENTIALS.test(value),
  );
  return Object.fromEntries(proxies.map(([name, value]) => [name, value.replace(CREDENTIALS, '$1')]));
}
