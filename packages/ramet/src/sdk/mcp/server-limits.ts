/** Which MCP servers the settings of another tool leave out: they narrow, so they count always. */
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PROJECT_FILE } from '../../extensions/mcp/configured-servers.ts';
import type { ServerLimits } from '../../settings/other-tools/other-tools.ts';

interface NamedServer {
  readonly name: string;
  /** The file that sets it up. */
  readonly source: string;
  readonly server: unknown;
}

/** The reason, for lists; null for a server that counts. */
export function whyLeftOut(
  limits: readonly ServerLimits[],
  { name, source, server }: NamedServer,
): string | null {
  const denying = limits.find(({ denied }) => denied.some((entry) => isMeant(entry, name, Object(server))));
  if (denying !== undefined) return `deniedMcpServers in ${denying.place}`;
  if (basename(source) !== PROJECT_FILE) return null;
  const disabling = limits.find(({ disabled }) => disabled.includes(name));
  if (disabling !== undefined) return `disabledMcpjsonServers in ${disabling.place}`;
  const choosing = limits.filter(({ enabled }) => enabled.length > 0);
  const isOpen = choosing.length === 0 || limits.some(({ takesAll }) => takesAll);
  if (isOpen || choosing.some(({ enabled }) => enabled.includes(name))) return null;
  return `not among enabledMcpjsonServers in ${choosing.map(({ place }) => place).join(', ')}`;
}

function isMeant(
  entry: unknown,
  name: string,
  { command, args = [], url }: Record<string, unknown>,
): boolean {
  const { serverName, serverCommand, serverUrl } = Object(entry);
  if (serverName === name) return true;
  if (Array.isArray(serverCommand) && command !== undefined)
    return isDeepStrictEqual(serverCommand, [command, ...(Array.isArray(args) ? args : [])]);
  if (typeof serverUrl !== 'string' || typeof url !== 'string') return false;
  return new RegExp(`^${serverUrl.split('*').map(RegExp.escape).join('.*')}$`).test(url);
}
