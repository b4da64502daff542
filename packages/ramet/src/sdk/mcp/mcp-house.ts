/**
 * The MCP servers of one session: one pool for all its agents (RES-8), and which agent has which of them. The main agent
 * has every server that is set up here; an agent of a type has what its definition says.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { ToolHeir } from '../../engine/shapes.ts';
import { namesWithin } from '../../extensions/mcp/find-tools.ts';
import { knownOffer } from '../../extensions/mcp/known-tools.ts';
import { ServerPool } from '../../extensions/mcp/pool.ts';
import { checkServer, secretsOf } from '../../extensions/mcp/server-config.ts';
import { ServerSet, type UsableServer, usableServers } from '../../extensions/mcp/server-set.ts';
import { PREFIX, serverKeys, serverOfName } from '../../extensions/mcp/tool-names.ts';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import { isMcpTool, mcpTools, serversOf } from '../../tools/mcp/mcp-tools.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ResolvedOptions } from '../options.ts';
import type { SourceOrder } from '../session/tool-source.ts';
import { poolParts } from './pool-parts.ts';
import { serversHere } from './session-servers.ts';

type ServersOfType = Pick<AgentDefinition, 'tools' | 'disallowedTools' | 'mcpServers'>;

export interface McpHouse {
  readonly tools: readonly Tool[];
  readonly notices: readonly string[];
  forType(type: ServersOfType, tools: readonly Tool[], parent: ToolHeir): readonly Tool[];
  /** What an agent with these tools learns about its servers; null for one that has none. */
  about(tools: readonly Tool[]): string | null;
  close(): Promise<void>;
}

const LONGEST_LIST = 1_500;

export async function openHouse({ settings, place }: SourceOrder): Promise<McpHouse> {
  const { env } = settings;
  const report = await serversHere(place, settings);
  const isManaged = settings.settings.policy?.mcpServers === 'managed';
  const usable = usableServers(report.servers);
  const pool = new ServerPool(
    poolParts(place, {
      env,
      settings: settings.settings,
      clock: settings.clock,
      elicit: elicitation(settings),
    }),
  );
  const all = new ServerSet(pool, { servers: usable, allows: () => true });
  const tools = usable.length === 0 ? [] : toolsFor(all);
  return {
    tools,
    notices: [...report.problems, ...noticesOf(report.servers)],
    forType: (type, own, parent) =>
      toolsOfType(all, env, isManaged ? { ...type, mcpServers: namesIn(type) } : type, own, parent),
    about: (given) => aboutServers(serversOf(given), place),
    close: () => pool[Symbol.asyncDispose](),
  };
}

/** Where policy says which servers there are, a definition brings none. */
function namesIn({ mcpServers = [] }: ServersOfType): string[] {
  return mcpServers.filter((one) => typeof one === 'string');
}

/** What the user should know: servers that are set up and do not count. */
function noticesOf(servers: Awaited<ReturnType<typeof serversHere>>['servers']): string[] {
  const bad = servers.flatMap(({ name, source, checked, unused }) =>
    unused === null && !checked.ok ? [`the MCP server ${name} in ${source} ${checked.problem}`] : [],
  );
  const withheld = servers.filter(({ unused }) => unused?.includes('not trusted') === true);
  if (withheld.length === 0) return bad;
  const names = withheld.map(({ name }) => name).join(', ');
  return [
    ...bad,
    `MCP servers of this folder are not started, since it is not trusted: ${names} (ramet trust)`,
  ];
}

/** Of a read-only agent's tools nothing calls a server: what a server does nobody can see. */
function toolsOfType(
  all: ServerSet,
  env: NodeJS.ProcessEnv,
  { tools: listed, disallowedTools = [], mcpServers }: ServersOfType,
  own: readonly Tool[],
  parent: ToolHeir,
): readonly Tool[] {
  const rest = own.filter((tool) => !isMcpTool(tool));
  if (parent.readsOnly) return rest;
  const inherited = serversOf(parent.tools);
  const named = serversOfDefinition(all, env, mcpServers);
  const isListed = listed === 'all' || own.some(isMcpTool);
  const patterns = listed === 'all' ? [] : listed.filter((name) => name.startsWith(PREFIX)).map(matcher);
  const refused = disallowedTools.filter((name) => name.startsWith(PREFIX)).map(matcher);
  const isOwn = (name: string): boolean => named.some(({ key }) => key === serverOfName(name));
  const allows = (name: string): boolean =>
    !refused.some((matches) => matches(name)) &&
    (isOwn(name) ||
      (inherited?.allows(name) === true && (isListed || patterns.some((matches) => matches(name)))));
  const kept = (inherited?.servers ?? []).filter(
    ({ key }) =>
      isListed || patterns.some((matches) => matches(`${PREFIX}${key}__`) || matches(`${PREFIX}${key}`)),
  );
  const servers = [...kept.filter((one) => !named.some(({ key }) => key === one.key)), ...named].filter(
    ({ key }) => !refused.some((matches) => matches(`${PREFIX}${key}__`)),
  );
  if (servers.length === 0) return rest;
  if (named.length === 0 && servers.length === inherited?.servers.length && isListed && refused.length === 0)
    return own;
  return [...rest, ...toolsFor((inherited ?? all).with({ servers, allows }))];
}

/** `mcp__server`, `mcp__server__*`, `mcp__server__tool`; a server matches its own beginning too. */
function matcher(pattern: string): (name: string) => boolean {
  const server = serverOfName(`${pattern}__x`) ?? pattern;
  const source = pattern.split('*').map(RegExp.escape).join('.*');
  const whole = new RegExp(`^${source}(?:__.*)?$`, 's');
  return (name) => whole.test(name) || (name.endsWith('__') && server === name.slice(PREFIX.length, -2));
}

/** Servers that a definition names or writes down itself. A name that nobody knows is none. */
function serversOfDefinition(
  all: ServerSet,
  env: NodeJS.ProcessEnv,
  mcpServers: ServersOfType['mcpServers'] = [],
): UsableServer[] {
  const inline = Object.fromEntries(
    mcpServers.flatMap((one) => (typeof one === 'string' ? [] : Object.entries(one))),
  );
  const known = mcpServers.flatMap((one) =>
    typeof one === 'string' ? all.servers.filter(({ name }) => name === one) : [],
  );
  const keys = serverKeys([...all.servers.map(({ name }) => name), ...Object.keys(inline)]);
  const own = Object.entries(inline).flatMap(([name, written]) => {
    const checked = checkServer(written, { env, isForeign: true });
    return checked.ok ? [{ name, key: keys.get(name) ?? name, config: checked.config }] : [];
  });
  return [...known, ...own];
}

/** With what takes secrets of their configurations out; what the environment holds is taken out of every result. */
function toolsFor(set: ServerSet): readonly Tool[] {
  const secrets = Object.assign({}, ...set.servers.map(({ config }) => secretsOf(config)));
  return mcpTools(set, createRedactor(secrets));
}

function aboutServers(set: ServerSet | undefined, { home, cwd }: SourceOrder['place']): string | null {
  if (set === undefined || set.servers.length === 0) return null;
  let left = LONGEST_LIST;
  const lines = set.servers.flatMap(({ key, config }) => {
    const names = knownOffer(home, config, cwd).tools;
    if (names.length === 0 || left < 80) return [];
    const line = `${key}: ${namesWithin(
      names.map((name) => name.replace(/[^\w-]/g, '_')),
      Math.min(left, 500),
    )}`;
    left -= line.length;
    return [line];
  });
  const keys = namesWithin(
    set.servers.map(({ key }) => key),
    LONGEST_LIST,
  );
  return [
    '<mcp-servers>',
    `MCP servers: ${keys}. McpSearch finds their tools, McpCall calls them.`,
    ...lines,
    '</mcp-servers>',
  ].join('\n');
}

/** A server's question goes to the person; without one it is declined. */
function elicitation({
  broker,
}: ResolvedOptions): (question: ElicitedQuestion, signal: AbortSignal) => Promise<ElicitedAnswer> {
  return async (question, signal) => broker.elicit?.(question, signal) ?? { action: 'decline' };
}
