/**
 * Answers from a cassette, byte for byte. Equal requests get their answers in the order of the recording, and the last
 * one again from then on; a request that was never recorded is refused with what differs.
 */
import { badRequest } from '../api-error.ts';
import { type Exchange, openResponse } from '../exchange.ts';
import { type CassetteEntry, normaliseBody, requestDigest } from './cassette.ts';
import { type AskedRequest, describeMiss } from './cassette-difference.ts';
import { scrubber } from './cassette-scrub.ts';

export class CassettePlayer {
  readonly #file: string;
  readonly #entries: readonly CassetteEntry[];
  readonly #byDigest = new Map<string, CassetteEntry[]>();

  constructor(file: string, entries: readonly CassetteEntry[]) {
    this.#file = file;
    this.#entries = entries;
    for (const entry of entries) {
      this.#byDigest.set(entry.digest, [...(this.#byDigest.get(entry.digest) ?? []), entry]);
    }
  }

  /** `onMiss` is told what the client is told. */
  answer(exchange: Exchange, onMiss: (message: string) => void): void {
    const { method, path, body } = exchange.record;
    const request = normaliseBody(body, scrubber(exchange.headers));
    const answers = this.#byDigest.get(requestDigest(method, path, request));
    const answer = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
    if (answer === undefined) throw this.#miss(exchange, onMiss, { method, path, request });
    play(exchange, answer);
  }

  #miss({ record }: Exchange, onMiss: (message: string) => void, asked: AskedRequest): Error {
    const message = `cassette ${this.#file}: ${describeMiss(this.#entries, asked)}`;
    record.outcome = 'unmatched';
    onMiss(message);
    return badRequest(message);
  }
}

function play(exchange: Exchange, { status, headers, chunks, broken }: CassetteEntry): void {
  const { 'content-type': contentType = 'application/json', ...rest } = headers;
  openResponse(exchange, status, contentType, rest);
  const { response } = exchange;
  for (const chunk of chunks) response.write(chunk);
  // Bytes that are still on their way when a connection is destroyed are lost: the last write tells when they left.
  if (broken === true) response.write('', () => response.destroy());
  else response.end();
}
