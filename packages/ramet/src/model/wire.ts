/** What all wire formats share: content blocks of a streamed answer, usage, and server-sent events. */

import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { OtherBlock } from '../schema/content.ts';
import { Cancelled, ModelError } from '../schema/errors.ts';
import { isUncertain, NO_USAGE, type TokenCount, type Usage } from '../schema/usage.ts';
import type { ResponseBlock } from './provider.ts';

/** One content block: collected while open, then closed into its value and exact JSON. */
export interface OpenBlock {
  start: OtherBlock;
  text: string;
  signature: string;
  json: string;
  citations: unknown[];
}

/** The finished block, or null when it is a tool call with input that is not JSON. */
export function closeBlock(block: OpenBlock): ResponseBlock | null {
  const { start } = block;
  switch (start.type) {
    case 'text': {
      const citations = block.citations.length > 0 ? { citations: block.citations } : {};
      return fromValue({ ...start, ...citations, text: block.text.toWellFormed() });
    }
    case 'thinking':
      return fromValue({ ...start, thinking: block.text, signature: block.signature });
    case 'tool_use':
    case 'server_tool_use':
      return closeToolUse(block);
    default:
      return fromValue(start);
  }
}

function closeToolUse(block: OpenBlock): ResponseBlock | null {
  const { input: placeholder, ...rest } = block.start;
  const raw = block.json.trim() === '' ? JSON.stringify(placeholder ?? {}) : block.json.trim();
  let input: unknown;
  try {
    input = JSON.parse(raw);
  } catch {
    return null;
  }
  const usable = isRecord(input) && !isTooDeep(raw) && !LONE_SURROGATE.test(raw);
  const sent = usable ? raw : JSON.stringify({ invalid_input: raw.slice(0, EXCERPT) });
  const value = { ...rest, input: usable ? input : JSON.parse(sent) };
  return { value, json: `${JSON.stringify(rest).slice(0, -1)},"input":${sent}}` };
}

/**
 * Input that is JSON but that the API would not take back, or that would overflow a serialiser's stack, is
 * replaced by an excerpt: the tool's schema refuses that, so the model is told instead of asked again.
 */
const DEEPEST_INPUT = 500;
const EXCERPT = 1_000;
const LONE_SURROGATE = /\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]/;

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** No text has more brackets than characters. */
function isTooDeep(json: string): boolean {
  return json.length > DEEPEST_INPUT && depthOf(json) > DEEPEST_INPUT;
}

/** How deep brackets are nested, those in strings aside. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth -= 1;
  }
  return deepest;
}

function fromValue(value: OtherBlock): ResponseBlock {
  return { value, json: JSON.stringify(value) };
}

/** Text of white space alone: the API gives it and does not take it back. */
export function isBlankText({ value }: ResponseBlock): boolean {
  return value.type === 'text' && 'text' in value && String(value.text).trim() === '';
}

export function stringField(value: Record<string, unknown>, field: string): string {
  const found = value[field];
  return typeof found === 'string' ? found : '';
}

export interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation?: { ephemeral_1h_input_tokens?: number | null } | null;
  server_tool_use?: { web_search_requests?: number | null } | null;
}

/**
 * Usage comes in `message_start`, then cumulative and perhaps partial in `message_delta`. A later report replaces the fields it has; it never adds to them.
 */
export function mergeUsage(before: WireUsage | null, later: WireUsage | null | undefined): WireUsage | null {
  if (typeof later !== 'object' || later === null) return before;
  const present = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...before, ...Object.fromEntries(present) };
}

/** Far beyond every context window: a larger number is a mistake of who counted. */
const MOST_TOKENS = 100_000_000;

export function isPossibleCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS;
}

/**
 * Null when the counts that every response must have are missing: then the cost is unknown too. A number that no count
 * can be is unknown, and the others stay.
 */
export function readUsage(wire: WireUsage | null): Usage | null {
  if (typeof wire?.input_tokens !== 'number' || typeof wire.output_tokens !== 'number') return null;
  const long = wire.cache_creation?.ephemeral_1h_input_tokens;
  const counted = usageOf({
    input_tokens: wire.input_tokens,
    output_tokens: wire.output_tokens,
    cache_creation_input_tokens: wire.cache_creation_input_tokens ?? 0,
    cache_read_input_tokens: wire.cache_read_input_tokens ?? 0,
    cache_creation_1h_input_tokens: long ?? 0,
  });
  const searches = wire.server_tool_use?.web_search_requests;
  const usage =
    isPossibleCount(searches) && searches > 0 ? { ...counted, web_search_requests: searches } : counted;
  const { cache_creation_input_tokens: written, cache_creation_1h_input_tokens: longLived } = usage;
  if (longLived <= written || isUncertain(usage, 'cache_creation_input_tokens')) return usage;
  // A share that is more than the whole: the whole is believed.
  const share: TokenCount = 'cache_creation_1h_input_tokens';
  return { ...usage, unknown: [...(usage.unknown ?? []), share], [share]: 0 };
}

/** The counts that are possible; the others are named as unknown. */
export function usageOf(counts: Readonly<Record<TokenCount, unknown>>): Usage {
  const unknown: TokenCount[] = [];
  const known = { ...NO_USAGE };
  for (const [name, value] of Object.entries(counts)) {
    const count = name as TokenCount; // the keys of the record
    if (isPossibleCount(value)) known[count] = value;
    else unknown.push(count);
  }
  return unknown.length === 0 ? known : { ...known, unknown };
}

/** `enough`: the answer is whole, though more may be said about it. `done`: what follows does not matter. */
export type EventProgress = 'more' | 'enough' | 'done';

export interface EventReading {
  /** Throws when an event is not valid. */
  take: (data: string) => EventProgress;
  /** What a failure of the connection means. */
  toError: (error: unknown) => Error;
  /** How long more is waited for once there is enough; without it, as long as the connection lasts. */
  lingerMs?: number;
}

/** No response of a model is larger: 64k tokens of output are about 10 MB of events. */
const MOST_CHARACTERS = 64_000_000;

/**
 * Reads the server-sent events of an answer, one `data` at a time. Resolves when an answer is done or its stream ended; rejects when it broke or an event was refused.
 */
export function readEvents(answer: IncomingMessage, reading: EventReading): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let progress: EventProgress = 'more';
  // Checked each time: the compiler does not see what the parser's callback changes.
  const has = (reached: EventProgress): boolean => progress === reached;
  let linger: NodeJS.Timeout | undefined;
  let length = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (!has('done')) progress = reading.take(data);
    },
  });
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    // What follows the end is drained, so that the connection can be used again.
    if (has('done')) return;
    try {
      length += chunk.length;
      if (length > MOST_CHARACTERS) throw tooLarge();
      parser.feed(chunk);
    } catch (error) {
      answer.destroy();
      reject(error);
      return;
    }
    if (has('done')) resolve();
    if (has('enough') && reading.lingerMs !== undefined) {
      linger ??= setTimeout(() => {
        resolve();
        answer.destroy();
      }, reading.lingerMs);
    }
  });
  answer.once('error', (error) => reject(reading.toError(error)));
  answer.once('close', resolve);
  return promise.finally(() => clearTimeout(linger));
}

function tooLarge(): ModelError {
  const message = `the response was cut off at ${MOST_CHARACTERS / 1e6} MB: no model writes that much in one answer`;
  return new ModelError('response_too_large', 'terminal', message);
}

/** Of text; code has fewer. */
const CHARACTERS_PER_TOKEN = 4;

/** What an answer with this many characters had used when it was cut off: the provider tells the count of its output at the end. */
export function cutUsage(usage: Usage | null, characters: number): Usage | null {
  if (usage === null) return null;
  const output_tokens = Math.max(usage.output_tokens, Math.ceil(characters / CHARACTERS_PER_TOKEN));
  return { ...usage, output_tokens, estimated: true };
}

/** The same error, saying what was billed for the part of the answer that came. */
export function withUsage(error: unknown, usage: Usage | null): unknown {
  if (usage === null) return error;
  if (error instanceof Cancelled) return new Cancelled(error.message, { cause: error, usage });
  if (!(error instanceof ModelError)) return error;
  const { code, family, message, status, retryAfterMs } = error;
  return new ModelError(code, family, message, { status, retryAfterMs, usage, cause: error });
}
