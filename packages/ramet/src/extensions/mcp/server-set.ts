/**
 * The servers that an agent has, and which of their tools, by the names that models know. Agents with other rights have
 * other sets of the same servers. An agent holds a lease of each server it has used until it ends (RES-5).
 */
import { describeError } from '../../schema/errors.ts';
import type { Digest, RecordedServers, ServerRights } from '../../schema/events.ts';
import type { ConfiguredServer } from './configured-servers.ts';
import type { ServerConnection } from './connection.ts';
import type { ServerLease, ServerPool } from './pool.ts';
import type { McpServerConfig } from './server-config.ts';
import type { ServerOffer, ServerTool } from './server-offer.ts';
import { readRights } from './server-rights.ts';
import { openTokens } from './token-store.ts';
import { compare, type NamedServer, PREFIX, serverOfName, toolKeys } from './tool-names.ts';

export interface UsableServer extends NamedServer {
  readonly config: McpServerConfig;
  /** Of a server that an agent's type writes down itself: the digest of what is written. */
  readonly written?: Digest | undefined;
}

/** A tool with the name that models, rules and views know it by. */
export interface NamedServerTool extends ServerTool {
  readonly fullName: string;
  readonly server: string;
  /** It is ours, and reads the server's resources. */
  readonly readsResources?: true;
}

export interface ListedServer {
  readonly server: UsableServer;
  /** What it offers, or why it could not be asked. */
  readonly offer: ServerOffer | { readonly problem: string };
  readonly tools: readonly NamedServerTool[];
}

/** By agent, then by the server. */
type Leases = Map<string, Map<UsableServer, ServerLease>>;

export interface SetTerms {
  readonly servers: readonly UsableServer[];
  /** Which of their tools an agent may call; null for all. */
  readonly rights: ServerRights | null;
  /** All that are set up, also where they are not for this agent: what a rule means depends on them. */
  readonly names?: readonly NamedServer[];
}

/** Those that count and can be used. */
export function usableServers(servers: readonly ConfiguredServer[]): UsableServer[] {
  return servers.flatMap(({ name, key, checked, unused }) =>
    unused === null && checked.ok ? [{ name, key, config: checked.config }] : [],
  );
}

export class ServerSet {
  readonly servers: readonly UsableServer[];
  readonly rights: ServerRights | null;
  /** Those that a rule may mean. */
  readonly names: readonly NamedServer[];
  /** Which tools an agent may call, by whole name. */
  readonly allows: (fullName: string) => boolean;
  readonly #pool: ServerPool;
  readonly #leases: Leases;

  constructor(pool: ServerPool, { servers, rights, names = [] }: SetTerms, leases: Leases = new Map()) {
    this.#pool = pool;
    this.#leases = leases;
    this.rights = rights;
    this.allows = readRights(rights);
    this.names = [...names, ...servers.filter((one) => !names.some(({ name }) => name === one.name))];
    this.servers = [...servers].sort((one, other) => compare(one.key, other.key));
  }

  /** Another set of the same pool. */
  with(terms: Omit<SetTerms, 'names'>): ServerSet {
    return new ServerSet(this.#pool, { ...terms, names: this.names }, this.#leases);
  }

  /** As the journal keeps it: a resumed agent has no more than that. */
  record(): RecordedServers {
    const own = this.servers.flatMap(({ key, written }) => (written === undefined ? [] : [[key, written]]));
    return {
      keys: this.servers.map(({ key }) => key),
      ...(own.length > 0 && { written: Object.fromEntries(own) }),
      ...(this.rights !== null && { rights: this.rights }),
    };
  }

  /** The server of a whole tool name. */
  serverOf(fullName: string): UsableServer | undefined {
    const key = serverOfName(fullName);
    return this.servers.find((one) => one.key === key);
  }

  /** The connection, held for the agent until `releaseFor`. */
  connect(agent: string, server: UsableServer): ServerConnection {
    const own = this.#leases.get(agent) ?? new Map<UsableServer, ServerLease>();
    this.#leases.set(agent, own);
    const lease = own.get(server) ?? this.#pool.lease(server.name, server.config);
    own.set(server, lease);
    return lease.connection;
  }

  /** What logins gave, by names that say what it is; null where nobody is logged in. */
  tokens(): Record<string, string | undefined> | null {
    const logins = this.servers.flatMap(({ config }) =>
      config.type === 'stdio' ? [] : (openTokens(this.#pool.home, config.url).read()?.tokens ?? []),
    );
    if (logins.length === 0) return null;
    return Object.fromEntries(
      logins.flatMap(({ access_token, refresh_token }, index) => [
        [`LOGIN_${index}_TOKEN`, access_token],
        [`RENEWAL_${index}_TOKEN`, refresh_token],
      ]),
    );
  }

  /** Whether the agent holds something that it must give back. */
  holds(agent: string): boolean {
    return this.#leases.has(agent);
  }

  async releaseFor(agent: string): Promise<void> {
    const leases = [...(this.#leases.get(agent)?.values() ?? [])];
    this.#leases.delete(agent);
    await Promise.all(leases.map((lease) => lease.release()));
  }

  /** Asks servers side by side what they offer. One that fails says so, and holds up nobody. */
  async list(agent: string, servers: readonly UsableServer[], signal: AbortSignal): Promise<ListedServer[]> {
    return Promise.all(servers.map((server) => this.#listOne(agent, server, signal)));
  }

  /** What is known of a server that was asked before, without asking it. */
  known(server: UsableServer): ListedServer | null {
    const offer = this.#pool.peek(server.config)?.listed ?? null;
    return offer === null ? null : this.#named(server, offer);
  }

  async #listOne(agent: string, server: UsableServer, signal: AbortSignal): Promise<ListedServer> {
    try {
      return this.#named(server, await this.connect(agent, server).offer(signal));
    } catch (error) {
      if (signal.aborted) throw error;
      return { server, offer: { problem: describeError(error) }, tools: [] };
    }
  }

  #named(server: UsableServer, offer: ServerOffer): ListedServer {
    return {
      server,
      offer,
      tools: namedTools(server.key, offer).filter(({ fullName }) => this.allows(fullName)),
    };
  }
}

const READER = {
  description: 'Read a resource of this server. McpSearch lists their addresses.',
  inputSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
  saysReadOnly: true,
};

export function namedTools(
  server: string,
  { tools, resources }: Pick<ServerOffer, 'tools' | 'resources'>,
): NamedServerTool[] {
  const keys = toolKeys(
    server,
    tools.map(({ name }) => name),
  );
  const named: NamedServerTool[] = tools.map((tool) => ({
    ...tool,
    server,
    fullName: keys.get(tool.name) ?? tool.name,
  }));
  if (resources.length > 0) {
    const taken = new Set(keys.values());
    const [name = ''] = ['read_resource', 'read_mcp_resource'].filter(
      (one) => !taken.has(`${PREFIX}${server}__${one}`),
    );
    if (name !== '')
      named.push({ ...READER, name, server, fullName: `${PREFIX}${server}__${name}`, readsResources: true });
  }
  return named.sort((one, other) => compare(one.fullName, other.fullName));
}
