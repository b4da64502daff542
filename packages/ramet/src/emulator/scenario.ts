/**
 * What the emulated model answers to what (EMU-4): an ordered list of rules, of which the first that matches and has
 * not fired as often as it may is taken. Patterns are substrings, or regular expressions when written `/like this/i`.
 */
import * as z from '../schema/zod.ts';
import { type Answer, answerSchema } from './answer.ts';
import { type Fault, faultSchema, replacesAnswer } from './fault.ts';
import { type LatencyOptions, latencySchema } from './latency.ts';
import type { RequestView } from './request-view.ts';

export interface ScenarioMatch {
  model?: string | undefined;
  /** In the system prompt or the first user message. */
  marker?: string | undefined;
  /** In the last message, tool results included. */
  last?: string | undefined;
  /** In the tool results of the last message. */
  lastToolResult?: string | undefined;
  /** How many assistant messages there are so far; in a fork, since it began. */
  turn?: number | undefined;
  /** Whether it is the request of a fork. */
  fork?: boolean | undefined;
  /** In what the agent is asked to do: its last prompt, or a fork's own task. */
  task?: string | undefined;
  /** In the names of the tools it is offered, in order, with a space between. */
  tools?: string | undefined;
  /** Name in lower case to pattern. */
  header?: Record<string, string> | undefined;
}

export interface ScenarioRule {
  match?: ScenarioMatch | undefined;
  /** How often it may fire; without it, any number of times. */
  times?: number | undefined;
  /** `{{last}}` in its text stands for the last message's text. */
  respond?: Answer | undefined;
  /** Instead of `respond`: what the recipe model answers (RECIPE-1). */
  recipe?: true | undefined;
  fault?: Fault | undefined;
  latency?: LatencyOptions | undefined;
  /** Further response headers. */
  headers?: Record<string, string> | undefined;
}

export interface Scenario {
  rules: ScenarioRule[];
  latency?: LatencyOptions | undefined;
  /** Longer prompts, in tokens, are refused. */
  contextWindow?: number | undefined;
}

const pattern = z.string().check(z.refine(isPattern, { error: 'not a valid regular expression' }));

const rule = z
  .strictObject({
    match: z.optional(
      z.strictObject({
        model: z.optional(pattern),
        marker: z.optional(pattern),
        last: z.optional(pattern),
        lastToolResult: z.optional(pattern),
        turn: z.optional(z.int().check(z.minimum(0))),
        fork: z.optional(z.boolean()),
        task: z.optional(pattern),
        tools: z.optional(pattern),
        header: z.optional(z.record(z.string(), pattern)),
      }),
    ),
    times: z.optional(z.int().check(z.minimum(1))),
    respond: z.optional(answerSchema),
    recipe: z.optional(z.literal(true)),
    fault: z.optional(faultSchema),
    latency: z.optional(latencySchema),
    headers: z.optional(z.record(z.string(), z.string())),
  })
  .check(
    z.refine(
      ({ respond, recipe, fault }) =>
        respond !== undefined || recipe || (fault !== undefined && replacesAnswer(fault)),
      {
        error: 'a rule needs respond, recipe, or a fault that replaces the answer',
      },
    ),
    z.refine(({ respond, recipe }) => respond === undefined || recipe === undefined, {
      error: 'a rule has respond or recipe, not both',
    }),
  );

export const scenarioSchema: z.ZodMiniType<Scenario> = z.strictObject({
  rules: z.array(rule).check(z.minLength(1)),
  latency: z.optional(latencySchema),
  contextWindow: z.optional(z.int().check(z.minimum(1))),
});

/** Plays a scenario: remembers how often each rule has fired. */
export class ScenarioPlayer {
  readonly #rules: readonly ScenarioRule[];
  readonly #fired: number[];

  constructor(rules: readonly ScenarioRule[]) {
    this.#rules = rules;
    this.#fired = rules.map(() => 0);
  }

  /** Index of the rule that answers; it counts as fired unless told otherwise. */
  take(view: RequestView, { fire }: { fire: boolean } = { fire: true }): number | undefined {
    const index = this.#rules.findIndex((one, at) => !this.#isSpent(at) && matches(one.match ?? {}, view));
    if (index === -1) return undefined;
    if (fire) this.#fired[index] = (this.#fired[index] ?? 0) + 1;
    return index;
  }

  describe(): string {
    if (this.#rules.length === 0) return 'there are no rules';
    const lines = this.#rules.map((one, at) => {
      const spent = this.#isSpent(at) ? ' (spent)' : '';
      return `${at + 1} ${JSON.stringify(one.match ?? {})}${spent}`;
    });
    return `rules: ${lines.join(', ')}`;
  }

  #isSpent(index: number): boolean {
    return (this.#fired[index] ?? 0) >= (this.#rules[index]?.times ?? Number.POSITIVE_INFINITY);
  }
}

/** The answer with `{{last}}` filled in. */
export function fillTemplate(answer: Answer, view: RequestView): Answer {
  if (answer.text?.includes('{{last}}') !== true) return answer;
  return { ...answer, text: answer.text.replaceAll('{{last}}', () => view.last) };
}

function matches(match: ScenarioMatch, view: RequestView): boolean {
  return (
    (match.turn === undefined || match.turn === view.turn) &&
    (match.fork === undefined || match.fork === view.isFork) &&
    found(match.task, view.task) &&
    found(match.tools, (view.request.tools ?? []).map(({ name }) => name).join(' ')) &&
    found(match.model, view.request.model) &&
    found(match.last, view.last) &&
    found(match.lastToolResult, view.lastToolResult) &&
    found(match.marker, view.opening) &&
    Object.entries(match.header ?? {}).every(([name, value]) => found(value, view.headers[name] ?? ''))
  );
}

function found(wanted: string | undefined, text: string): boolean {
  if (wanted === undefined) return true;
  const expression = asExpression(wanted);
  return expression === undefined ? text.includes(wanted) : expression.test(text);
}

function asExpression(wanted: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([ims]*)$/s.exec(wanted) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
}

function isPattern(wanted: string): boolean {
  try {
    asExpression(wanted);
    return true;
  } catch {
    return false;
  }
}
