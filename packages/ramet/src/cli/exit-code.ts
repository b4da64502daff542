/**
 * Exit codes: 0 done, 1 the agent failed, 2 wrong use, 75 a usage limit or a provider that is
 * away, 129 interrupted by SIGHUP, 130 by SIGINT or otherwise, 143 by SIGTERM.
 */
import { RametError } from '../schema/errors.ts';
import type { AgentResult } from '../sdk/index.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  wrongUse: 2,
  limited: 75,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export function exitCodeOf({ status, cause }: Pick<AgentResult, 'status' | 'cause'>): number {
  if (status === 'done') return EXIT.done;
  if (status !== 'interrupted') return EXIT.failed;
  if (cause === 'limit' || cause === 'provider') return EXIT.limited;
  if (cause === 'SIGHUP') return EXIT.hungUp;
  return cause === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
}

/** `signal` tells by what a command was cancelled. */
export function exitCodeOfError(error: unknown, signal: AbortSignal): number {
  const family = error instanceof RametError ? error.family : 'terminal';
  if (family === 'cancelled') return exitCodeOf({ status: 'interrupted', cause: String(signal.reason) });
  return family === 'mistake' ? EXIT.wrongUse : EXIT.failed;
}

/** Ctrl-C once asks the work to end and leaves the journal whole; twice ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCodeOf({ status: 'interrupted', cause: name }));
      controller.abort(name);
    });
  }
  return controller.signal;
}
