/** The handle of a child that answers by a schema: its result also has the value. */
import type { AgentHandle, AgentResult } from '../../engine/shapes.ts';
import { fitted, isStandardSchema, type JsonSchema, type StandardSchema } from './standard-schema.ts';

/** How a child with a `schema` ended. */
export interface TypedResult<Value> extends AgentResult {
  /** What the schema made of its answer; absent if it did not end as `done`, or with a `valueProblem`. */
  value?: Value;
  /** The answer is JSON that fits, and what the schema checks besides refuses it. */
  valueProblem?: string;
}

/** A child with a `schema`. */
export type TypedHandle<Value> = Omit<AgentHandle, 'result'> & {
  /** Never rejects: the result says how it ended. */
  readonly result: Promise<TypedResult<Value>>;
};

type GivenSchema = StandardSchema | JsonSchema;

/** The handle itself is one for everybody who knows the child, and stays as it is. */
export function typedHandle(handle: AgentHandle, schema: GivenSchema): TypedHandle<unknown> {
  const { id, parent, type, name, description, idle } = handle;
  return {
    ...{ id, parent, type, name, description, idle },
    result: handle.result.then((result) =>
      result.status === 'done' ? { ...result, ...answered(result.text, schema) } : result,
    ),
    get inBackground() {
      return handle.inBackground;
    },
    get detached() {
      return handle.detached;
    },
    steer: (text) => handle.steer(text),
    cancel: () => handle.cancel(),
    stop: (reason) => handle.stop(reason),
    detach: () => handle.detach(),
  };
}

/** The engine has seen that the text fits as JSON Schema; a schema may check and change more. */
function answered(text: string, schema: GivenSchema): Pick<TypedResult<unknown>, 'value' | 'valueProblem'> {
  try {
    const value: unknown = JSON.parse(text);
    if (!isStandardSchema(schema)) return { value };
    const fitting = fitted(schema, value);
    return fitting.ok ? { value: fitting.value } : { valueProblem: fitting.problem };
  } catch {
    return { valueProblem: 'the answer is no JSON' };
  }
}
