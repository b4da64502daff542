/**
 * One content block, tool schema or system text as the exact bytes that go over the wire. Freezing happens
 * once; from then on a block is compared by digest, stored by digest and sent by copying its bytes.
 */
import type {
  CacheControl,
  ContentBlock,
  OtherBlock,
  ServerToolSchema,
  ToolSchema,
} from '../schema/content.ts';
import type { Digest } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';

const BYTES_PER_TOKEN = 4;

/** An image costs by its area, whatever its file weighs; large ones are scaled down to about this. */
const IMAGE_TOKENS = 1_600;

const IMAGE = '"type":"image"';

export interface FrozenBlock {
  readonly type: string;
  readonly bytes: Buffer;
  readonly digest: Digest;
  /** Whether the API accepts a cache breakpoint on it: not on thinking, not on empty text. */
  readonly markable: boolean;
}

export function freezeBlock(block: ContentBlock | OtherBlock): FrozenBlock {
  return freezeJson(block.type, JSON.stringify(block), !(block.type === 'text' && block.text === ''));
}

export function freezeTool(tool: ToolSchema | ServerToolSchema): FrozenBlock {
  return freezeJson('tool', JSON.stringify(tool), true);
}

/** For JSON text that must not be re-serialised: a round trip through objects would reorder numeric keys. */
export function freezeJson(type: string, json: string, notEmpty: boolean): FrozenBlock {
  return frozen(type, Buffer.from(json), notEmpty);
}

function frozen(type: string, bytes: Buffer, notEmpty: boolean, digest = digestOf(bytes)): FrozenBlock {
  const markable = notEmpty && type !== 'thinking' && type !== 'redacted_thinking';
  return Object.freeze({ type, bytes, digest, markable });
}

/**
 * A block back from the journal. It keeps the bytes: the caller must not change them. With `digest`, the caller has
 * compared the bytes with it.
 */
export function thawBytes(stored: Uint8Array, digest?: Digest): FrozenBlock {
  const bytes = bufferOf(stored);
  const long = longBlockType(bytes);
  if (long !== null) return frozen(long, bytes, true, digest);
  const block = parseFrozen(bytes.toString());
  const type = 'input_schema' in block ? 'tool' : block.type;
  return frozen(type, bytes, !(type === 'text' && block.text === ''), digest);
}

/** The value of stored bytes, for views. */
export function contentOfBytes(stored: Uint8Array): OtherBlock {
  return parseFrozen(bufferOf(stored).toString());
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const LONG_BYTES = 1_024;
/** Only types that hold no text that could be empty, and that no tool schema has. */
const LONG_BLOCK = /^\{"type":"(tool_result|tool_use|thinking|redacted_thinking|text(?=","text":"[^"]))"/;

/** What a long block is, by how it begins: a resumed session has thousands, and parsing each would tell no more. */
function longBlockType(bytes: Buffer): string | null {
  if (bytes.length < LONG_BYTES) return null;
  return LONG_BLOCK.exec(bytes.toString('latin1', 0, 40))?.[1] ?? null;
}

/** The block as an object, for what has to look inside: resume, views, other providers. */
export function contentOf(block: FrozenBlock): OtherBlock {
  return parseFrozen(block.bytes.toString());
}

// Frozen bytes were serialised by this module or checked on arrival, so the shape is known.
function parseFrozen(json: string): OtherBlock {
  return JSON.parse(json) as OtherBlock;
}

const CLOSING_BRACE = Buffer.from('}');
const MARKS: Record<NonNullable<CacheControl['ttl']>, Buffer> = {
  '5m': Buffer.from(',"cache_control":{"type":"ephemeral"}}'),
  '1h': Buffer.from(',"cache_control":{"type":"ephemeral","ttl":"1h"}}'),
};

/** The block's bytes with a cache breakpoint, as pieces to join: nothing is parsed or copied here. */
export function markedBytes(block: FrozenBlock, ttl: '5m' | '1h'): [Buffer, Buffer] {
  const end = block.bytes.length - CLOSING_BRACE.length;
  return [block.bytes.subarray(0, end), MARKS[ttl]];
}

/** How many tokens blocks may be, where no response has told. For deciding, never for a bill. */
export function estimateTokens(blocks: Iterable<FrozenBlock>): number {
  let tokens = 0;
  for (const block of blocks) tokens += blockTokens(block);
  return Math.ceil(tokens);
}

function blockTokens({ bytes }: FrozenBlock): number {
  const byLength = bytes.length / BYTES_PER_TOKEN;
  return byLength > IMAGE_TOKENS && bytes.includes(IMAGE) ? IMAGE_TOKENS : byLength;
}

export function bytesOfTokens(tokens: number): number {
  return Math.floor(tokens * BYTES_PER_TOKEN);
}
