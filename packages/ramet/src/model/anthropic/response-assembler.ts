/**
 * Puts a streamed answer together (facts: event order of the Messages API) and accepts nothing less than a
 * whole one: a response exists only after `message_stop`, with every block closed and every tool call's input
 * a JSON object. Whatever else arrives is a broken stream, which the caller retries as a whole.
 */
import type { OtherBlock } from '../../schema/content.ts';
import { ModelError } from '../../schema/errors.ts';
import type { ModelDelta, ResponseBlock } from '../provider.ts';
import { closeBlock, isBlankText, mergeUsage, type OpenBlock, stringField, type WireUsage } from '../wire.ts';

/** The fields of stream events that are read; everything else is ignored, as the protocol asks. */
export interface StreamEvent {
  type: string;
  index?: number | null;
  message?: { id?: string; model?: string; usage?: WireUsage } | null;
  content_block?: OtherBlock | null;
  delta?: Record<string, unknown> | null;
  usage?: WireUsage | null;
  error?: { type?: string; message?: string } | null;
}

export interface AssembledMessage {
  id: string;
  model: string;
  stopReason: string;
  blocks: ResponseBlock[];
  cutToolUse: boolean;
  usage: WireUsage | null;
}

export class ResponseAssembler {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #open = new Map<number, OpenBlock>();
  readonly #blocks: ResponseBlock[] = [];
  #start: { id: string; model: string } | null = null;
  #usage: WireUsage | null = null;
  #stopReason: string | null = null;
  #cutToolUse = false;
  #began = false;
  #complete = false;
  #characters = 0;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** What the provider has counted so far: it is billed, also when the stream breaks. */
  get usage(): WireUsage | null {
    return this.#usage;
  }

  /** How many characters of output came before the provider told its count; null when it has told it. */
  get uncounted(): number | null {
    return this.#stopReason === null ? this.#characters : null;
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#messageStart(event);
        break;
      case 'content_block_start':
        this.#blockStart(event);
        break;
      case 'content_block_delta':
        this.#blockDelta(event);
        break;
      case 'content_block_stop':
        this.#blockStop(event);
        break;
      case 'message_delta':
        this.#messageDelta(event);
        break;
      case 'message_stop':
        this.#complete = true;
        break;
      case 'error':
        throw streamError(event);
    }
  }

  finish(): AssembledMessage {
    if (this.#start === null) throw cut('it ended before message_start');
    if (this.#open.size > 0) throw cut('it ended inside a content block');
    if (!this.#complete) throw cut('it ended before message_stop');
    if (this.#stopReason === null) throw broken('it has no stop_reason');
    if (this.#cutToolUse && this.#stopReason !== 'max_tokens') throw broken('a tool call is not valid JSON');
    refuseBadCalls(this.#blocks);
    return {
      ...this.#start,
      stopReason: this.#stopReason,
      blocks: this.#blocks,
      cutToolUse: this.#cutToolUse,
      usage: this.#usage,
    };
  }

  #messageStart(event: StreamEvent): void {
    if (this.#start !== null) throw broken('a second message_start');
    this.#start = { id: event.message?.id ?? '', model: event.message?.model ?? '' };
    this.#usage = mergeUsage(null, event.message?.usage);
  }

  #blockStart(event: StreamEvent): void {
    const { index, content_block: start } = event;
    const taken = typeof index === 'number' && this.#open.has(index);
    if (this.#start === null || typeof index !== 'number' || taken || typeof start?.type !== 'string') {
      throw broken('a content_block_start out of place');
    }
    this.#begin();
    const text = typeof start.text === 'string' ? start.text : stringField(start, 'thinking');
    this.#open.set(index, {
      start,
      text,
      signature: stringField(start, 'signature'),
      json: '',
      citations: [],
    });
  }

  #blockDelta(event: StreamEvent): void {
    const block = this.#openBlock(event);
    const delta = event.delta;
    if (block === undefined || !delta) throw broken('a delta for no open block');
    this.#begin();
    switch (delta.type) {
      case 'text_delta':
        block.text += this.#counted(stringField(delta, 'text'));
        this.#onDelta({ type: 'text', text: stringField(delta, 'text') });
        break;
      case 'thinking_delta':
        block.text += this.#counted(stringField(delta, 'thinking'));
        this.#onDelta({ type: 'thinking', text: stringField(delta, 'thinking') });
        break;
      case 'signature_delta':
        block.signature += stringField(delta, 'signature');
        break;
      case 'input_json_delta':
        block.json += this.#counted(stringField(delta, 'partial_json'));
        break;
      case 'citations_delta':
        block.citations.push(delta.citation);
        break;
    }
  }

  #counted(text: string): string {
    this.#characters += text.length;
    return text;
  }

  #blockStop(event: StreamEvent): void {
    const block = this.#openBlock(event);
    if (block === undefined || typeof event.index !== 'number') {
      throw broken('a content_block_stop for no open block');
    }
    this.#open.delete(event.index);
    const closed = closeBlock(block);
    if (closed === null) this.#cutToolUse = true;
    else if (!isBlankText(closed)) this.#blocks.push(closed);
  }

  #messageDelta(event: StreamEvent): void {
    const reason = event.delta?.stop_reason;
    if (typeof reason === 'string') this.#stopReason = reason;
    this.#usage = mergeUsage(this.#usage, event.usage);
  }

  #openBlock({ index }: StreamEvent): OpenBlock | undefined {
    return typeof index === 'number' ? this.#open.get(index) : undefined;
  }

  #begin(): void {
    if (this.#began) return;
    this.#began = true;
    this.#onDelta({ type: 'began' });
  }
}

const RETRYABLE_STREAM_ERRORS = new Set([
  'overloaded_error',
  'api_error',
  'rate_limit_error',
  'timeout_error',
]);

function streamError(event: StreamEvent): ModelError {
  const type = event.error?.type ?? 'unknown';
  const family = RETRYABLE_STREAM_ERRORS.has(type) ? 'retryable' : 'terminal';
  return new ModelError(type, family, `the provider ended the stream: ${event.error?.message ?? type}`);
}

const CALL_NAME = /^[\w-]{1,200}$/;

/** A call that the API would not take back would spoil the conversation for good: ask for another answer. */
function refuseBadCalls(blocks: readonly ResponseBlock[]): void {
  const calls = blocks.map(({ value }) => value).filter(({ type }) => type === 'tool_use');
  const ids = calls.map((call) => ('id' in call ? String(call.id) : ''));
  if (new Set(ids).size < ids.length) throw broken('two tool calls have the same id');
  for (const call of calls) {
    const valid = 'id' in call && CALL_NAME.test(String(call.id)) && CALL_NAME.test(String(call.name));
    if (!valid) throw broken('a tool call has no valid id or name');
  }
}

function broken(what: string): ModelError {
  return new ModelError('stream_broken', 'retryable', `the stream of the response is broken: ${what}`);
}

/** The connection ended in good order and too early: nothing the model did. */
function cut(what: string): ModelError {
  return new ModelError('stream_cut', 'retryable', `the stream of the response is broken: ${what}`);
}
