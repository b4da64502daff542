/**
 * The servers of a session. Equal configurations are one server, for all who use it, by whatever name (RES-8). Nothing is
 * started here: a connection starts when it is first asked.
 *
 * Invariants
 * 1. A server runs as long as someone holds a lease of it, and no longer.
 * 2. A lease is given back once; giving it back again does nothing.
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

export type PoolParts = Omit<ConnectionParts, 'name' | 'config'>;

export class ServerPool implements AsyncDisposable {
  readonly #parts: PoolParts;
  readonly #shared = new Map<string, Shared>();
  readonly #closing = new Set<Promise<void>>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  /** How many different servers someone holds. */
  get size(): number {
    return this.#shared.size;
  }

  /** The connection that someone holds; undefined for none. */
  peek(config: McpServerConfig): ServerConnection | undefined {
    return this.#shared.get(configDigest(config, this.#parts.cwd))?.connection;
  }

  lease(name: string, config: McpServerConfig): ServerLease {
    const key = configDigest(config, this.#parts.cwd);
    const shared = this.#shared.get(key) ?? {
      connection: new ServerConnection({ ...this.#parts, name, config }),
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
        await this.#close(shared.connection);
      },
    };
  }

  async #close(connection: ServerConnection): Promise<void> {
    const closing = connection.close();
    this.#closing.add(closing);
    await closing.finally(() => this.#closing.delete(closing));
  }

  /** Ends every server, also those that someone still holds. */
  async [Symbol.asyncDispose](): Promise<void> {
    const left = [...this.#shared.values()];
    this.#shared.clear();
    await Promise.all([...left.map(({ connection }) => this.#close(connection)), ...this.#closing]);
  }
}
