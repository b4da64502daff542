/** Runs of a repository begin one after the other, so that of two starts of one file at the same moment the second sees the first. */
import { withRepositoryLock } from '../../git/repository-lock.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { Place } from '../place.ts';
import type { Session } from '../session/session-type.ts';
import type { OperateOrder, OperateOutcome } from './operate-order.ts';
import { refuseSecondRun } from './recorded-runs.ts';
import { type OperatorParts, runOperator } from './run-operator.ts';

/** A run of a file, unless one of that file is not over; without a file the run of this session is resumed. */
export function runAlone(
  session: Session,
  parts: OperatorParts,
  { again = false, ...order }: OperateOrder,
): Promise<OperateOutcome> {
  const { file, signal } = order;
  if (file === undefined) return runOperator(session, parts, order);
  return startedAlone(file, { place: parts.place, again, signal }, (hasBegun) =>
    runOperator(session, parts, {
      ...order,
      onBegin(running) {
        hasBegun();
        order.onBegin?.(running);
      },
    }),
  );
}

interface RunStart {
  place: Place;
  /** Also if a run of the same file is not over. */
  again: boolean;
  signal: AbortSignal | undefined;
}

/** `run` says when the run is on record: until then the lock is held. It ends with this process, however that ends. */
async function startedAlone<Outcome>(
  file: string,
  { place, again, signal }: RunStart,
  run: (hasBegun: () => void) => Promise<Outcome>,
): Promise<Outcome> {
  // Without a repository nothing begins.
  if (place.repository === null) return run(() => {});
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
  let isAlone = false;
  const begin = async (): Promise<{ outcome: Promise<Outcome> }> => {
    isAlone = true;
    if (!again) refuseSecondRun(file, place);
    const outcome = run(hasBegun);
    await Promise.race([begun, outcome.catch(() => {})]);
    return { outcome };
  };
  try {
    const { outcome } = await withRepositoryLock(place.repository, 'operate', begin, { signal });
    return await outcome;
  } catch (error) {
    if (isAlone || signal?.aborted !== true) throw error;
    throw new Cancelled(`interrupted before ${file} was started`, { cause: error });
  }
}
