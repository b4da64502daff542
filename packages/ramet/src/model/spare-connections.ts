/**
 * Connections that are made before the requests that will use them: while a response asks for agents, their connections
 * are set up. So the agents' first requests wait for no handshake.
 */
import type http from 'node:http';
import type { Socket } from 'node:net';

/** A response that starts many agents takes about that long to write. */
const UNUSED_MS = 60_000;

/** More agents than this seldom start together. */
const MOST = 16;

type Connecting = http.Agent['createConnection'];

export class SpareConnections implements Disposable {
  readonly #agent: http.Agent;
  readonly #connect: Connecting;
  readonly #spare = new Set<Socket>();
  readonly #used = new WeakSet<object>();
  /** Of the last connection that the agent made itself: all of one agent have the same. */
  #options: http.ClientRequestArgs | null = null;

  /** Of an agent with one target and no proxy. */
  constructor(agent: http.Agent) {
    this.#agent = agent;
    this.#connect = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => this.#take() ?? this.#make(options, callback);
  }

  /** Connects until this many requests could be sent at once. Before the first request nothing is known of the target. */
  expect(requests: number): void {
    const options = this.#options;
    if (options === null) return;
    const free = Object.values(this.#agent.freeSockets).reduce((sum, all = []) => sum + all.length, 0);
    for (let made = free + this.#spare.size; made < Math.min(requests, MOST); made++) this.#add(options);
  }

  /** Whether it had waited: such a connection may have been closed meanwhile. */
  hadWaited(socket: object | null): boolean {
    return socket !== null && this.#used.has(socket);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#spare) socket.destroy();
  }

  #make(...[options, callback]: Parameters<Connecting>): ReturnType<Connecting> {
    this.#options = options;
    return this.#connect(options, callback);
  }

  #add(options: http.ClientRequestArgs): void {
    // Without a proxy every agent makes a socket, at once.
    const socket = this.#connect({ ...options }) as Socket;
    const timer = setTimeout(() => socket.destroy(), UNUSED_MS).unref();
    const forget = (): void => {
      clearTimeout(timer);
      this.#spare.delete(socket);
    };
    // The request that would have used it makes its own, and says what is wrong.
    socket.on('error', forget).once('close', forget).unref();
    this.#spare.add(socket);
  }

  #take(): Socket | null {
    for (const socket of this.#spare) {
      this.#spare.delete(socket);
      if (socket.destroyed) continue;
      this.#used.add(socket);
      return socket.ref();
    }
    return null;
  }
}
