/**
 * Takes out of the lists of a server what nobody could use, and remembers it by name: one bad tool must not cost the
 * others, since the SDK refuses a list as a whole. The same for the parts of what a call answers.
 *
 * Invariants
 * 1. What is left of a list has the shape that the SDK wants, and can be written as JSON.
 * 2. A list ends: after the most that are kept, no further page is asked for.
 * 3. An answer counts for the list that it was asked for, also when it comes after another was begun.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { readableResult } from './readable-result.ts';
import { isObject } from './server-config.ts';
import { type LeftOutItem, oneLine } from './server-failure.ts';

const LIST_FIELDS = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
} as const;
type ListMethod = keyof typeof LIST_FIELDS;
type ListField = LeftOutItem['field'];

const MOST_ITEMS: Record<ListField, number> = {
  tools: 2_000,
  resources: 500,
  resourceTemplates: 500,
  prompts: 500,
};
const LONGEST_NAME = 1_000;
const MOST_LEVELS = 100;

/** The shapes of the protocol: why something in a list does not have its own, null when it has. */
interface Shapes {
  problem(field: ListField, item: unknown): string | null;
  isContent(part: unknown): boolean;
}

interface ListState {
  readonly names: Set<string>;
  readonly leftOut: LeftOutItem[];
  /** Beyond the most that are kept. */
  extra: number;
}

export class ListSieve {
  /** Requests without an answer, each with the list that it is a page of. */
  readonly #asked = new Map<string | number, { method: ListMethod; list: ListState }>();
  /** The lists that were begun last. */
  readonly #lists = new Map<ListField, ListState>();

  readonly #calls = new Set<string | number>();
  readonly #shapes: Shapes;

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  /** After the SDK has put its own listeners there. */
  attach(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = async (message: JSONRPCMessage, options?: Parameters<typeof send>[1]) => {
      this.#note(message);
      return send(message, options);
    };
    const hear = transport.onmessage;
    transport.onmessage = (message: JSONRPCMessage, extra?: Parameters<NonNullable<typeof hear>>[1]) =>
      hear?.(this.#sieved(message), extra);
  }

  /** Of the lists that were asked for last. */
  get leftOut(): LeftOutItem[] {
    return [...this.#lists].flatMap(([field, { leftOut, extra }]) => [
      ...leftOut,
      ...(extra === 0
        ? []
        : [{ name: `${extra} or more`, field, reason: `only ${MOST_ITEMS[field]} ${field} are used` }]),
    ]);
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message && 'id' in message)) return;
    if (message.method === 'tools/call') this.#calls.add(message.id);
    if (!isListMethod(message.method)) return;
    const { id, method, params } = message;
    const begun = params?.cursor === undefined ? undefined : this.#lists.get(LIST_FIELDS[method]);
    const list = begun ?? { names: new Set(), leftOut: [], extra: 0 };
    this.#lists.set(LIST_FIELDS[method], list);
    this.#asked.set(id, { method, list });
  }

  #sieved(message: JSONRPCMessage): JSONRPCMessage {
    if ('method' in message || message.id === undefined) return message;
    if (this.#calls.delete(message.id) && 'result' in message && isObject(message.result))
      return { ...message, result: readableResult(message.result, this.#shapes.isContent) };
    const asked = this.#asked.get(message.id);
    if (asked === undefined) return message;
    this.#asked.delete(message.id);
    const { list: state } = asked;
    const field = LIST_FIELDS[asked.method];
    if (!('result' in message) || !isObject(message.result)) return message;
    const { [field]: items, nextCursor, ...rest } = message.result;
    if (!Array.isArray(items)) return message;
    const kept = items.filter((item: unknown, index) => this.#keeps(state, field, item, index));
    const isFull = state.names.size >= MOST_ITEMS[field];
    return {
      ...message,
      result: {
        ...rest,
        [field]: field === 'tools' ? kept.map(withoutAnswerSchema) : kept,
        ...(!isFull && nextCursor !== undefined && { nextCursor }),
      },
    };
  }

  #keeps(state: ListState, field: ListField, item: unknown, index: number): boolean {
    const name = nameOf(item, field);
    const reason = state.names.has(name) ? 'it is listed twice' : this.#problemOf(item, field, name);
    if (reason !== null) {
      const shown = oneLine(name).slice(0, 60);
      if (state.leftOut.length < MOST_ITEMS[field])
        state.leftOut.push({ name: shown || `number ${index + 1}`, field, reason });
      return false;
    }
    if (state.names.size >= MOST_ITEMS[field]) {
      state.extra += 1;
      return false;
    }
    state.names.add(name);
    return true;
  }

  #problemOf(item: unknown, field: ListField, name: string): string | null {
    if (!isObject(item)) return 'it is no object';
    if (name === '') return 'it has no name';
    if (name.length > LONGEST_NAME) return `its name has more than ${LONGEST_NAME} characters`;
    if (field === 'tools' && item.inputSchema === undefined) return 'it has no inputSchema';
    if (field === 'tools' && isObject(item.execution) && item.execution.taskSupport === 'required')
      return 'it can only be called as a task, which Ramet does not do';
    // Who checks shapes or writes JSON calls itself at each level.
    if (isDeep(item)) return `it is nested more than ${MOST_LEVELS} levels deep`;
    const problem = this.#shapes.problem(field, item);
    return problem === null ? null : oneLine(problem).slice(0, 120);
  }
}

function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(LIST_FIELDS, method);
}

/** What no other of its list may have. */
function nameOf(item: unknown, field: ListField): string {
  const key = field === 'resources' ? 'uri' : field === 'resourceTemplates' ? 'uriTemplate' : 'name';
  return isObject(item) && typeof item[key] === 'string' ? item[key] : '';
}

/** A model reads an answer as it is: refusing one that differs from its schema would hide what the call did. */
function withoutAnswerSchema(tool: unknown): unknown {
  if (!isObject(tool)) return tool;
  const { outputSchema: _, ...rest } = tool;
  return rest;
}

function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
