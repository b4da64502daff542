/**
 * The token of a session at a server, and its renewal. Nobody is at a browser here: what needs one fails with a line
 * that says how to log in.
 *
 * Invariants
 * 1. A token is renewed once, however many calls and processes it was refused to at the same time.
 * 2. A token for renewal goes only to the server that gave it, whatever the MCP server says now.
 * 3. Who waits for a renewal can tell what for, and how long.
 */
import {
  type AuthProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { type Clock, elapsedOf, systemClock } from '../../schema/clock.ts';
import { boundedFetch, tokenSentWith } from './bounded-fetch.ts';
import { describeCause, LoginNeeded, RenewalFailed, seconds } from './server-failure.ts';
import type { StoredLogin, TokenStore } from './token-store.ts';

type Refusal = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** Less than what others wait for one that was killed: two must not renew at once. */
const RENEWAL_MS = 20_000;
/** More than that: who waits behind one that was killed still gets its turn. */
const LONGEST_WAIT_MS = 40_000;

export interface SessionAuth extends AuthProvider {
  /** What a renewal waits for now, and how long already; null while none waits. */
  awaited(): string | null;
}

interface RenewalTerms {
  readonly clock?: Clock;
  readonly limitMs?: number;
}

export function sessionAuth(
  store: TokenStore,
  { clock = systemClock, limitMs = RENEWAL_MS }: RenewalTerms = {},
): SessionAuth {
  const waits = new Set<RenewalWait>();
  return {
    token: async () => store.read()?.tokens.access_token,
    // The oldest: they are kept in the order in which they began.
    awaited: () => [...waits][0]?.words('its login') ?? null,
    async onUnauthorized(refusal) {
      const refused = tokenSentWith(refusal.response);
      const wait = new RenewalWait(clock, () => store.holder());
      waits.add(wait);
      try {
        const tooLong = { ms: LONGEST_WAIT_MS, refusal: () => new RenewalFailed(wait.words('it')) };
        await store.alone(async () => {
          const login = store.read();
          if (login === null) throw new LoginNeeded();
          // Another call or process has renewed it meanwhile.
          if (login.tokens.access_token !== refused) return;
          store.save(await renewed(login, refusal, { store, limitMs, wait }));
        }, tooLong);
      } finally {
        waits.delete(wait);
      }
    },
  };
}

class RenewalWait {
  readonly #clock: Clock;
  #since: number;
  #what: () => string;

  constructor(clock: Clock, what: () => string) {
    this.#clock = clock;
    this.#since = elapsedOf(clock);
    this.#what = what;
  }

  goesOnWith(address: string): void {
    this.#since = elapsedOf(this.#clock);
    this.#what = () => address;
  }

  words(login: string): string {
    return `it waited ${seconds(elapsedOf(this.#clock) - this.#since)} for ${this.#what()} to renew ${login}`;
  }
}

async function renewed(
  login: StoredLogin,
  refusal: Refusal,
  { store, limitMs, wait }: { store: TokenStore; limitMs: number; wait: RenewalWait },
): Promise<StoredLogin> {
  const { client, tokens, resource } = login;
  if (tokens.refresh_token === undefined) throw new LoginNeeded();
  const signal = AbortSignal.timeout(limitMs);
  let asked = '';
  const fetchFn: typeof boundedFetch = (url, init) => {
    const { origin, pathname } = new URL(url);
    // Once the time is over the SDK still asks elsewhere.
    if (!signal.aborted) {
      asked = `${origin}${pathname}`;
      wait.goesOnWith(asked);
    }
    return boundedFetch(url, { ...init, signal });
  };
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(refusal.response);
  try {
    const { authorizationServerUrl, authorizationServerMetadata } = await discoverOAuthServerInfo(
      refusal.serverUrl,
      { ...(resourceMetadataUrl && { resourceMetadataUrl }), fetchFn },
    );
    const issuer = authorizationServerMetadata?.issuer ?? String(authorizationServerUrl);
    if (bare(tokens.issuer) !== bare(issuer)) throw new LoginNeeded();
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      ...(authorizationServerMetadata && { metadata: authorizationServerMetadata }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      ...(resource !== undefined && { resource }),
      fetchFn,
    });
    return { ...login, tokens: { ...fresh, issuer } };
  } catch (error) {
    if (error instanceof LoginNeeded) throw error;
    const isOver = error instanceof OAuthError && OVER.includes(error.code);
    const why = signal.aborted ? `${asked} did not answer within ${seconds(limitMs)}` : describeCause(error);
    if (!isOver) throw new RenewalFailed(why);
    store.clear();
    throw new LoginNeeded();
  }
}

/** The login is worth nothing any more. */
const OVER: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

function bare(issuer: string | undefined): string | undefined {
  return issuer?.replace(/\/$/, '');
}
