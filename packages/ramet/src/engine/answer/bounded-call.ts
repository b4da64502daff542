/**
 * Runs code whose time depends on what others wrote, such as a regular expression of a schema. It blocks like any
 * call, but not for longer than the limit: V8 ends it, also in the middle of a match.
 */
import { runInNewContext } from 'node:vm';

export type BoundedResult<Value> = { ok: true; value: Value } | { ok: false; reason: string };

export function boundedCall<Value>(call: () => Value, mostMs: number): BoundedResult<Value> {
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
    return { ok: false, reason: reasonOf(error, mostMs) };
  }
}

function reasonOf(error: unknown, mostMs: number): string {
  // This error is made in the other context, whose `Error` is not ours.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return `it takes longer than ${mostMs} ms`;
  if (error instanceof RangeError) return 'it is nested too deeply, or refers to itself without end';
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}
