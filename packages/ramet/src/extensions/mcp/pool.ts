/**
 * The servers of a session. Equal configurations are one server, for all who use it, by whatever name (RES-8). Nothing is
 * started here: a connection starts when it is first asked.
 *
 * Invariants
 * 1. A server runs as long as someone holds a lease of it, and no longer.
 * 2. A lease is given back once; giving it back again does nothing.
 * 3. Of one configuration at most one process runs: a server that is wanted again starts when the one before has ended.
 */
import { type ConnectionParts, ServerConnection } from './connection.ts';
import { configDigest, type McpServerConfig } from './server-config.ts';

export interface ServerLease {
  readonly connection: ServerConnection;
  release(): Promise<void>;
}

interface Shared {
  readonly connection: ServerConnection;
  users: number;
}

export type PoolParts = Omit<ConnectionParts, 'name' | 'config' | 'after'>;

export class ServerPool implements AsyncDisposable {
  readonly #parts: PoolParts;
  readonly #shared = new Map<string, Shared>();
  /** Servers that are ending, by configuration. */
  readonly #closing = new Map<string, Promise<void>>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  get home(): string {
    return this.#parts.home;
  }

  /** How many different servers someone holds. */
  get size(): number {
    return this.#shared.size;
  }

  /** The connection that someone holds; undefined for none. */
  peek(config: McpServerConfig): ServerConnection | undefined {
    return this.#shared.get(configDigest(config, this.#parts.cwd))?.connection;
  }

  /** How the server is that someone holds; `pending` for one that nobody holds. */
  standing(config: McpServerConfig): ServerConnection['standing'] {
    return this.peek(config)?.standing ?? 'pending';
  }

  lease(name: string, config: McpServerConfig): ServerLease {
    const key = configDigest(config, this.#parts.cwd);
    const shared = this.#shared.get(key) ?? {
      connection: new ServerConnection({ ...this.#parts, name, config, after: this.#closing.get(key) }),
      users: 0,
    };
    shared.users += 1;
    this.#shared.set(key, shared);
    let isHeld = true;
    return {
      connection: shared.connection,
      release: async () => {
        if (!isHeld) return;
        isHeld = false;
        shared.users -= 1;
        if (shared.users > 0) return;
        this.#shared.delete(key);
        await this.#close(key, shared.connection);
      },
    };
  }

  async #close(key: string, connection: ServerConnection): Promise<void> {
    const closing = Promise.all([connection.close(), this.#closing.get(key)]).then(() => {
      if (this.#closing.get(key) === closing) this.#closing.delete(key);
    });
    this.#closing.set(key, closing);
    await closing;
  }

  /** Ends every server, also those that someone still holds. */
  async [Symbol.asyncDispose](): Promise<void> {
    const left = [...this.#shared];
    this.#shared.clear();
    await Promise.all([
      ...left.map(([key, { connection }]) => this.#close(key, connection)),
      ...this.#closing.values(),
    ]);
  }
}
