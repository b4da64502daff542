/**
 * The HTTP interface of team memory but for single keys, as Hono routes: the listing, health and the description. Requests
 * for one key are in `key-requests.ts`. `api-description.ts` describes all of it for other programs.
 */
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { apiDescription } from './api-description.ts';
import { readSeenParts } from './history-parts.ts';
import { KEYS, type KeyRequests } from './key-requests.ts';
import { jsonReply, type MemoryReply, refuse, refuseFailed, refuseMethod } from './memory-reply.ts';
import { isKnown, wantsAnother } from './request-conditions.ts';
import type { TokenTeam } from './team-tokens.ts';

type MemoryApp = Hono<{ Bindings: HttpBindings; Variables: { team: TokenTeam } }>;

export function memoryApp({ store, gate, limits, note }: KeyRequests): MemoryApp {
  const app: MemoryApp = new Hono();
  const description = apiDescription(limits);
  for (const [path, body] of [
    ['/v1/openapi.json', description],
    ['/v1/health', { status: 'ok' }],
  ] as const) {
    // It has no ETag: no tag is that of its version.
    app.get(path, (c) => responseOf(refuseOther(c.req.header('if-match'), '') ?? jsonReply(body)));
    app.all(path, () => responseOf(refuseMethod('GET, HEAD')));
  }
  app.use('/v1/*', async (c, next) => {
    const team = gate.admit(c.env.incoming);
    if ('status' in team) return responseOf(team);
    c.set('team', team);
    return next();
  });
  app.get(KEYS, (c) => {
    const { id, name } = c.get('team');
    const ETag = store.listingTag(id);
    const headers = { ETag, 'Cache-Control': 'no-cache' };
    const refused = refuseOther(c.req.header('if-match'), ETag);
    if (refused !== null) return responseOf(refused);
    return responseOf(
      isKnown(c.req.header('if-none-match'), ETag)
        ? { status: 304, headers, body: null }
        : jsonReply(store.listing(id, name, readSeenParts(c.req.query('seen'))), 200, headers),
    );
  });
  app.all(KEYS, () => responseOf(refuseMethod('GET, HEAD')));
  app.notFound(() => responseOf(refuse(404, 'path', 'there is nothing at this path: see /v1/openapi.json')));
  app.onError((error) => responseOf(refuseFailed(error, note)));
  return app;
}

function refuseOther(ifMatch: string | undefined, etag: string): MemoryReply | null {
  const isOther = wantsAnother(ifMatch, etag);
  if (isOther === null) return refuse(400, 'condition', 'this If-Match is not understood');
  const headers: Record<string, string> = etag === '' ? {} : { ETag: etag };
  return isOther ? refuse(412, 'changed', 'it has another version', { headers }) : null;
}

export function responseOf({ status, headers, body }: MemoryReply): Response {
  return new Response(typeof body === 'string' ? body : null, { status, headers });
}
