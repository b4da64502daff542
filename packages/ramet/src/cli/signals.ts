/** Ctrl-C once asks the work to end and leaves the journal whole; twice ends the process at once. */
import { exitCodeOf } from './exit-code.ts';

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
