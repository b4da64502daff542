/** The OpenAPI description of the memory server, as it is served. A test compares every path, code and shape with the server. */
import * as z from '../../schema/zod.ts';
import { ENTRY_SHAPE, LISTING_SHAPE, type MemoryLimits, REFUSAL_SHAPE } from '../wire/memory-shapes.ts';

type Json = Readonly<Record<string, unknown>>;

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'the key, the condition, the value or the request is not understood; after a request that is none of HTTP/1.1 (two Host fields, more than its body) the connection ends',
  401: 'the token is missing, wrong or revoked',
  404: 'the key never existed',
  405: 'the path has no such method',
  408: 'the request took longer than 30 seconds to arrive; the connection ends',
  409: 'another key, or a folder of one, differs in case or Unicode form only, or has the name of a folder',
  410: 'the key was deleted; ETag is the one of its deletion, and `earlier` has the beginnings of the checksums of up to 64 earlier versions',
  412: 'the key has another version, which `current` and ETag describe, was deleted, or never existed: then there is neither',
  413: 'the value is too large',
  415: 'the value has a Content-Encoding',
  417: 'an Expect other than 100-continue',
  422: 'the value has a secret: `findings` name rule and line, never the secret; or the key has one',
  428: 'a write needs If-Match or If-None-Match: *, a deletion If-Match; a list of tags in If-None-Match alone does not do',
  429: 'too many requests: wait as long as Retry-After says',
  431: 'the head of the request has more than 16 KB; the connection ends',
  500: 'the server could not do it, as on a full disk; nothing of a write was done',
  501: 'a Transfer-Encoding other than chunked',
  507: 'the team has reached a limit',
};

const ETAG = { ETag: { schema: { type: 'string' } } };
const RETRY = { 'Retry-After': { schema: { type: 'integer' }, description: 'seconds' } };
const header = (name: string, description: string): Json => ({
  ...{ name, description, in: 'header', required: false },
  schema: { type: 'string' },
});
const IF_MATCH = header('If-Match', 'ETags of versions one of which is wanted');
const json = (schema: string): Json => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
});

/** What a HEAD gets: the same without a body. */
function headOf(get: Json): Json {
  // The cast: they are ours, from below.
  const responses = Object.entries(get.responses as Readonly<Record<string, Json>>).map(
    ([code, { content: _, ...response }]) => [code, response] as const,
  );
  return { ...get, responses: Object.fromEntries(responses) };
}

/** What any request may get. */
const ANY = [400, 405, 408, 417, 431, 500, 501];

function refusals(...codes: readonly number[]): Json {
  const response = (code: number): Json => ({
    description: REFUSALS[code],
    content: json('Refusal'),
    ...(code === 429 && { headers: RETRY }),
    ...((code === 410 || code === 412) && { headers: ETAG }),
  });
  return Object.fromEntries([...ANY, ...codes].map((code) => [code, response(code)]));
}

export function apiDescription(limits: MemoryLimits): Json {
  const key = {
    name: 'key',
    in: 'path',
    required: true,
    description: 'a relative path with / between its parts, each percent-encoded; NFC; at most 512 bytes',
    schema: { type: 'string', maxLength: 512 },
  };
  const conditions = [
    header(
      'If-Match',
      'ETags of versions, or of deletions, one of which is replaced; * for any version of a key that is there. A weak ETag matches none',
    ),
    header('If-None-Match', '* for a key that never existed; ETags of versions that are not replaced'),
  ];
  const getKey = {
    summary: 'the value of a key',
    parameters: [header('If-None-Match', 'ETags of versions that are known'), IF_MATCH],
    responses: {
      200: {
        description: 'the value',
        headers: {
          ...ETAG,
          'Repr-Digest': { schema: { type: 'string' }, description: 'its SHA-256, RFC 9530' },
        },
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      304: { description: 'the version is the known one', headers: ETAG },
      ...refusals(401, 404, 410, 412, 429),
    },
  };
  const getKeys = {
    summary: 'all keys with version and checksum, deleted ones too; no values',
    parameters: [
      header('If-None-Match', 'ETags of listings that are known'),
      IF_MATCH,
      {
        ...{ name: 'seen', in: 'query', required: false, schema: { type: 'string' } },
        description:
          'parts of the history that were seen, each with its highest version, the last one last: `9f2c.12,7e1a.40`. `parted` of the listing is then the version up to which this server has the same',
      },
    ],
    responses: {
      200: { description: 'the listing', headers: ETAG, content: json('Listing') },
      304: { description: 'nothing has changed', headers: ETAG },
      ...refusals(401, 412, 429),
    },
  };
  const health = {
    security: [],
    summary: 'whether the server answers',
    parameters: [IF_MATCH],
    responses: { 200: { description: 'it does', content: json('Health') }, ...refusals(412) },
  };
  const description = {
    security: [],
    summary: 'this description',
    parameters: [IF_MATCH],
    responses: {
      200: { description: 'it', content: { 'application/json': { schema: { type: 'object' } } } },
      ...refusals(412),
    },
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ramet team memory',
      version: '1',
      description: `Versioned texts of a team. At most ${limits.value} bytes for a value, ${limits.keys} keys and ${limits.team} bytes for a team, ${limits.rate} requests a second with one token.`,
    },
    security: [{ token: [] }],
    paths: {
      '/v1/health': { get: health, head: headOf(health) },
      '/v1/openapi.json': { get: description, head: headOf(description) },
      '/v1/keys': { get: getKeys, head: headOf(getKeys) },
      '/v1/keys/{key}': {
        parameters: [key],
        get: getKey,
        head: headOf(getKey),
        put: {
          summary: 'writes a value, if the key has the version that the condition names',
          parameters: conditions,
          requestBody: { required: true, content: { 'text/plain': { schema: { type: 'string' } } } },
          responses: {
            200: { description: 'replaced', headers: ETAG, content: json('Entry') },
            201: { description: 'created', headers: ETAG, content: json('Entry') },
            ...refusals(401, 409, 412, 413, 415, 422, 428, 429, 507),
          },
        },
        delete: {
          summary: 'deletes a key; the deletion has an ETag, too',
          parameters: conditions.slice(0, 1),
          responses: {
            200: { description: 'deleted', headers: ETAG, content: json('Entry') },
            ...refusals(401, 412, 428, 429),
          },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Entry: z.toJSONSchema(ENTRY_SHAPE),
        Listing: z.toJSONSchema(LISTING_SHAPE),
        Refusal: z.toJSONSchema(REFUSAL_SHAPE),
        Health: { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } },
      },
    },
  };
}
