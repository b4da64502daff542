/**
 * Makes a tool of the library's caller: a schema, what a call reaches, and a function. What it does wrong reaches the model
 * as an error result and harms nobody else: it throws, never ends, returns what is no JSON or far too much.
 *
 * Invariants
 * 1. What cannot work is refused when the tool is made: a schema that says nothing to a model, a field that is unknown.
 * 2. `run` gets only input that fits the schema, and what it reaches is known before anybody is asked for permission.
 * 3. A call ends by its time limit or an abort whatever the function does; it is told by `context.signal`.
 */
import * as validator from '@cfworker/json-schema';
import { compileWith } from '../../engine/answer/answer-schema.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { ToolAccess } from '../../schema/tool-access.ts';
import * as z from '../../schema/zod.ts';
import { onAbort } from '../../system/on-abort.ts';
import { failure, type Tool, type ToolContext, type ToolEffect, type ToolOutcome } from '../../tools/tool.ts';
import {
  ABOVE_ZERO,
  ANY_OBJECT,
  type ArgumentKind,
  checkArgument,
  checkFields,
  FUNCTION,
  type Kinds,
  NAME,
  OBJECT,
} from '../calls/argument-kinds.ts';
import { problemOfReach } from './own-reach.ts';
import { outcomeOf } from './own-result.ts';
import { type OwnTool, ownTool, TOOL_NAME } from './own-tool.ts';
import {
  type Fitting,
  fitted,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  type SchemaOutput,
  type StandardSchema,
  writesItself,
} from './standard-schema.ts';

/** What one call reaches, for permission: paths as the call gives them, a shell command, an address. */
export type ToolReach = Pick<ToolAccess, 'reads' | 'writes' | 'command' | 'url'>;

/** `read` changes nothing, so it is not asked about; `write` changes files; `execute` does anything else. */
export interface ToolAccessRule<Input> {
  readonly effect: ToolEffect;
  /** What this call reaches. Where there is nothing to say, give the effect alone instead of a rule. */
  reaches(input: Input): ToolReach;
}

/** What a tool gets besides its input. */
export interface ToolCallContext {
  /** Id of the agent that calls. */
  readonly agentId: string;
  /** Id of the call. */
  readonly callId: string;
  /** The directory that the agent works in: relative paths start here. */
  readonly cwd: string;
  /** For programs that the tool starts: without the keys of models. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborts when the call is interrupted or its time is over. */
  readonly signal: AbortSignal;
  /** Tells how far it is: a `tool_progress` event, for those who watch. Models do not see it. */
  progress(text: string): void;
}

interface ToolBase<Input> {
  /** Letters, digits, `_` and `-`; not the name of a built-in tool. */
  readonly name: string;
  /** Tells the model what it does and when to use it. */
  readonly description: string;
  /** Default: `execute`, which is asked about unless a rule allows it. */
  readonly access?: ToolEffect | ToolAccessRule<Input>;
  /** After this long a call fails, and `context.signal` aborts. Default: 600; Infinity for no limit. */
  readonly timeoutSeconds?: number;
  /** Returns a text, content blocks (`ToolContent`), a `ToolReport`, or any other value: that becomes JSON. */
  run(input: Input, context: ToolCallContext): unknown;
}

export interface ToolWithSchema<Schema extends StandardSchema> extends ToolBase<SchemaOutput<Schema>> {
  /** Zod 4, or another schema that follows Standard Schema. */
  readonly input: Schema;
  /** What the model gets, where the schema cannot write it itself. */
  readonly inputSchema?: JsonSchema;
}

export interface ToolWithJsonSchema extends ToolBase<Readonly<Record<string, unknown>>> {
  readonly input?: undefined;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonSchema;
}

const DEFAULT_TIMEOUT_SECONDS = 600;
const LONGEST_PROGRESS = 2_000;
const EFFECTS: readonly ToolEffect[] = ['read', 'write', 'execute'];

const ACCESS: ArgumentKind = {
  text: `${EFFECTS.join(', ')}, or { effect, reaches(input) }`,
  accepts: (value) => isEffect(value) || (ANY_OBJECT.accepts(value) && isAccessRule(Object(value))),
};
const SCHEMA: ArgumentKind = { text: 'a Zod 4 or Standard Schema', accepts: isStandardSchema };

const TOOL: Kinds<ToolWithSchema<StandardSchema>> = {
  ...{ name: NAME, description: NAME, access: ACCESS, timeoutSeconds: ABOVE_ZERO, run: FUNCTION },
  ...{ input: SCHEMA, inputSchema: OBJECT },
};

function isAccessRule({ effect, reaches, ...more }: Record<string, unknown>): boolean {
  return isEffect(effect) && typeof reaches === 'function' && Object.keys(more).length === 0;
}

function isEffect(value: unknown): value is ToolEffect {
  return EFFECTS.some((effect) => effect === value);
}

/** Makes a tool for the option `tools` of `openSession`. */
export function tool<Schema extends StandardSchema>(definition: ToolWithSchema<Schema>): OwnTool;
export function tool(definition: ToolWithJsonSchema): OwnTool;
export function tool(definition: ToolWithSchema<StandardSchema> | ToolWithJsonSchema): OwnTool {
  // It has a function, so it may be of a class.
  checkArgument('tool', 'the argument', definition, ANY_OBJECT);
  checkFields('tool', '', definition, TOOL);
  for (const field of ['name', 'description', 'run'] as const)
    if (definition[field] === undefined) throw mistake(definition, `${field} is missing`);
  if (!TOOL_NAME.test(definition.name))
    throw mistake(definition, 'models call it by its name: give 1 to 128 letters, digits, _ and -');
  if (/^mcp__/i.test(definition.name))
    throw mistake(
      definition,
      'its name begins with mcp__, which names of tools of MCP servers do: choose another',
    );
  const { name, description, access = 'execute', timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = definition;
  const rule: ToolAccessRule<never> =
    typeof access === 'string' ? { effect: access, reaches: () => ({}) } : access;
  const { schema, check } = inputOf(definition);
  /** By input, so that permission and record have the same, and a rule that fails does so when the input is checked. */
  const known = new WeakMap<object, ToolReach>();
  const reach = (input: unknown): ToolReach => {
    const isObject = typeof input === 'object' && input !== null;
    // The schema has made the input what the function takes.
    const found = (isObject && known.get(input)) || rule.reaches(input as never);
    if (isObject) known.set(input, found);
    return found;
  };
  const made: Tool = {
    name,
    description: description.toWellFormed(),
    effect: rule.effect,
    schedule: rule.effect === 'read' ? 'parallel' : 'ordered',
    pathFields: 'any',
    input: checkedInput(check, reach),
    inputSchema: schema,
    access: reach,
    // The schema has made the input what the function takes.
    run: (input, context) => runWithin(definition as ToolBase<unknown>, input, context, timeoutSeconds),
  };
  return ownTool(made);
}

type CheckInput = (value: unknown) => Fitting<unknown>;

function inputOf(definition: ToolWithSchema<StandardSchema> | ToolWithJsonSchema): {
  schema: Record<string, unknown>;
  check: CheckInput;
} {
  const { name, input } = definition;
  if (input === undefined && definition.inputSchema === undefined)
    throw mistake(definition, 'input is missing: give a Zod 4 schema, or inputSchema');
  if (input !== undefined && definition.inputSchema !== undefined && writesItself(input))
    throw mistake(
      definition,
      'give input or inputSchema, not both: this input writes its JSON Schema itself',
    );
  const json =
    definition.inputSchema ?? (input && jsonSchemaOf(input, `tool ${JSON.stringify(name)}: input`));
  const compiled = compileWith(validator, json);
  if (!compiled.ok) throw mistake(definition, `inputSchema cannot be used: ${compiled.problem}`);
  const schema: Record<string, unknown> = JSON.parse(compiled.schema.source);
  if (schema.type !== 'object')
    throw mistake(definition, 'its input must be an object: models give a tool named fields');
  if (input !== undefined) return { schema, check: (value) => fitted(input, value) };
  return {
    schema,
    check(value) {
      const problem = compiled.schema.problemOf(value);
      // The call's own is part of the conversation: the tool gets a copy.
      return problem === null ? { ok: true, value: structuredClone(value) } : { ok: false, problem };
    },
  };
}

function mistake({ name }: { readonly name?: unknown }, reason: string): UserMistake {
  const call = name === undefined ? 'tool' : `tool ${JSON.stringify(name)}`;
  return new UserMistake('bad_tool', `${call}: ${reason}`);
}

/** What it reaches is asked here too: a rule that throws is a wrong input, and never a right to run. */
function checkedInput(check: CheckInput, reach: (input: unknown) => ToolReach): z.ZodMiniType<unknown> {
  return z.pipe(
    z.unknown(),
    z.transform((value, context) => {
      const fitting = check(value);
      const problem = fitting.ok ? problemOfReach(() => reach(fitting.value)) : fitting.problem;
      if (fitting.ok && problem === null) return fitting.value;
      context.issues.push({ code: 'custom', message: problem ?? '', input: value, path: ['input'] });
      return z.NEVER;
    }),
  );
}

async function runWithin(
  definition: ToolBase<unknown>,
  input: unknown,
  { agent, call, cwd, env, signal, clock, progress, redact }: ToolContext,
  seconds: number,
): Promise<ToolOutcome> {
  const { name } = definition;
  const own = new AbortController();
  const over = new AbortController();
  // An aborted call ends by the grace of its caller: a timer that waits on would keep the process.
  const unlink = onAbort(signal, () => {
    over.abort();
    own.abort(signal.reason);
  });
  const late = Promise.withResolvers<ToolOutcome>();
  const limit = async (): Promise<void> => {
    await clock.sleep(seconds * 1_000, over.signal);
    if (over.signal.aborted) return;
    own.abort(new DOMException(`${name} took longer than ${seconds} s`, 'TimeoutError'));
    late.resolve(failure(`${name} did not end within ${seconds} s and was told to stop. It may have acted.`));
  };
  if (seconds !== Number.POSITIVE_INFINITY) void limit();
  let isOver = false;
  const context: ToolCallContext = {
    ...{ agentId: agent, callId: call, cwd, env, signal: own.signal },
    progress: (text) => {
      const shown = String(text).toWellFormed().slice(0, LONGEST_PROGRESS);
      if (!isOver) progress?.(redact(shown));
    },
  };
  try {
    const acting = Promise.try(() => definition.run(input, context));
    return await Promise.race([acting.then((value) => outcomeOf(name, value)), late.promise]);
  } finally {
    isOver = true;
    unlink();
    over.abort();
  }
}
