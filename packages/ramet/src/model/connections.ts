/**
 * Connections to providers, shared by all sessions of this process. A session that ends leaves its connections for a
 * moment: a program that opens the next one need not connect again. They do not keep the process alive.
 */
import http from 'node:http';

export interface Connections {
  /** Keeps connections. */
  readonly kept: http.Agent;
  /** Makes a connection for each request. */
  readonly fresh: http.Agent;
  /** Gives them back. A second call does nothing. */
  release(): void;
}

/** How long a connection that nobody uses is kept. */
const IDLE_MS = 300_000;
/** The same once no session is left: shorter than servers keep them, so that none is found closed. */
const LEFT_IDLE_MS = 4_000;
const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'];

interface Pool extends Pick<Connections, 'kept' | 'fresh'> {
  users: number;
  timer: NodeJS.Timeout | null;
}

const pools = new Map<string, Pool>();

/** Loopback is reached without a proxy. */
export function takeConnections(url: URL, env: NodeJS.ProcessEnv): Connections {
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const key = isLoopback ? url.origin : JSON.stringify([url.origin, proxyVariables(env)]);
  const pool = pools.get(key) ?? newPool(url, isLoopback ? {} : { proxyEnv: env });
  pools.set(key, pool);
  pool.users += 1;
  if (pool.timer !== null) clearTimeout(pool.timer);
  pool.timer = null;
  let isHeld = true;
  const release = (): void => {
    if (isHeld) leave(key, pool);
    isHeld = false;
  };
  return { kept: pool.kept, fresh: pool.fresh, release };
}

function newPool(url: URL, proxies: Pick<http.AgentOptions, 'proxyEnv'>): Pool {
  const { Agent } = clientOf(url);
  return {
    kept: new Agent({ keepAlive: true, timeout: IDLE_MS, ...proxies }),
    fresh: new Agent({ keepAlive: false, ...proxies }),
    users: 0,
    timer: null,
  };
}

function leave(key: string, pool: Pool): void {
  pool.users -= 1;
  if (pool.users > 0) return;
  pool.timer = setTimeout(() => {
    pools.delete(key);
    pool.kept.destroy();
    pool.fresh.destroy();
  }, LEFT_IDLE_MS).unref();
}

function proxyVariables(env: NodeJS.ProcessEnv): readonly [name: string, value: string | undefined][] {
  return Object.entries(env).filter(([name]) => PROXY_VARIABLES.includes(name.toLowerCase()));
}

/** TLS takes 8 ms to load, and a server on this machine seldom needs it. */
export function clientOf({ protocol }: URL): Pick<typeof http, 'Agent' | 'request'> {
  return protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
}
