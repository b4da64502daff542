/**
 * A model that follows a script: a published test double for the provider port. `assertDone` fails on a request the
 * script has no step for and on steps that no request used, so a test that passes has seen exactly the exchanges it
 * lists.
 */
import type {
  ModelProvider,
  ModelRequest,
  ModelResponse,
  ResponseBlock,
  SendOptions,
} from '../model/provider.ts';
import type { AssistantBlock, Message, OtherBlock, ToolUseBlock } from '../schema/content.ts';
import { Cancelled } from '../schema/errors.ts';
import { NO_USAGE, type Usage } from '../schema/usage.ts';
import { digestOf } from '../system/digest.ts';

/** The parts of a Messages API body that tests look at. */
export interface SentRequest {
  model: string;
  max_tokens: number;
  messages: Message[];
  system: { text: string }[];
  tools?: { name: string; description: string }[];
}

export interface ScriptedAnswer {
  text?: string;
  /** Tool calls; one without an id gets one that no other call of the session has, also after a resume. */
  calls?: { name: string; input: unknown; id?: string }[];
  blocks?: (AssistantBlock | OtherBlock)[];
  stopReason?: string;
  cutToolUse?: boolean;
  /** Null: the provider does not say. */
  usage?: Partial<Usage> | null;
}

/** An answer, an error to throw, or `hang`: no answer until the request is aborted. */
export type ScriptedOutcome = ScriptedAnswer | Error | 'hang';

/** A function may look at the request first; what it throws is what `assertDone` throws. */
export type ScriptedStep = ScriptedOutcome | ((request: SentRequest) => ScriptedOutcome);

/** At the end of its block (`using model = ...`) it is checked as by `assertDone`. */
export interface ScriptedModel extends ModelProvider, Disposable {
  readonly requests: readonly SentRequest[];
  readonly bodies: readonly string[];
  /** Throws when a request came that no step was for, when a step has thrown, and when steps are left over. */
  assertDone(): void;
}

/** Answers the requests of all agents, in the order in which they come. */
export function scriptedModel(...steps: (ScriptedStep | readonly ScriptedStep[])[]): ScriptedModel {
  const requests: SentRequest[] = [];
  const bodies: string[] = [];
  const script = steps.flat();
  for (const [index, step] of script.entries()) refuseStep(step, `step ${index + 1} of the script`);
  let failure: Error | null = null;
  const carriedOut = (
    step: Extract<ScriptedStep, (...sent: never) => unknown>,
    sent: SentRequest,
  ): ScriptedOutcome => {
    try {
      const outcome = step(sent);
      if (outcome instanceof Promise)
        throw new Error('it returned a promise: a step returns its answer at once');
      if (typeof outcome === 'function') throw new Error('it returned a function: a step returns its answer');
      refuseStep(outcome, 'what it returned');
      return outcome;
    } catch (error) {
      failure ??= failedStep(requests.length, error);
      throw error;
    }
  };
  const assertDone = (): void => {
    if (failure !== null) throw failure;
    const [next] = script;
    if (next === undefined) return;
    const what =
      script.length === 1 ? '1 step of the script was' : `${script.length} steps of the script were`;
    throw new Error(`${what} not used, from step ${requests.length + 1} on: ${describeStep(next)}`);
  };
  let ids = 0;
  // Of the first request: a model that continues the session later sees another one, and must not count the same.
  const mark = (): string => digestOf(bodies[0] ?? '').slice(0, 8);
  const nextId = (kind: 'call' | 'msg'): string => `${kind}_${mark()}_${++ids}`;
  return {
    name: 'scripted',
    requests,
    bodies,
    async send(request, options) {
      const sent = readRequest(request);
      requests.push(sent);
      bodies.push(Buffer.from(request.body).toString());
      const step = script.shift();
      if (step === undefined) {
        const unexpected = new Error(
          `the script has no step for request ${requests.length}: ${describeLast(sent)}`,
        );
        failure ??= unexpected;
        throw unexpected;
      }
      return perform(typeof step === 'function' ? carriedOut(step, sent) : step, request, options, nextId);
    },
    close() {},
    assertDone,
    [Symbol.dispose]: assertDone,
  };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** What a Map or an object of a class holds is in none of its fields. */
const isPlain = (value: unknown): value is object =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value));
const isListOf = (value: unknown, isOne: (one: Record<string, unknown>) => boolean): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && isOne(one));

const COUNTS = [...Object.keys(NO_USAGE), 'web_search_requests'];
const isUsage = (value: unknown): boolean =>
  isPlain(value) &&
  Object.entries(value).every(([name, one]) =>
    COUNTS.includes(name) ? one === undefined || Number(one) >= 0 : ['unknown', 'estimated'].includes(name),
  );

/** What each field of an answer is, in words and as a check. */
const FIELDS: Readonly<Record<keyof ScriptedAnswer, [string, (value: unknown) => boolean]>> = {
  text: ['a text', isText],
  calls: [
    'a list of { name, input }, the input an object, each with an id if it must have a certain one',
    (value) =>
      isListOf(
        value,
        (one) =>
          isText(one.name) &&
          isObject(one.input) &&
          (one.id === undefined || isText(one.id)) &&
          Object.keys(one).every((key) => ['name', 'input', 'id'].includes(key)),
      ),
  ],
  blocks: ['a list of blocks, each with its type', (value) => isListOf(value, ({ type }) => isText(type))],
  stopReason: ['a text', isText],
  cutToolUse: ['true or false', (value) => typeof value === 'boolean'],
  usage: [`an object of counts (${COUNTS.join(', ')}), or null`, (value) => value === null || isUsage(value)],
};

/** For callers that no compiler checks: a step with a slip would be an empty answer, and the next one would come too early. */
function refuseStep(step: unknown, what: string): void {
  if (typeof step === 'function' || step instanceof Error || step === 'hang') return;
  const known = Object.keys(FIELDS).join(', ');
  if (!isObject(step) || Object.keys(step).length === 0)
    throw new TypeError(
      `${what} is ${isObject(step) ? 'empty' : describeValue(step)}: give an answer with ${known}, an error, 'hang', or a function that returns one of these`,
    );
  for (const [field, value] of Object.entries(step)) {
    const [wanted, isRight] = Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof ScriptedAnswer] : []; // it is one, just seen
    if (wanted === undefined || isRight === undefined)
      throw new TypeError(`${what} has no field ${JSON.stringify(field)}: there are ${known}`);
    if (value !== undefined && !isRight(value))
      throw new TypeError(`${field} of ${what} is wrong: give ${wanted}`);
  }
}

function describeValue(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}

type GiveId = (kind: 'call' | 'msg') => string;

function failedStep(number: number, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`step ${number} of the script failed: ${reason}`, { cause });
}

function describeStep(step: ScriptedStep): string {
  if (typeof step === 'function') return 'a function';
  return step instanceof Error ? `an error, ${step.message}` : JSON.stringify(step).slice(0, 200);
}

async function perform(
  step: ScriptedOutcome,
  request: ModelRequest,
  { signal, onDelta }: SendOptions,
  nextId: GiveId,
): Promise<ModelResponse> {
  if (step instanceof Error) throw step;
  if (step === 'hang') await aborted(signal);
  if (signal.aborted || step === 'hang') throw new Cancelled();
  onDelta({ type: 'began' });
  if (step.text !== undefined) onDelta({ type: 'text', text: step.text });
  const blocks = blocksOf(step, nextId);
  const calls = blocks.some(({ value }) => value.type === 'tool_use');
  return {
    id: nextId('msg'),
    model: request.model,
    stopReason: step.stopReason ?? (calls ? 'tool_use' : 'end_turn'),
    blocks,
    cutToolUse: step.cutToolUse ?? false,
    usage: step.usage === null ? null : { ...NO_USAGE, input_tokens: 10, output_tokens: 5, ...step.usage },
    rate: {},
    firstTokenMs: 0,
    durationMs: 0,
  };
}

function blocksOf({ text, calls = [], blocks = [] }: ScriptedAnswer, nextId: GiveId): ResponseBlock[] {
  const uses = calls.map(
    ({ name, input, id }): ToolUseBlock => ({ type: 'tool_use', id: id ?? nextId('call'), name, input }),
  );
  const spoken: AssistantBlock[] = text === undefined ? [] : [{ type: 'text', text }];
  return [...blocks, ...spoken, ...uses].map((value) => ({ value, json: JSON.stringify(value) }));
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function readRequest(request: ModelRequest): SentRequest {
  // The engine built this body; a test that reads a field it lacks fails on its own.
  return JSON.parse(Buffer.from(request.body).toString()) as SentRequest;
}

function describeLast(sent: SentRequest): string {
  return JSON.stringify(sent.messages.at(-1)?.content ?? null).slice(0, 200);
}
