/**
 * Which MCP servers an agent has: what its type says, of what its parent has. A resumed agent has those that are recorded
 * about it, whatever its type says now, and only where they are still what they were (RES-3).
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { RecordedOrder, ToolHeir } from '../../engine/shapes.ts';
import { resolvedPatterns } from '../../extensions/mcp/rule-names.ts';
import { checkServer, guardedServer, secretsOf } from '../../extensions/mcp/server-config.ts';
import { coversServer, isAbout } from '../../extensions/mcp/server-rights.ts';
import type { ServerSet, UsableServer } from '../../extensions/mcp/server-set.ts';
import { type NamedServer, PREFIX, serverKeys } from '../../extensions/mcp/tool-names.ts';
import { folderOf } from '../../extensions/trust/folder-part.ts';
import type { RecordedServers } from '../../schema/events.ts';
import { digestOf } from '../../system/digest.ts';
import { isMcpTool, mcpTools, serversOf } from '../../tools/mcp/mcp-tools.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Place } from '../place.ts';

type WithServers = Pick<AgentDefinition, 'mcpServers' | 'check' | 'source' | 'path'>;
export type ServersOfType = Pick<AgentDefinition, 'tools' | 'disallowedTools'> & WithServers;

export class AgentServers {
  readonly #all: ServerSet;
  readonly #env: NodeJS.ProcessEnv;
  /** Where policy says which servers there are, a definition brings none. */
  readonly #isManaged: boolean;
  readonly #place: Place;

  constructor(
    all: ServerSet,
    { env, isManaged, place }: { env: NodeJS.ProcessEnv; isManaged: boolean; place: Place },
  ) {
    this.#all = all;
    this.#env = env;
    this.#isManaged = isManaged;
    this.#place = place;
  }

  /** Of a read-only agent's tools nothing calls a server: what a server does nobody can see. */
  forType(type: ServersOfType, own: readonly Tool[], parent: ToolHeir): readonly Tool[] {
    const { tools: listed, disallowedTools = [] } = type;
    const rest = own.filter((tool) => !isMcpTool(tool));
    if (parent.readsOnly) return rest;
    const inherited = serversOf(parent.tools);
    const named = this.#serversOf(type);
    const known = [...(inherited ?? this.#all).names, ...named];
    const only = onlyOf(listed, own, known);
    const never = resolvedPatterns(disallowedTools.filter(isOfServer), known, false);
    const kept = (inherited?.servers ?? []).filter(
      ({ key }) => only === null || only.some((pattern) => isAbout(pattern, key)),
    );
    const servers = [...kept.filter((one) => !named.some(({ key }) => key === one.key)), ...named].filter(
      ({ key }) => !never.some((pattern) => coversServer(pattern, key)),
    );
    if (servers.length === 0) return rest;
    const isSame = named.length === 0 && servers.length === inherited?.servers.length;
    if (isSame && only === null && never.length === 0) return own;
    const rights = { never, only, own: named.map(({ key }) => key), above: inherited?.rights ?? null };
    const set = (inherited ?? this.#all).with({ servers, rights });
    // Servers of its own bring both fixed tools; otherwise it has no more than its parent.
    const isLost = (name: string): boolean =>
      disallowedTools.includes(name) ||
      (named.length === 0 && !parent.tools.some((tool) => tool.name === name));
    return [...rest, ...toolsFor(set).filter(({ name }) => !isLost(name))];
  }

  /** Without a record, only a fork has servers: its parent's. */
  forRecorded(recorded: RecordedServers | undefined, order: RecordedOrder): readonly Tool[] {
    const { tools: own, parent, definition, isFork } = order;
    if (recorded === undefined && isFork) return own;
    const rest = own.filter((tool) => !isMcpTool(tool));
    if (recorded === undefined || parent.readsOnly) return rest;
    const { keys, rights = null, written = {} } = recorded;
    const inherited = serversOf(parent.tools);
    const besides = [...this.#all.servers, ...this.#serversOf(definition ?? {})];
    const found = keys.flatMap((key) => {
      const candidates = [...(inherited?.servers ?? []), ...(rights?.own.includes(key) ? besides : [])];
      return candidates.find((one) => one.key === key && one.written === written[key]) ?? [];
    });
    const missing = keys.filter((key) => !found.some((one) => one.key === key));
    if (missing.length > 0)
      order.tell(
        `resumes without the MCP server${missing.length === 1 ? '' : 's'} ${missing.join(', ')}: not set up as before`,
      );
    if (found.length === 0) return rest;
    // Who resumes it may have less than it had.
    const above = inherited?.rights ?? null;
    const also = above && { ...NO_LIMITS, own: rights?.own ?? [], above };
    const both = rights === null || also === null ? (rights ?? above) : { ...rights, also };
    return [...rest, ...toolsFor((inherited ?? this.#all).with({ servers: found, rights: both }))];
  }

  /** Servers that a definition names or writes down itself. A name that nobody knows is none. */
  #serversOf(type: WithServers): UsableServer[] {
    const { mcpServers = [], check } = type;
    const all = this.#all;
    const inline = Object.fromEntries(
      mcpServers.flatMap((one) => (typeof one === 'string' || this.#isManaged ? [] : Object.entries(one))),
    );
    const known = mcpServers.flatMap((one) =>
      typeof one === 'string' ? all.servers.filter(({ name }) => name === one) : [],
    );
    const ground = { env: this.#env, isForeign: true, folder: this.#folderOf(type) };
    const keys = serverKeys([...all.servers.map(({ name }) => name), ...Object.keys(inline)]);
    const own = Object.entries(inline).flatMap(([name, value]) => {
      const checked = guardedServer(checkServer(value, ground), check);
      const written = digestOf(JSON.stringify(value));
      return checked.ok ? [{ name, key: keys.get(name) ?? name, config: checked.config, written }] : [];
    });
    return [...known, ...own];
  }

  /** Where a relative `cwd` of its servers begins: as for servers that are set up in the same place. */
  #folderOf({ source, path }: WithServers): string {
    const { cwd, repository } = this.#place;
    if (source === undefined) return cwd;
    return source === 'project' && path !== undefined ? folderOf(path) : (repository?.root ?? cwd);
  }
}

/** The part of a list that is about servers, in the names of their tools; null where it narrows nothing. */
function onlyOf(
  listed: ServersOfType['tools'],
  own: readonly Tool[],
  known: readonly NamedServer[],
): string[] | null {
  const patterns = listed === 'all' ? [] : listed.filter(isOfServer);
  const isOpen = listed === 'all' || (patterns.length === 0 && own.some(isMcpTool));
  return isOpen ? null : resolvedPatterns(patterns, known, true);
}

const NO_LIMITS = { never: [], only: null } as const;

function isOfServer(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** With what takes secrets of their configurations and logins out; what the environment holds is taken out of every result. */
export function toolsFor(set: ServerSet): readonly Tool[] {
  const secrets = Object.assign({}, ...set.servers.map(({ config }) => secretsOf(config)));
  const redact = createRedactor(secrets);
  // A token is renewed while the session runs.
  return mcpTools(set, (text) => {
    const tokens = set.tokens();
    return tokens === null ? redact(text) : createRedactor({ ...secrets, ...tokens })(text);
  });
}
