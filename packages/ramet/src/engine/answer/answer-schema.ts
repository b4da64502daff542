/**
 * The form in which an agent must answer (AGENT-5): a JSON Schema of its caller, checked before anything runs, and
 * the answer checked against it. Both come from models: size, depth and time are bounded, and nothing is fetched.
 */

import { runInNewContext } from 'node:vm';
import type { OutputUnit, Schema, SchemaDraft } from '@cfworker/json-schema';
import { quoteText } from '../../conversation/quoted-text.ts';
import { headOf } from '../../system/text/visible-text.ts';
import { findJson } from './answer-json.ts';
import { SCHEMA_OF_SCHEMAS } from './schema-of-schemas.ts';

export type AnswerCheck = { ok: true; json: string } | { ok: false; problem: string };

export interface AnswerSchema {
  /** As JSON, for the agent to read. */
  readonly source: string;
  /** What tells the agent how its last message must be. */
  readonly directive: string;
  /** A problem is said in words that help a model to mend its answer. */
  check(text: string): AnswerCheck;
  /** What is wrong with a value that is no text any more; null when it fits. */
  problemOf(value: unknown): string | null;
}

export type CompiledSchema = { ok: true; schema: AnswerSchema } | { ok: false; problem: string };

const MOST_BYTES = 64_000;
const DEEPEST = 64;
/** Of work. On a machine that is busy with other things it takes longer. */
const MOST_MS = 500;
/** The clock may run this many times as long before that is given up. */
const MOST_LOOKS = 5;
const MOST_ERRORS = 200;
const MOST_PROBLEMS = 5;
const LONGEST_PROBLEM = 240;

const DRAFTS: readonly [RegExp, SchemaDraft][] = [
  [/draft-0?4/, '4'],
  [/draft-0?[67]/, '7'],
  [/2019-09/, '2019-09'],
];

type ValidatorModule = typeof import('@cfworker/json-schema');

export async function compileAnswerSchema(given: unknown): Promise<CompiledSchema> {
  return compileWith(await import('@cfworker/json-schema'), given);
}

/** The same for a caller that cannot wait, and has loaded the library. */
export function compileWith(library: ValidatorModule, given: unknown): CompiledSchema {
  const source = sourceOf(given);
  if (!source.ok) return source;
  // Whether it really is one is checked next.
  const schema: Schema | boolean = JSON.parse(source.json);
  const problem = problemOfSchema(library, schema);
  if (problem !== null) return { ok: false, problem: `schema: ${problem}` };
  const check = checkerOf(library, schema);
  const whole = { source: source.json, directive: directiveFor(source.json), check };
  return { ok: true, schema: { ...whole, problemOf: problemFinder(library, schema) } };
}

function directiveFor(source: string): string {
  return `Your last message must be one JSON value that matches this JSON Schema, and nothing else: no prose, no code fence.\n${quoteText(source)}`;
}

function sourceOf(given: unknown): AnswerCheck {
  let json: string | undefined;
  try {
    json = JSON.stringify(given);
  } catch {
    return { ok: false, problem: 'schema: it is no JSON: it contains itself, or is nested too deeply' };
  }
  if (typeof given !== 'boolean' && (typeof given !== 'object' || given === null || json === undefined)) {
    return { ok: false, problem: 'schema: a JSON Schema is an object, such as {"type": "object"}' };
  }
  const bytes = Buffer.byteLength(json ?? '');
  if (bytes > MOST_BYTES) {
    return { ok: false, problem: `schema: it has ${bytes} bytes; at most ${MOST_BYTES} are taken` };
  }
  return { ok: true, json: json ?? '' };
}

function problemOfSchema(library: ValidatorModule, schema: Schema | boolean): string | null {
  if (depthOf(schema) > DEEPEST) return `it is nested deeper than ${DEEPEST} levels`;
  const judged = boundedCall(() => {
    const problem =
      problemOf(library, SCHEMA_OF_SCHEMAS, '2020-12', schema) ?? wrongReference(library, schema);
    // A first use shows a schema that refers to itself without end.
    if (problem === null) problemOf(library, schema, draftOf(schema), null);
    return problem;
  }, MOST_MS);
  return judged.ok ? judged.value : judged.reason;
}

function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  let depth = 0;
  while (level.length > 0 && depth <= DEEPEST) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    depth += 1;
  }
  return depth;
}

function wrongReference({ dereference }: ValidatorModule, schema: Schema | boolean): string | null {
  const known = dereference(schema);
  for (const each of Object.values(known)) {
    if (typeof each === 'boolean' || each.$ref === undefined) continue;
    const shown = JSON.stringify(each.$ref);
    if (!each.$ref.startsWith('#')) return `${shown} is not looked up: a $ref must begin with #`;
    if (known[each.__absolute_ref__ ?? ''] === undefined) return `nothing is at ${shown}`;
  }
  return null;
}

function draftOf(schema: Schema | boolean): SchemaDraft {
  const named = typeof schema === 'boolean' ? '' : (schema.$schema ?? '');
  return DRAFTS.find(([pattern]) => pattern.test(named))?.[1] ?? '2020-12';
}

function checkerOf(library: ValidatorModule, schema: Schema | boolean): AnswerSchema['check'] {
  const draft = draftOf(schema);
  return (text) => {
    const judged = boundedCall((): AnswerCheck => {
      const found = findJson(text);
      if (found === null) return { ok: false, problem: 'there is no JSON in the answer' };
      const problem = problemOf(library, schema, draft, found.value);
      return problem === null ? { ok: true, json: found.json } : { ok: false, problem };
    }, MOST_MS);
    return judged.ok
      ? judged.value
      : { ok: false, problem: `the answer cannot be checked: ${judged.reason}` };
  };
}

function problemFinder(library: ValidatorModule, schema: Schema | boolean): AnswerSchema['problemOf'] {
  const draft = draftOf(schema);
  return (value) => {
    const judged = boundedCall(() => problemOf(library, schema, draft, value), MOST_MS);
    return judged.ok ? judged.value : `it cannot be checked: ${judged.reason}`;
  };
}

function problemOf(
  { Validator }: ValidatorModule,
  schema: Schema | boolean,
  draft: SchemaDraft,
  value: unknown,
): string | null {
  // Most answers are right, and a value with a million faults needs only the first.
  const first = new Validator(schema, draft).validate(value);
  if (first.valid) return null;
  const few = JSON.stringify(value).length < MOST_BYTES;
  return describe(few ? new Validator(schema, draft, false).validate(value).errors : first.errors);
}

/** The faults themselves, without those that only say that there is one further down. */
function describe(errors: readonly OutputUnit[]): string {
  const some = errors.slice(0, MOST_ERRORS);
  const causes = some.filter((error) => !some.some((other) => isBelow(other, error)));
  const lines = [...new Set(causes.map(faultOf))];
  const more = lines.length > MOST_PROBLEMS ? [`and ${lines.length - MOST_PROBLEMS} more`] : [];
  return [...lines.slice(0, MOST_PROBLEMS), ...more].join('; ');
}

function isBelow(other: OutputUnit, error: OutputUnit): boolean {
  // Of a `false` the library does not say where in the schema it stands.
  if (other.keyword === 'false' && error.keyword !== 'false' && error.keyword.endsWith('roperties')) {
    return other.instanceLocation.startsWith(`${error.instanceLocation}/`);
  }
  return other.keywordLocation.startsWith(`${error.keywordLocation}/`);
}

function faultOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const path = instanceLocation.slice(1) || 'the top';
  const what = keyword === 'false' ? 'nothing is allowed here by this name' : error.replace(/\.$/, '');
  return headOf(`at ${path}: ${what}`, LONGEST_PROBLEM);
}

/**
 * Runs code whose time depends on what others wrote, such as a regular expression of a schema. It blocks like any
 * call, but not for longer than the limit: V8 ends it, also in the middle of a match.
 */
type BoundedResult<Value> = { ok: true; value: Value } | { ok: false; reason: string };

/** The limit is one of the clock: where others had the processor, the call, which changes nothing, is made again. */
function boundedCall<Value>(call: () => Value, mostMs: number): BoundedResult<Value> {
  for (let looks = 1; ; looks++) {
    const before = process.threadCpuUsage();
    const result = timedCall(call, mostMs * looks);
    const { user, system } = process.threadCpuUsage(before);
    const isOver = (user + system) / 1_000 >= mostMs / 2 || looks === MOST_LOOKS;
    if (result.ok || !result.isLate || isOver)
      return result.ok ? result : { ok: false, reason: result.reason };
  }
}

type TimedResult<Value> =
  | { ok: true; value: Value }
  | { ok: false; reason: string; readonly isLate: boolean };

function timedCall<Value>(call: () => Value, mostMs: number): TimedResult<Value> {
  let value: Value | undefined;
  const run = (): void => {
    value = call();
  };
  try {
    // The other context is there for its time limit alone: what runs in it is ours.
    runInNewContext('run()', { run }, { timeout: mostMs });
    // A call that came to its end has set its value.
    return { ok: true, value: value as Value };
  } catch (error) {
    return { ok: false, reason: reasonOf(error), isLate: isLate(error) };
  }
}

function isLate(error: unknown): boolean {
  // This error is made in the other context, whose `Error` is not ours.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

function reasonOf(error: unknown): string {
  if (isLate(error)) return `it takes longer than ${MOST_MS} ms`;
  if (error instanceof RangeError) return 'it is nested too deeply, or refers to itself without end';
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}
