/** Work that a lost process asked for and that the next one takes up: waiting for an agent that the call has started. */

import { Cancelled } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { LINE_LOST } from './channel.ts';

export interface OutlivingSignals {
  /** Of the call: the end of its line ends the wait and not the work. */
  call: AbortSignal;
  /** Of the agent's run: it ends the work, also when nobody waits any more. */
  run: AbortSignal;
}

export async function outlivingCall<Value>(
  { call, run }: OutlivingSignals,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const own = new AbortController();
  const lost = Promise.withResolvers<never>();
  const cutCall = onAbort(call, () => {
    if (call.reason === LINE_LOST) lost.reject(new Cancelled());
    else own.abort(call.reason);
  });
  const cutRun = onAbort(run, () => own.abort(run.reason));
  const working = work(own.signal).finally(cutRun);
  try {
    return await Promise.race([working, lost.promise]);
  } finally {
    cutCall();
  }
}
