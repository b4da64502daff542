/** Which plugins a session has: those it is given, those that settings name, those in `$RAMET_HOME/plugins`. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type ExtensionPlace,
  installedPlugins,
  isBare,
  type PluginFolder,
  realOrSame,
} from '../../extensions/extension-places.ts';
import type { HookEntry } from '../../extensions/hooks/hook-config.ts';
import type { PluginServers } from '../../extensions/mcp/configured-servers.ts';
import type { RunCheck } from '../../extensions/trust/run-check.ts';
import { UserMistake } from '../../schema/errors.ts';
import { POLICY_HOOKS, POLICY_PLUGINS, POLICY_SERVERS } from '../../settings/setting-value.ts';
import type { Settings, SettingsInForce, SettingsPlace } from '../../settings/settings.ts';
import { managedFolders } from '../../system/home.ts';
import { isInside } from '../../system/landing-path.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';
import { sessionSettings, settingsPlace } from '../session/setup/session-settings.ts';
import type { SessionOptions } from '../session-options.ts';

export interface PluginOrder extends Pick<SettingsInForce, 'settings' | 'managed'> {
  env: NodeJS.ProcessEnv;
  /** Folders that the caller names: one that is no plugin is a mistake. */
  pluginDirs?: readonly string[] | undefined;
}

export interface FoundPlugins {
  plugins: readonly PluginFolder[];
  /** One line each. */
  problems: readonly string[];
}

export async function findPlugins(place: Place, order: PluginOrder): Promise<FoundPlugins> {
  const { settings, managed = {}, pluginDirs = [] } = order;
  const ofManaged = settings.policy?.plugins === 'managed';
  if (ofManaged && pluginDirs.length > 0)
    throw new UserMistake(
      'policy',
      'managed policy of this machine allows only its own plugins: leave --plugin-dir out',
    );
  const given = pluginDirs.map((path) => ({ path: requireFolder(resolve(place.cwd, path)) }));
  const stated = ((ofManaged ? managed : settings).plugins ?? []).map((name) => ({
    path: resolved(name, place, order),
    stated: name,
  }));
  const installed = isBare(order.env) ? [] : installedPlugins(place.home);
  if (!ofManaged) return readAll([...given, ...stated, ...installed.map((path) => ({ path }))]);
  const { plugins, problems } = await readAll(stated);
  const left = installed.filter((path) => !stated.some((one) => one.path === path));
  return { plugins, problems: [...problems, ...left.map((path) => `${path}: left out, ${POLICY_PLUGINS}`)] };
}

/** Those that a session of this place would have, for calls that open none. */
export async function pluginsHere(
  place: Place,
  env: NodeJS.ProcessEnv,
  { settings, plugins }: Pick<SessionOptions, 'settings' | 'plugins'> = {},
): Promise<FoundPlugins> {
  const inForce = await sessionSettings({ cwd: place.cwd, env, ...(settings !== undefined && { settings }) });
  return findPlugins(place, { ...inForce, env, pluginDirs: plugins });
}

/** Without any, nothing is loaded. */
async function readAll(
  folders: readonly { readonly path: string; readonly stated?: string }[],
): Promise<FoundPlugins> {
  if (folders.length === 0) return { plugins: [], problems: [] };
  const { readPlugin } = await import('../../extensions/plugins/read-plugin.ts');
  const plugins = new Map<string, PluginFolder>();
  const problems: string[] = [];
  for (const { path: folder, stated } of folders) {
    const read = isFolder(folder)
      ? readPlugin(folder)
      : { problem: `${folder}: there is no such plugin folder` };
    if ('problem' in read) {
      problems.push(read.problem);
      continue;
    }
    problems.push(...read.notes);
    const { name, root } = read.plugin;
    const winner = plugins.get(name);
    if (winner === undefined) plugins.set(name, { ...read.plugin, stated });
    else if (winner.root !== root)
      problems.push(`${root}: the plugin ${name} is in ${winner.root} already: left out`);
  }
  return { plugins: [...plugins.values()], problems };
}

function requireFolder(path: string): string {
  if (isFolder(path)) return path;
  throw new UserMistake(
    'no_plugin',
    `there is no folder ${path}: give the folder of a plugin (plugins, --plugin-dir)`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

function resolved(path: string, { cwd, repository }: Place, { env }: PluginOrder): string {
  if (path.startsWith('~/') && env.HOME) return join(env.HOME, path.slice(2));
  return resolve(repository?.root ?? cwd, path);
}

/** Where agents, skills and commands of a place are looked for. */
export function extensionPlace(
  { cwd, repository, home }: Place,
  env: NodeJS.ProcessEnv,
  plugins: readonly PluginFolder[],
): ExtensionPlace {
  return {
    cwd,
    root: repository?.root ?? cwd,
    home,
    userHome: env.HOME ? resolve(env.HOME) : null,
    managed: managedFolders(env),
    isBare: isBare(env),
    plugins,
  };
}

/** The options of a session with what plugins bring to it: hooks, and servers whose names begin with the plugin's. */
export async function withPlugins(
  settings: ResolvedOptions,
  plugins: readonly PluginFolder[],
  place: Place,
): Promise<ResolvedOptions> {
  const bringing = plugins.filter(({ hooks, servers }) => hooks !== undefined || servers !== undefined);
  if (bringing.length === 0) return settings;
  const lost = pluginLosses(plugins, settings.settings).filter(({ field }) => field === 'hooks');
  const hooks = lost.length > 0 ? [] : await hooksOf(bringing, place, settings.env);
  // Servers that policy leaves out are named with the other servers.
  const names = lost.map(({ plugin }) => plugin.name).join(', ');
  const notices = lost.length === 0 ? [] : [`${POLICY_HOOKS}; left out of the plugins ${names}`];
  return {
    ...settings,
    hooks: [...settings.hooks, ...hooks],
    pluginServers: await serversOf(bringing, place, settings.env),
    notices: [...settings.notices, ...notices],
  };
}

/** What managed policy leaves out of a plugin. */
export interface PluginLoss {
  readonly plugin: PluginFolder;
  readonly field: 'hooks' | 'mcpServers';
  readonly why: string;
}

export function pluginLosses(
  plugins: readonly PluginFolder[],
  { policy }: Pick<Settings, 'policy'>,
): PluginLoss[] {
  return plugins.flatMap((plugin): PluginLoss[] => [
    ...(policy?.hooks === 'managed' && plugin.hooks !== undefined
      ? [{ plugin, field: 'hooks' as const, why: POLICY_HOOKS }]
      : []),
    ...(policy?.mcpServers === 'managed' && plugin.servers !== undefined
      ? [{ plugin, field: 'mcpServers' as const, why: POLICY_SERVERS }]
      : []),
  ]);
}

async function hooksOf(
  plugins: readonly PluginFolder[],
  place: Place,
  env: NodeJS.ProcessEnv,
): Promise<HookEntry[]> {
  const hooks: HookEntry[] = [];
  for (const plugin of plugins) {
    if (plugin.hooks === undefined) continue;
    const check = await pluginCheck(plugin, settingsPlace(place, env));
    const variables = { CLAUDE_PLUGIN_ROOT: plugin.root };
    const source = { label: `plugin ${plugin.name}`, variables, ...(check && { check }) };
    for (const value of plugin.hooks) hooks.push({ value, source });
  }
  return hooks;
}

/** MCP servers that plugins bring, for sessions and for calls that list them. */
export async function serversOf(
  plugins: readonly PluginFolder[],
  place: Place,
  env: NodeJS.ProcessEnv,
): Promise<PluginServers[]> {
  const found: PluginServers[] = [];
  for (const plugin of plugins) {
    const { name, root } = plugin;
    const servers = Object.entries(plugin.servers ?? {}).map(([own, server]) => [`${name}:${own}`, server]);
    if (servers.length === 0) continue;
    const check = await pluginCheck(plugin, settingsPlace(place, env));
    found.push({ source: root, servers: Object.fromEntries(servers), ...(check && { check }) });
  }
  return found;
}

/** For a plugin of a trusted repository: what it starts must be what was trusted, each time. */
async function pluginCheck({ root, stated }: PluginFolder, place: SettingsPlace): Promise<RunCheck | null> {
  if (stated === undefined && !isInside(root, realOrSame(place.root))) return null;
  const { pluginPart } = await import('../../extensions/trust/collect-parts.ts');
  const { folderTrust } = await import('../../extensions/trust/folder-trust.ts');
  const { runCheck } = await import('../../extensions/trust/run-check.ts');
  const trust = folderTrust(place);
  const { atFolder } = await import('../../extensions/trust/folder-part.ts');
  const part = pluginPart(stated ?? root, place);
  // A folder that the user names, at the start or in their own settings, counts as it is.
  if (trust.verdictOn(part) !== 'trusted') return null;
  const check = runCheck(part, place, trust);
  return (texts, cwd, answers) =>
    check(
      texts.map((text) => atFolder(text, root)),
      cwd,
      answers,
    );
}
