/**
 * Schemas of the library's callers: Zod 4, or whatever follows Standard Schema (standardschema.dev). Two things are
 * asked of one: its JSON Schema, which the model reads, and whether a value fits, which is checked by the schema itself.
 */
import { describeError, UserMistake } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';

/** A schema in the public form, with what it takes and what it makes of that. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema makes of a value. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

export type JsonSchema = Readonly<Record<string, unknown>>;

export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = '~standard' in value ? value['~standard'] : null;
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  );
}

/** The JSON Schema of what it takes; throws with what is missing and what to do. `what` names it: `tool "x": input`. */
export function jsonSchemaOf(schema: StandardSchema, what: string): JsonSchema {
  const made = written(schema, what);
  if (typeof made !== 'object' || made === null || Array.isArray(made))
    throw badSchema(what, 'its JSON Schema is no object');
  const { $schema: _, ...rest } = made as Record<string, unknown>; // an object, just seen
  return rest;
}

function written(schema: StandardSchema, what: string): unknown {
  const { vendor, ...standard } = schema['~standard'];
  try {
    // Of any copy of Zod 4: what it looks at is data.
    if ('_zod' in schema) return z.toJSONSchema(schema as unknown as z.core.$ZodType, { io: 'input' });
    const make = jsonSchemaMaker(standard);
    if (make !== null) return make({ target: 'draft-2020-12' });
  } catch (error) {
    throw badSchema(what, `it cannot be written as JSON Schema: ${describeError(error)}`);
  }
  const instead =
    vendor === 'zod'
      ? 'this is Zod 3: use Zod 4'
      : `${JSON.stringify(vendor)} writes no JSON Schema by itself: wrap it${WRAPPERS[vendor] ?? ''}`;
  throw badSchema(what, `${instead}, or pass the JSON Schema yourself`);
}

/** It has a JSON Schema of its own. */
export function writesItself(schema: StandardSchema): boolean {
  return '_zod' in schema || jsonSchemaMaker(schema['~standard']) !== null;
}

/** What adds JSON Schema to the schemas of a library. */
const WRAPPERS: Readonly<Record<string, string>> = {
  valibot: ' with toStandardJsonSchema of @valibot/to-json-schema',
};

type MakeJsonSchema = (options: { target: string }) => unknown;

/** The extension of the public form that writes JSON Schema. */
function jsonSchemaMaker(standard: object): MakeJsonSchema | null {
  const extension: unknown = 'jsonSchema' in standard ? standard.jsonSchema : null;
  if (typeof extension !== 'object' || extension === null || !('input' in extension)) return null;
  // It is a function, and the public form says which.
  return typeof extension.input === 'function' ? (extension.input as MakeJsonSchema) : null;
}

function badSchema(what: string, reason: string): UserMistake {
  return new UserMistake('bad_schema', `${what} cannot be used: ${reason}`);
}

export type Fitting<Output> = { ok: true; value: Output } | { ok: false; problem: string };

/** Whether a value fits, at once. A schema that takes its time, or throws, does not fit anything. */
export function fitted<Output>(schema: StandardSchema<unknown, Output>, value: unknown): Fitting<Output> {
  try {
    const result = schema['~standard'].validate(value);
    if ('then' in result) {
      void result.then(undefined, () => {});
      return {
        ok: false,
        problem: 'its schema checks with a promise, or a check of it throws: check such things later',
      };
    }
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, problem: describe(result.issues) };
  } catch (error) {
    return { ok: false, problem: `its schema failed: ${describeError(error)}` };
  }
}

const MOST_ISSUES = 5;

function describe(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, MOST_ISSUES).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  const more = issues.length > MOST_ISSUES ? [`and ${issues.length - MOST_ISSUES} more`] : [];
  return [...lines, ...more].join('; ');
}
