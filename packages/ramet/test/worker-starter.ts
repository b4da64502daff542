/**
 * Programs that the sources start in a test are started by a small process: a worker of tests has hundreds of megabytes, and
 * a fork of it takes ten times as long. One for each worker, which runs many files.
 */
import { startProgramsElsewhere } from '../src/system/processes/starter.ts';

const worker = globalThis as { rametStarter?: Disposable | undefined };

export function useStarter(): void {
  worker.rametStarter ??= startProgramsElsewhere();
}

/** For tests of how programs are started. */
export function leaveStarter(): void {
  worker.rametStarter?.[Symbol.dispose]();
  worker.rametStarter = undefined;
}
