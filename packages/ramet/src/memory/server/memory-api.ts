/**
 * The HTTP interface of team memory but for single keys, as Hono routes: the listing, health and the description. Requests
 * for one key are in `key-requests.ts`. `api-description.ts` describes all of it for other programs.
 */
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { apiDescription } from './api-description.ts';
import { readSeenParts } from './history-parts.ts';
import { KEYS, type KeyRequests } from './key-requests.ts';
import { jsonReply, type MemoryReply, matches, refuse, refuseFailed, refuseMethod } from './memory-reply.ts';
import type { TokenTeam } from './team-tokens.ts';

type MemoryApp = Hono<{ Bindings: HttpBindings; Variables: { team: TokenTeam } }>;

export function memoryApp({ store, gate, limits, note }: KeyRequests): MemoryApp {
  const app: MemoryApp = new Hono();
  const description = apiDescription(limits);
  app.get('/v1/openapi.json', () => responseOf(jsonReply(description)));
  app.get('/v1/health', () => responseOf(jsonReply({ status: 'ok' })));
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
    const isKnown = matches(c.req.header('if-none-match'), ETag);
    return responseOf(
      isKnown
        ? { status: 304, headers, body: null }
        : jsonReply(store.listing(id, name, readSeenParts(c.req.query('seen'))), 200, headers),
    );
  });
  app.all(KEYS, () => responseOf(refuseMethod('GET, HEAD')));
  app.notFound(() => responseOf(refuse(404, 'path', 'there is nothing at this path: see /v1/openapi.json')));
  app.onError((error) => responseOf(refuseFailed(error, note)));
  return app;
}

function responseOf({ status, headers, body }: MemoryReply): Response {
  return new Response(typeof body === 'string' ? body : null, { status, headers });
}
