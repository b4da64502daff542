/**
 * One content block, tool schema or system text as the exact bytes that go over the wire. Freezing happens
 * once; from then on a block is compared by digest, stored by digest and sent by copying its bytes.
 */
import { digestOf } from '../journal/digest.ts';
import type { CacheControl, ContentBlock, OtherBlock, ToolSchema } from '../schema/content.ts';
import type { Digest } from '../schema/events.ts';

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

export function freezeTool(tool: ToolSchema): FrozenBlock {
  return freezeJson('tool', JSON.stringify(tool), true);
}

/** For JSON text that must not be re-serialised: a round trip through objects would reorder numeric keys. */
export function freezeJson(type: string, json: string, notEmpty: boolean): FrozenBlock {
  const bytes = Buffer.from(json);
  const markable = notEmpty && type !== 'thinking' && type !== 'redacted_thinking';
  return Object.freeze({ type, bytes, digest: digestOf(bytes), markable });
}

/** A block back from the journal. */
export function thawBytes(bytes: Uint8Array): FrozenBlock {
  const json = Buffer.from(bytes).toString();
  const block = parseFrozen(json);
  const type = 'input_schema' in block ? 'tool' : block.type;
  return freezeJson(type, json, !(type === 'text' && block.text === ''));
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
