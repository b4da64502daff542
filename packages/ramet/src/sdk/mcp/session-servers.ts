/** The MCP servers of a session's options, settings and place. Loaded only where there may be one. */
import { isDeepStrictEqual } from 'node:util';
import {
  configuredServers,
  givenServers,
  type PluginServers,
  type ServerReport,
  type WrittenServers,
} from '../../extensions/mcp/configured-servers.ts';
import { partsOfSettings } from '../../extensions/trust/collect-parts.ts';
import { folderOf, partKey } from '../../extensions/trust/folder-part.ts';
import { type FolderTrust, folderTrust, NOT_FOLLOWED } from '../../extensions/trust/folder-trust.ts';
import { type RunCheck, runCheck } from '../../extensions/trust/run-check.ts';
import type { ServerLimits } from '../../settings/other-tools/other-tools.ts';
import { isTrustedPlace } from '../../settings/read-settings.ts';
import type { SettingsLevel, SettingValue } from '../../settings/setting-value.ts';
import type { Settings } from '../../settings/settings.ts';
import { type TrustPlace, trustedTexts } from '../../system/trust.ts';
import type { Place } from '../place.ts';
import { settingsPlace } from '../session/setup/session-settings.ts';
import type { McpServerOptions } from './extension-options.ts';
import { whyLeftOut } from './server-limits.ts';

export interface ServerSources {
  readonly pluginServers?: readonly PluginServers[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Pick<Settings, 'mcpServers' | 'policy'>;
  /** Of the settings files; absent where a program brought settings of its own: then no file is read. */
  readonly serverOrigins?: readonly SettingValue[] | undefined;
  readonly serverLimits?: readonly ServerLimits[] | undefined;
  /** Of the caller, which come first. */
  readonly mcpServers?: McpServerOptions | undefined;
  /** Files of the caller, or their JSON. */
  readonly mcpConfig?: readonly string[] | undefined;
  /** Only those of the caller count. */
  readonly strictMcpServers?: boolean | undefined;
}

export async function serversHere(place: Place, sources: ServerSources): Promise<ServerReport> {
  const { env, settings, serverOrigins, mcpServers, mcpConfig = [], strictMcpServers } = sources;
  const { pluginServers = [], serverLimits = [] } = sources;
  const pluginAt = (source: string): PluginServers | undefined =>
    pluginServers.find((one) => one.source === source);
  const where = settingsPlace(place, env);
  const trust = folderTrust(where);
  const ofProgram = { isForeign: false, folder: place.cwd };
  const given: WrittenServers[] =
    mcpServers === undefined
      ? []
      : [{ scope: 'library', source: 'the option mcpServers', ...ofProgram, servers: mcpServers }];
  const readsFiles = serverOrigins !== undefined && strictMcpServers !== true;
  const looks = readsFiles && !where.isBare;
  const own: WrittenServers[] =
    serverOrigins === undefined && strictMcpServers !== true
      ? [
          {
            scope: 'user',
            source: 'the option settings',
            ...ofProgram,
            servers: settings.mcpServers ?? {},
          },
        ]
      : [];
  return configuredServers(
    {
      folders: looks ? (where.folders ?? [where.root]) : [],
      userHome: looks ? where.userHome : null,
      root: where.root,
      env,
      whyLeftOut: (named) => whyLeftOut(serverLimits, named),
      onlyManaged: settings.policy?.mcpServers === 'managed',
      isTrusted: (source) =>
        pluginAt(source) !== undefined || (isTrustedPlace(where) && isAsTrusted(source, trust)),
      whyWithheld: (source, name) => (trust.isTrusted ? whyChanged(source, name, where) : null),
      checkFor: (source) =>
        pluginAt(source)?.check ?? (trust.isTrusted ? startCheck(source, where, trust) : undefined),
    },
    [
      ...(strictMcpServers === true ? [] : pluginServers.map(ofPlugin)),
      ...(readsFiles ? serverOrigins.map((one) => ofSettings(one, where.root)) : []),
      ...own,
      ...(await Promise.all(mcpConfig.map((one) => givenServers(one, place.cwd)))),
      ...given,
    ],
  );
}

function ofPlugin({ source, servers, check }: PluginServers): WrittenServers {
  return { scope: 'user', source, isForeign: check !== undefined, folder: source, servers };
}

/** The file is what the user trusted. In the user's own folder it is the user's. */
function isAsTrusted(source: string, trust: FolderTrust): boolean {
  if (!trust.isTrusted) return true;
  const parts = partsOfSettings(source).filter(({ kind }) => kind === 'mcp');
  return parts.length > 0 && parts.every((part) => trust.verdictOn(part) === 'trusted');
}

/** What of the file has changed: this server, another one, or a file that one of them runs. */
function whyChanged(source: string, name: string, place: TrustPlace): string | null {
  const part = partsOfSettings(source).find(({ kind }) => kind === 'mcp');
  if (part === undefined) return null;
  const before = trustedTexts(place)[partKey(part, place.root)]?.text;
  const asked = 'ramet trust --show shows the difference';
  if (before === undefined) return `it is new since you trusted this folder: ${asked}`;
  const [was, is] = [serverIn(parsed(before), name), serverIn(part.value, name)];
  if (was === undefined) return `it is new since you trusted this folder: ${asked}`;
  if (!isDeepStrictEqual(was, is)) return `it has changed since you trusted this folder: ${asked}`;
  if (folderTrust(place).verdictOn(part) === 'followed')
    return `it, or another server of its file, runs ${NOT_FOLLOWED}: ramet trust --show shows them`;
  return `its file, or a file that it runs, has changed since you trusted this folder: ${asked}`;
}

function serverIn(value: unknown, name: string): unknown {
  const all = Object(value);
  return Object(all.mcpServers ?? all)[name];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function startCheck(source: string, place: TrustPlace, trust: FolderTrust): RunCheck | undefined {
  const part = partsOfSettings(source).find(({ kind }) => kind === 'mcp');
  return part && runCheck(part, place, trust);
}

const SCOPES: Partial<Record<SettingsLevel, WrittenServers['scope']>> = {
  user: 'user',
  repository: 'project',
  local: 'local',
  'command line': 'command line',
  managed: 'managed',
};

/** What a repository's settings hold counts here only after trust: until then settings withhold it themselves. */
function ofSettings(
  { level, source, path: [, name = ''], value }: SettingValue,
  root: string,
): WrittenServers {
  const isForeign = level === 'repository' || level === 'local';
  return {
    scope: SCOPES[level] ?? 'user',
    source: source ?? 'settings',
    isForeign,
    folder: isForeign && source !== null ? folderOf(source) : root,
    servers: { [name]: value },
  };
}
