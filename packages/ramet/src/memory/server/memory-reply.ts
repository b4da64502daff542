/** An answer of the memory server as a value. Every refusal is JSON with a code and one line; none repeats what was sent. */
import type { ServerResponse } from 'node:http';
import type { RefusalBody } from '../wire/memory-shapes.ts';

export interface MemoryReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

type RefusalStatus =
  | 400
  | 401
  | 404
  | 405
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 417
  | 422
  | 428
  | 429
  | 431
  | 500
  | 501
  | 507;

interface RefusalMore extends Omit<RefusalBody['error'], 'code' | 'message'> {
  headers?: Readonly<Record<string, string>>;
}

export function jsonReply(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): MemoryReply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

export function refuse(
  status: RefusalStatus,
  code: string,
  message: string,
  { headers = {}, ...more }: RefusalMore = {},
): MemoryReply {
  const body: RefusalBody = { error: { code, message, ...more } };
  return jsonReply(body, status, headers);
}

export function refuseMethod(allowed: string): MemoryReply {
  return refuse(405, 'method', `this path allows ${allowed}`, { headers: { Allow: allowed } });
}

/** Of an error that is ours; `note` learns what it was. */
export function refuseFailed(error: unknown, note: (line: string) => void): MemoryReply {
  note(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
  return refuse(500, 'failed', 'the server could not do it: its log says why');
}

export function send(outgoing: ServerResponse, { status, headers, body }: MemoryReply): void {
  if (body === null) {
    outgoing.writeHead(status, headers);
    outgoing.end();
    return;
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  outgoing.writeHead(status, { ...headers, 'Content-Length': String(length) });
  outgoing.end(body);
}
