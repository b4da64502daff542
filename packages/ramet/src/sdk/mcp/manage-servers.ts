/** What `ramet mcp` does: list, add, remove, try and log in to MCP servers. */
import { join } from 'node:path';
import {
  type ConfiguredServer,
  PROJECT_FILE,
  type ServerReport,
} from '../../extensions/mcp/configured-servers.ts';
import { holdsServer, putServer, takeServer } from '../../extensions/mcp/edit-servers.ts';
import { ServerPool } from '../../extensions/mcp/pool.ts';
import {
  checkServer,
  describeConfig,
  type McpServerConfig,
  secretsOf,
  type WrittenServer,
} from '../../extensions/mcp/server-config.ts';
import { leftOutWords, ServerFailure } from '../../extensions/mcp/server-failure.ts';
import { namedTools } from '../../extensions/mcp/server-set.ts';
import { systemClock } from '../../schema/clock.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import type { RuleFile } from '../../settings/allow-in-file.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { lossLines } from '../agent-types/policy-losses.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlugins, serversOf } from '../extensions/plugins.ts';
import { findPlace, type Place } from '../place.ts';
import { sessionSettings, settingsPlace } from '../session/setup/session-settings.ts';
import { poolParts } from './pool-parts.ts';
import { serversHere } from './session-servers.ts';

export type { ConfiguredServer } from '../../extensions/mcp/configured-servers.ts';
export { describeConfig, type WrittenServer } from '../../extensions/mcp/server-config.ts';

/** Where a server is written down: for you everywhere, for everybody who works here, or for you here. */
const ADD_SCOPES = ['user', 'project', 'local'] as const;
export type AddScope = (typeof ADD_SCOPES)[number];

export interface TriedServer {
  readonly name: string;
  readonly ok: boolean;
  readonly startMs: number;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly resources: readonly string[];
  readonly prompts: readonly string[];
  /** What it lists and nobody can use, each with the reason. */
  readonly leftOut: readonly string[];
  /** Why it does not work. */
  readonly problem: string | null;
}

export interface ServersHere extends ServerReport {
  /** Managed policy allows only its own. */
  readonly onlyManaged: boolean;
}

export async function listServers(options: CallOptions = {}): Promise<ServersHere> {
  const { cwd, env } = callerOf(options);
  const found = await sessionSettings({ cwd, env });
  const place = findPlace({ cwd, env });
  const { plugins } = await findPlugins(place, { ...found, env });
  const pluginServers = await serversOf(plugins, place, env);
  const report = await serversHere(place, { env, ...found, pluginServers });
  if (found.settings.policy?.mcpServers !== 'managed') return { ...report, onlyManaged: false };
  const { lossesHere } = await import('../calls/check-types.ts');
  const losses = (await lossesHere({ cwd, env })).filter(({ field }) => field === 'mcpServers');
  return { ...report, onlyManaged: true, problems: [...report.problems, ...lossLines(losses)] };
}

export interface DescribedServer {
  readonly name: string;
  readonly scope: ConfiguredServer['scope'];
  readonly source: string;
  /** Null if it cannot be used. */
  readonly type: McpServerConfig['type'] | null;
  /** Its command or address, without secrets. */
  readonly target: string | null;
  readonly inUse: boolean;
  readonly problem: string | null;
  readonly notes: readonly string[];
}

export interface ServerListing {
  readonly servers: readonly DescribedServer[];
  /** Files that could not be read, one line each. */
  readonly problems: readonly string[];
}

export async function describeServers(options: CallOptions = {}): Promise<ServerListing> {
  const { servers, problems } = await listServers(options);
  return { servers: servers.map(describedServer), problems };
}

export function describedServer({ name, scope, source, checked, unused }: ConfiguredServer): DescribedServer {
  return {
    ...{ name, scope, source },
    type: checked.ok ? checked.config.type : null,
    target: checked.ok ? describeConfig(checked.config) : null,
    inUse: checked.ok && unused === null,
    problem: checked.ok ? unused : `it ${checked.problem}`,
    notes: checked.ok ? checked.notes : [],
  };
}

/** Returns the file it is in now. */
export async function addServer(
  {
    name,
    scope,
    server,
    force = false,
  }: { name: string; scope: AddScope; server: WrittenServer; force?: boolean | undefined },
  options: CallOptions = {},
): Promise<string> {
  if (!/^[A-Za-z0-9][\w.-]{0,59}$/.test(name))
    throw new UserMistake(
      'mcp_name',
      `${JSON.stringify(name)} is no name for a server: use letters, digits, -, _ and .`,
    );
  const caller = callerOf(options);
  // Variables may be set later: only its shape is checked.
  const checked = checkServer(server, {
    env: new Proxy({}, { get: () => 'x', has: () => true }),
    isForeign: false,
    folder: caller.cwd,
  });
  if (!checked.ok) throw new UserMistake('mcp_server', `the server ${name} ${checked.problem}`);
  const place = findPlace(caller);
  const file = fileOf(place, scope);
  const { keepingTrust } = await import('../calls/trust.ts');
  await keepingTrust(settingsPlace(place, caller.env), file.path, () => putServer(file, name, server, force));
  return file.path;
}

/** The files that it was taken out of. */
export async function removeServer(
  name: string,
  { scope, ...options }: CallOptions & { scope?: AddScope | undefined } = {},
): Promise<string[]> {
  const { keepingTrust } = await import('../calls/trust.ts');
  const caller = callerOf(options);
  const place = findPlace(caller);
  const removed: string[] = [];
  if (scope === undefined) await refuseSeveral(name, place);
  for (const one of scope === undefined ? ADD_SCOPES : [scope]) {
    const file = fileOf(place, one);
    await keepingTrust(settingsPlace(place, caller.env), file.path, async () => {
      if (await takeServer(file, name)) removed.push(file.path);
    });
  }
  if (removed.length > 0) return removed;
  const { servers } = await listServers(options);
  const known = servers.find((one) => one.name === name);
  const where = known === undefined ? 'see ramet mcp ls' : `it is in ${known.source}: remove it there`;
  throw new UserMistake('mcp_name', `no server ${name} to remove: ${where}`);
}

/** One name in two files may be two servers. */
async function refuseSeveral(name: string, place: Place): Promise<void> {
  const held = await Promise.all(ADD_SCOPES.map((one) => holdsServer(fileOf(place, one), name)));
  const scopes = ADD_SCOPES.filter((_, index) => held[index]);
  if (scopes.length > 1)
    throw new UserMistake(
      'mcp_scope',
      `there is a server ${name} in the scopes ${scopes.join(' and ')}: say which with --scope ${scopes.at(-1)}`,
    );
}

/** Starts a server, asks what it offers, and ends it. */
export async function tryServers(
  names: readonly string[],
  options: CallOptions & { startMs?: number | undefined } = {},
): Promise<TriedServer[]> {
  const caller = callerOf(options);
  const { servers } = await listServers(caller);
  const wanted =
    names.length === 0
      ? servers.filter(({ unused }) => unused === null)
      : names.map((name) => named(servers, name));
  await using pool = await poolHere(caller, options.startMs);
  // Awaited here: the pool ends with this function.
  return await Promise.all(wanted.map((server) => tryOne(pool, server, caller.signal)));
}

async function tryOne(pool: ServerPool, server: ConfiguredServer, signal: AbortSignal): Promise<TriedServer> {
  const { name, key, checked, unused } = server;
  const nothing = { name, startMs: 0, tools: [], resources: [], prompts: [], leftOut: [] };
  const why = unused ?? (checked.ok ? null : `it ${checked.problem}`);
  if (why !== null || !checked.ok) return { ...nothing, ok: false, problem: why };
  const since = performance.now();
  const lease = pool.lease(name, checked.config);
  try {
    const { tools, resources, prompts, leftOut } = await lease.connection.offer(signal);
    return {
      name,
      ok: true,
      startMs: Math.round(performance.now() - since),
      tools: namedTools(key, { tools, resources }).map(({ fullName, description }) => ({
        name: fullName,
        description,
      })),
      resources: resources.map(({ uri }) => uri),
      prompts: prompts.map((prompt) => prompt.name),
      leftOut: leftOut.map(leftOutWords),
      problem: null,
    };
  } catch (error) {
    const startMs = Math.round(performance.now() - since);
    if (!(error instanceof ServerFailure)) throw error;
    const redact = createRedactor(secretsOf(checked.config));
    const said = describeError(error).replaceAll(saidOf(lease.connection.name), saidOf(name));
    return { ...nothing, startMs, ok: false, problem: redact(said) };
  } finally {
    await lease.release();
  }
}

/** Servers with one configuration are one, which has the name of the first. */
function saidOf(name: string): string {
  return `the MCP server ${name} `;
}

/** Opens a login: `visit` gets the address for a browser, which comes back to this machine. */
export async function logInTo(
  name: string,
  { visit, ...options }: CallOptions & { visit(url: string): void },
): Promise<'done' | 'not needed'> {
  const caller = callerOf(options);
  const { config } = usable(named((await listServers(caller)).servers, name));
  if (config.type === 'stdio')
    throw new UserMistake('mcp_login', `${name} is a program of this machine: it has no login here`);
  const { logIn } = await import('../../extensions/mcp/login.ts');
  return logIn(config, { home: findPlace(caller).home, visit, signal: caller.signal });
}

async function poolHere(
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
  startMs?: number,
): Promise<ServerPool> {
  const place = findPlace({ cwd, env });
  const { settings } = await sessionSettings({ cwd, env });
  const parts = poolParts(place, { env, settings, clock: systemClock });
  return new ServerPool({ ...parts, ...(startMs !== undefined && { startMs }) });
}

function named(servers: readonly ConfiguredServer[], name: string): ConfiguredServer {
  const found = servers.filter((one) => one.name === name);
  const server = found.find(({ unused }) => unused === null) ?? found[0];
  if (server !== undefined) return server;
  const known = [...new Set(servers.map((one) => one.name))].join(', ') || 'none';
  throw new UserMistake('mcp_name', `there is no MCP server ${name}; there are: ${known}`);
}

function usable({ name, checked, unused }: ConfiguredServer): { config: McpServerConfig } {
  if (unused !== null) throw new UserMistake('mcp_server', `the MCP server ${name} is not used: ${unused}`);
  if (!checked.ok) throw new UserMistake('mcp_server', `the MCP server ${name} ${checked.problem}`);
  return { config: checked.config };
}

function fileOf({ cwd, repository, home }: Place, scope: AddScope): RuleFile {
  const root = repository?.root ?? cwd;
  switch (scope) {
    case 'user':
      return { path: join(home, 'settings.json'), followLinks: true };
    case 'project':
      return { path: join(root, PROJECT_FILE), followLinks: false };
    case 'local':
      return { path: join(root, '.ramet/settings.local.json'), followLinks: false };
  }
}
