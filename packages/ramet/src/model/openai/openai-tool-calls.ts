/**
 * Tool calls of a streamed chat completion. Owns which piece belongs to which call, and ids.
 *
 * 1. Pieces are told apart by `index`; where a server gives every call the same index or none, another id or name,
 *    or more arguments behind whole ones, begins a new call.
 * 2. Ids are unique in the conversation: one that is missing, repeated in the answer, used in an earlier turn or not
 *    what the Messages API would take is replaced, so that a conversation can move between providers. The replacement counts up instead of being random, so that equal runs make equal requests, and has
 *    the form (nine letters and digits) that the strictest servers ask for.
 * 3. A call is complete when its arguments are JSON, however many pieces they came in.
 */
import { ModelError } from '../../schema/errors.ts';
import type { ResponseBlock } from '../provider.ts';
import { closeBlock } from '../wire.ts';

/** Every field as it may come; checked when read. */
export interface ChatCallPiece {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

interface OpenCall {
  index: unknown;
  id: string;
  name: string;
  json: string;
}

const VALID_ID = /^[\w-]{1,200}$/;
const LONGEST_NAME = 128;

export class OpenaiToolCalls {
  readonly #usedIds: Set<string>;
  readonly #calls: OpenCall[] = [];

  /** `usedIds` are those of the conversation so far. */
  constructor(usedIds: Iterable<string>) {
    this.#usedIds = new Set(usedIds);
  }

  get count(): number {
    return this.#calls.length;
  }

  take(piece: ChatCallPiece): void {
    const id = text(piece.id);
    const name = text(piece.function?.name);
    const json = argumentsText(piece.function?.arguments);
    const call = this.#callOf({ index: piece.index, id, name, json });
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    call.json += json;
  }

  /**
   * The finished blocks. When the output limit ended the answer, the last call may be cut: then it is left out.
   * Any other call that is not whole makes the message a broken one.
   */
  close(limitReached: boolean): { blocks: ResponseBlock[]; cut: boolean } {
    const blocks: ResponseBlock[] = [];
    for (const [position, call] of this.#calls.entries()) {
      const last = position === this.#calls.length - 1;
      // Without arguments a call may be whole or not begun; only the server's own end of it tells.
      const unfinished = limitReached && last && call.json.trim() === '';
      const block =
        call.name === '' || unfinished ? null : closeBlock(openBlock(call, this.#uniqueId(call.id)));
      if (block !== null) blocks.push(block);
      else if (limitReached && last) return { blocks, cut: true };
      else throw incomplete(call);
    }
    return { blocks, cut: false };
  }

  #callOf(piece: OpenCall): OpenCall {
    const { index } = piece;
    const open = index == null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (open !== undefined && !beginsAnother(open, piece)) return open;
    const call = { index, id: '', name: '', json: '' };
    this.#calls.push(call);
    return call;
  }

  #uniqueId(wanted: string): string {
    let id = wanted;
    for (let number = this.#usedIds.size + 1; !VALID_ID.test(id) || this.#usedIds.has(id); number += 1) {
      id = `call${String(number).padStart(5, '0')}`;
    }
    this.#usedIds.add(id);
    return id;
  }
}

/** Some servers repeat id and name with every piece: by themselves the same ones mean no new call. */
function beginsAnother(open: OpenCall, { id, name, json }: OpenCall): boolean {
  if (id !== '' && open.id !== '' && id !== open.id) return true;
  if (name === '' || open.name === '') return false;
  return (id === '' && name !== open.name) || (json.trim() !== '' && isWhole(open.json));
}

/** Arguments come in thousands of pieces: only what ends like an object is worth parsing. */
function isWhole(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

/** A name that no tool can have is made one that no tool has: the model is told, instead of asked again. */
function openBlock(call: OpenCall, id: string): Parameters<typeof closeBlock>[0] {
  const name = call.name.replace(/[^\w-]/g, '_').slice(0, LONGEST_NAME);
  return { start: { type: 'tool_use', id, name }, json: call.json, text: '', signature: '', citations: [] };
}

/** A string, as the protocol says; some servers send the object itself. */
function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch {
    // Nested so deeply that the stack does not suffice.
    throw broken('has arguments that cannot be written down');
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function incomplete({ name, json }: OpenCall): ModelError {
  return broken(
    name === '' ? 'has no name' : `(${name}) has arguments that are no JSON: ${json.slice(0, 80)}`,
  );
}

function broken(what: string): ModelError {
  return new ModelError(
    'stream_broken',
    'retryable',
    `the stream of the response is broken: a tool call ${what}`,
  );
}
