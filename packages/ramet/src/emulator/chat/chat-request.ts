/** A chat completions request as it came over the wire: its shape, and the order in which messages may stand. */

import * as z from '../../schema/zod.ts';
import { badRequest, parseBody } from '../api-error.ts';

export interface ChatWirePart {
  type: string;
  [field: string]: unknown;
}

export interface ChatWireCall {
  id: string;
  function: { name: string; arguments: string };
}

export interface ChatWireMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?: string | ChatWirePart[] | null;
  tool_calls?: ChatWireCall[] | null;
  tool_call_id?: string;
}

export interface ChatWireRequest {
  model: string;
  messages: ChatWireMessage[];
  tools?: { function: { name: string; description?: string; parameters?: Record<string, unknown> } }[];
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  [field: string]: unknown;
}

const limit = z.optional(z.nullable(z.int().check(z.minimum(1))));
const content = z.optional(z.nullable(z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])));
const call = z.looseObject({
  id: z.string().check(z.minLength(1)),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const requestSchema = z.looseObject({
  model: z.string().check(z.minLength(1)),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
        content,
        tool_calls: z.optional(z.nullable(z.array(call).check(z.minLength(1)))),
        tool_call_id: z.optional(z.string()),
      }),
    )
    .check(z.minLength(1)),
  tools: z.optional(
    z.array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) })),
  ),
  stream: z.optional(z.nullable(z.boolean())),
  stream_options: z.optional(z.nullable(z.looseObject({ include_usage: z.optional(z.boolean()) }))),
  max_tokens: limit,
  max_completion_tokens: limit,
});

export function parseChatRequest(body: string): ChatWireRequest {
  const parsed = parseBody(body);
  const outcome = requestSchema.safeParse(parsed);
  if (!outcome.success) throw badRequest(z.describeIssues(outcome.error));
  const request = parsed as ChatWireRequest; // judged by the schema just above
  if (request.stream_options != null && request.stream !== true) {
    throw badRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  }
  checkOrder(request.messages);
  return request;
}

/** Every call is answered by a tool message before anything else is said, and nothing else is. */
function checkOrder(messages: readonly ChatWireMessage[]): void {
  let open = new Set<string>();
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      if (open.delete(message.tool_call_id ?? '')) return;
      throw badRequest(
        `messages.${index}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`,
      );
    }
    requireAnswered(open, index);
    checkContent(message, index);
    open = new Set(message.tool_calls?.map(({ id }) => id));
    if (open.size !== (message.tool_calls?.length ?? 0))
      throw badRequest(`messages.${index}: duplicate tool call ids`);
  });
  requireAnswered(open, messages.length);
}

function requireAnswered(open: ReadonlySet<string>, index: number): void {
  if (open.size === 0) return;
  throw badRequest(
    `messages.${index}: an assistant message with 'tool_calls' must be followed by tool messages responding to each ` +
      `'tool_call_id'; missing: ${[...open].join(', ')}`,
  );
}

function checkContent({ role, content: said, tool_calls: calls }: ChatWireMessage, index: number): void {
  if (calls != null && role !== 'assistant')
    throw badRequest(`messages.${index}: ${role} messages cannot call tools`);
  if (said == null && calls == null) throw badRequest(`messages.${index}: content is required`);
}
