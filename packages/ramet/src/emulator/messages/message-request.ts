/**
 * A Messages request as it came over the wire. The schemas only judge: what is returned is the parsed JSON itself,
 * because zod's copies put known keys first and the order of keys is part of what the prompt cache compares.
 */

import type { CacheControl } from '../../schema/content.ts';
import * as z from '../../schema/zod.ts';
import { badRequest, parseBody } from '../api-error.ts';

export type WireRole = 'user' | 'assistant' | 'system';

export interface WireBlock {
  type: string;
  cache_control?: CacheControl | null;
  [field: string]: unknown;
}

export interface WireMessage {
  role: WireRole;
  content: string | WireBlock[];
}

export interface WireTool {
  name: string;
  type?: string;
  cache_control?: CacheControl | null;
  defer_loading?: boolean;
  [field: string]: unknown;
}

export interface WireRequest {
  model: string;
  messages: WireMessage[];
  /** Absent only in count_tokens. */
  max_tokens?: number;
  system?: string | WireBlock[];
  tools?: WireTool[];
  stream?: boolean;
  cache_control?: CacheControl | null;
  tool_choice?: { type: string; name?: string; disable_parallel_tool_use?: boolean };
  thinking?: { type: string; budget_tokens?: number };
  output_config?: { effort?: string; format?: unknown; [field: string]: unknown };
  speed?: string;
  [field: string]: unknown;
}

const mark = z.optional(
  z.nullable(z.strictObject({ type: z.literal('ephemeral'), ttl: z.optional(z.enum(['5m', '1h'])) })),
);
const block = z.looseObject({ type: z.string(), cache_control: mark });
const identifier = z.string().check(z.regex(/^[a-zA-Z0-9_-]+$/));
const toolName = z.string().check(z.regex(/^[a-zA-Z0-9_-]{1,128}$/));

/** Shapes of the blocks whose fields the emulator reads; other kinds pass as they are. */
const BLOCKS: Readonly<Record<string, z.ZodMiniType>> = {
  text: z.looseObject({ text: z.string() }),
  thinking: z.looseObject({ thinking: z.string(), signature: z.string() }),
  redacted_thinking: z.looseObject({ data: z.string() }),
  image: z.looseObject({ source: z.looseObject({ type: z.string() }) }),
  tool_use: z.looseObject({ id: identifier, name: toolName, input: z.record(z.string(), z.unknown()) }),
  tool_result: z.looseObject({
    tool_use_id: identifier,
    content: z.optional(z.union([z.string(), z.array(block)])),
    is_error: z.optional(z.boolean()),
  }),
};

const content = z.union([z.string(), z.array(block)]);

const requestSchema = z.looseObject({
  model: z.string().check(z.minLength(1)),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content }))
    .check(z.minLength(1), z.maxLength(100_000)),
  max_tokens: z.optional(z.int().check(z.minimum(0))),
  system: z.optional(content),
  tools: z.optional(z.array(z.looseObject({ name: toolName, cache_control: mark }))),
  stream: z.optional(z.boolean()),
  cache_control: mark,
  tool_choice: z.optional(
    z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']), name: z.optional(z.string()) }),
  ),
  thinking: z.optional(
    z.looseObject({ type: z.enum(['enabled', 'disabled', 'adaptive']), budget_tokens: z.optional(z.int()) }),
  ),
  output_config: z.optional(z.looseObject({ effort: z.optional(z.string()) })),
});

/** Parses and judges a body; `max_tokens` is required of everything but a count of tokens. */
export function parseRequest(body: string, options: { counting: boolean }): WireRequest {
  const parsed = parseBody(body);
  const outcome = requestSchema.safeParse(parsed);
  if (!outcome.success) throw badRequest(z.describeIssues(outcome.error));
  const request = parsed as WireRequest; // judged by the schema just above
  if (!options.counting && request.max_tokens === undefined) throw badRequest('max_tokens: Field required');
  checkBlocks(request);
  return request;
}

function checkBlocks(request: WireRequest): void {
  contentBlocks(request.system ?? []).forEach((one, index) => {
    if (one.type !== 'text') throw badRequest(`system.${index}.type: only text blocks are allowed here`);
    checkBlock(one, `system.${index}`);
  });
  request.messages.forEach((message, index) => {
    contentBlocks(message.content).forEach((one, position) => {
      checkBlock(one, `messages.${index}.content.${position}`);
    });
  });
}

function checkBlock(one: WireBlock, path: string): void {
  const schema = Object.hasOwn(BLOCKS, one.type) ? BLOCKS[one.type] : undefined;
  const outcome = schema?.safeParse(one);
  if (outcome?.success === false) throw badRequest(`${path}.${z.describeIssues(outcome.error)}`);
}

/** A string is short for one text block. */
export function contentBlocks(value: string | WireBlock[]): WireBlock[] {
  return typeof value === 'string' ? [{ type: 'text', text: value }] : value;
}
