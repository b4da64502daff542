/**
 * Puts a chat completion together from its chunks, or from one document when a server does not stream. A response
 * exists only with a finish reason: `[DONE]` is not waited for, since servers forget it, and without a finish
 * reason it proves nothing.
 */
import { ModelError } from '../../schema/errors.ts';
import type { Usage } from '../../schema/usage.ts';
import type { AssembledMessage } from '../anthropic/response-assembler.ts';
import type { ModelDelta, ResponseBlock } from '../provider.ts';
import { isPossibleCount, usageOf } from '../wire.ts';
import { type ChatCallPiece, OpenaiToolCalls } from './openai-tool-calls.ts';

/** The fields of a chunk that are read, each as it may come. */
export interface ChatChunk {
  id?: unknown;
  model?: unknown;
  choices?: unknown;
  usage?: ChatUsage | null;
}

interface ChatDelta {
  content?: unknown;
  refusal?: unknown;
  /** Thinking, under either name. */
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: unknown;
}

interface ChatChoice {
  index?: unknown;
  delta?: ChatDelta | null;
  /** Instead of `delta` in a document. */
  message?: ChatDelta | null;
  finish_reason?: unknown;
}

export type AssembledChat = Omit<AssembledMessage, 'usage'> & { usage: Usage | null };

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
]);

/** Finish reasons that mean the server gave up. */
const FAILURES: ReadonlySet<string> = new Set(['error', 'abort', 'insufficient_system_resource']);

export class OpenaiAssembler {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #calls: OpenaiToolCalls;
  #id = '';
  #model = '';
  #text = '';
  #refused = false;
  #finish: string | null = null;
  #usage: ChatUsage | null = null;
  #began = false;

  constructor(usedIds: Iterable<string>, onDelta: (delta: ModelDelta) => void) {
    this.#calls = new OpenaiToolCalls(usedIds);
    this.#onDelta = onDelta;
  }

  get finished(): boolean {
    return this.#finish !== null;
  }

  /** What the server has counted so far: it is billed, also when the stream breaks. */
  get usage(): Usage | null {
    return readChatUsage(this.#usage);
  }

  take(chunk: ChatChunk): void {
    if (typeof chunk.id === 'string') this.#id ||= chunk.id;
    if (typeof chunk.model === 'string') this.#model ||= chunk.model;
    if (typeof chunk.usage === 'object' && chunk.usage !== null) this.#usage = chunk.usage;
    for (const choice of objects<ChatChoice>(chunk.choices)) {
      if (typeof choice.index === 'number' && choice.index !== 0) continue;
      this.#delta(choice.delta ?? choice.message ?? {});
      this.#finish ??= finishOf(choice);
    }
  }

  finish(): AssembledChat {
    if (this.#finish === null) throw cutOff('it ended without a finish reason');
    if (FAILURES.has(this.#finish)) throw broken(`the server gave up (${this.#finish})`);
    const { blocks, cut } = this.#calls.close(this.#finish === 'length');
    const text: ResponseBlock[] = this.#text.trim() === '' ? [] : [textBlock(this.#text)];
    return {
      id: this.#id,
      model: this.#model,
      stopReason: this.#stopReason(this.#finish, blocks.length),
      blocks: [...text, ...blocks],
      cutToolUse: cut,
      usage: this.usage,
    };
  }

  #delta(delta: ChatDelta): void {
    const thinking = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    const text = textOf(delta.content);
    const calls = objects<ChatCallPiece>(delta.tool_calls);
    if (textOf(delta.refusal) !== '') this.#refused = true;
    if (thinking !== '' || text !== '' || calls.length > 0) this.#begin();
    // Shown and not kept: it has no signature, and these servers want no thinking back.
    if (thinking !== '') this.#onDelta({ type: 'thinking', text: thinking });
    if (text !== '') this.#onDelta({ type: 'text', text });
    this.#text += text;
    for (const call of calls) this.#calls.take(call);
  }

  /** Some servers say `stop` also when they call tools. */
  #stopReason(finish: string, calls: number): string {
    if (this.#refused) return 'refusal';
    const reason = STOP_REASONS.get(finish) ?? finish;
    if (reason === 'end_turn' && calls > 0) return 'tool_use';
    if (reason === 'tool_use' && calls === 0) throw broken('it announces tool calls and has none');
    return reason;
  }

  #begin(): void {
    if (this.#began) return;
    this.#began = true;
    this.#onDelta({ type: 'began' });
  }
}

/** Some servers write a reason that is not there yet as a string. */
function finishOf({ finish_reason: reason }: ChatChoice): string | null {
  return typeof reason === 'string' && reason !== '' && reason !== 'null' ? reason : null;
}

/** The objects of what should be a list of them; their fields are checked where they are read. */
function objects<Item extends object>(value: unknown): Item[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** Content is a string, or nothing, or a list of parts of which some are text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return objects<{ type?: unknown; text?: unknown }>(content)
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''))
    .join('');
}

function textBlock(text: string): ResponseBlock {
  const value = { type: 'text', text: text.toWellFormed() } as const;
  return { value, json: JSON.stringify(value) };
}

function broken(what: string): ModelError {
  return new ModelError('stream_broken', 'retryable', `the stream of the response is broken: ${what}`);
}

/** The connection ended in good order and too early: nothing the model did. */
function cutOff(what: string): ModelError {
  return new ModelError('stream_cut', 'retryable', `the stream of the response is broken: ${what}`);
}

/**
 * Usage of a chat completion. `prompt_tokens` holds cached and written tokens too, ours are apart. A server that
 * counts nothing, or counts no prompt at all, has not said: null, not zero. A number that no count can be is unknown.
 */
interface ChatUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null;
  /** Where two kinds of servers put what others have in the details. */
  cached_tokens?: unknown;
  prompt_cache_hit_tokens?: unknown;
}

export function readChatUsage(wire: ChatUsage | null): Usage | null {
  if (typeof wire?.prompt_tokens !== 'number' || typeof wire.completion_tokens !== 'number') return null;
  const { prompt_tokens: prompt, completion_tokens: output } = wire;
  if (prompt === 0) return null;
  const details = wire.prompt_tokens_details;
  const cached = details?.cached_tokens ?? wire.cached_tokens ?? wire.prompt_cache_hit_tokens ?? 0;
  const written = details?.cache_write_tokens ?? 0;
  return usageOf({
    ...promptCounts(prompt, cached, written),
    output_tokens: output,
    cache_creation_1h_input_tokens: 0,
  });
}

type PromptCount = 'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens';

/** What is uncached is the rest: it is known only where the whole and its parts are. */
function promptCounts(prompt: number, cached: unknown, written: unknown): Record<PromptCount, unknown> {
  const parts = { cache_creation_input_tokens: written, cache_read_input_tokens: cached };
  if (![prompt, cached, written].every(isPossibleCount)) return { ...parts, input_tokens: undefined };
  // Parts that are more than the whole would make the rest negative.
  const read = Math.min(prompt, Number(cached));
  const creation = Math.min(prompt - read, Number(written));
  return {
    input_tokens: prompt - read - creation,
    cache_creation_input_tokens: creation,
    cache_read_input_tokens: read,
  };
}
