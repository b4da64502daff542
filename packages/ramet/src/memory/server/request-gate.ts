/**
 * Who may ask: every request but those for the description passes here first.
 *
 * What other processes have changed in the database, a revoked token too, counts for every request that is sent after it.
 * The look for that is made once in a turn of the event loop: a request that comes later is read in a later turn.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { SharedDatabase } from '../../system/sqlite/shared-database.ts';
import type { MemoryLimits } from '../wire/memory-shapes.ts';
import type { KeyStore } from './key-store.ts';
import { type MemoryReply, refuse } from './memory-reply.ts';
import { RequestRate } from './request-rate.ts';
import type { TeamTokens, TokenTeam } from './team-tokens.ts';

/** Wrong tokens from one address. */
const WRONG_RATE = 5;
const WRONG_BURST = 30;
const BEARER = /^Bearer ([\x21-\x7e]{1,200})$/i;

export class RequestGate {
  readonly #db: SharedDatabase;
  readonly #tokens: TeamTokens;
  readonly #store: KeyStore;
  readonly #rate: RequestRate;
  #hasLooked = false;
  /** Whose token a connection sent last: it sends the same with every request. */
  #admitted = new WeakMap<Socket, { header: Buffer; team: TokenTeam }>();
  readonly #wrong = new RequestRate(WRONG_RATE, WRONG_BURST);

  constructor(db: SharedDatabase, tokens: TeamTokens, store: KeyStore, { rate, burst }: MemoryLimits) {
    this.#db = db;
    this.#tokens = tokens;
    this.#store = store;
    this.#rate = new RequestRate(rate, burst);
  }

  /** The team that asks, or why it may not. */
  admit(incoming: IncomingMessage): TokenTeam | MemoryReply {
    if (!this.#hasLooked) this.#look();
    const team = this.#teamOf(incoming.headers.authorization ?? '', incoming.socket);
    const wait =
      team === null ? this.#wrong.take(incoming.socket.remoteAddress ?? '') : this.#rate.take(team.token);
    if (wait > 0) {
      const headers = { 'Retry-After': String(wait) };
      return refuse(429, 'rate', `too many requests: wait ${wait} s`, { headers });
    }
    if (team !== null) return team;
    const headers = { 'WWW-Authenticate': 'Bearer' };
    return refuse(401, 'token', 'the token is missing, wrong or revoked: ask for a new one', { headers });
  }

  #teamOf(authorization: string, socket: Socket): TokenTeam | null {
    const header = Buffer.from(authorization, 'latin1');
    const last = this.#admitted.get(socket);
    // In constant time here too: behind a proxy a connection has several senders.
    if (last !== undefined && last.header.length === header.length && timingSafeEqual(last.header, header))
      return last.team;
    const token = BEARER.exec(authorization)?.[1];
    const team = token === undefined ? null : this.#tokens.teamOf(token);
    if (team !== null) this.#admitted.set(socket, { header, team });
    return team;
  }

  #look(): void {
    if (this.#db.changedByOthers()) {
      this.#admitted = new WeakMap();
      this.#tokens.forget();
      this.#store.forget();
    }
    this.#hasLooked = true;
    setImmediate(() => {
      this.#hasLooked = false;
    });
  }
}
