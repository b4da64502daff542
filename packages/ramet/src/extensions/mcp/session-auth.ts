/**
 * The token of a session at a server, and its renewal. Nobody is at a browser here: what needs one fails with a line
 * that says how to log in.
 *
 * Invariants
 * 1. A token is renewed once, however many calls and processes it was refused to at the same time.
 * 2. A token for renewal goes only to the server that gave it, whatever the MCP server says now.
 */
import {
  type AuthProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { describeError } from '../../schema/errors.ts';
import { boundedFetch, tokenSentWith } from './sdk-client.ts';
import { LoginNeeded, seconds } from './server-failure.ts';
import type { StoredLogin, TokenStore } from './token-store.ts';

type Refusal = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** Less than what others wait for one that was killed: two must not renew at once. */
const RENEWAL_MS = 20_000;

export function sessionAuth(store: TokenStore, limitMs: number = RENEWAL_MS): AuthProvider {
  return {
    token: async () => store.read()?.tokens.access_token,
    async onUnauthorized(refusal) {
      const refused = tokenSentWith(refusal.response);
      await store.alone(async () => {
        const login = store.read();
        if (login === null) throw new LoginNeeded();
        // Another call or process has renewed it meanwhile.
        if (login.tokens.access_token !== refused) return;
        store.save(await renewed(login, refusal, { store, limitMs }));
      });
    },
  };
}

async function renewed(
  login: StoredLogin,
  refusal: Refusal,
  { store, limitMs }: { store: TokenStore; limitMs: number },
): Promise<StoredLogin> {
  const { client, tokens, resource } = login;
  if (tokens.refresh_token === undefined) throw new LoginNeeded();
  const signal = AbortSignal.timeout(limitMs);
  const fetchFn: typeof boundedFetch = (url, init) => boundedFetch(url, { ...init, signal });
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
    const why = signal.aborted
      ? `its authorization server did not answer within ${seconds(limitMs)}`
      : describeError(error);
    if (!isOver) throw new Error(`its login could not be renewed: ${why}`);
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
