/**
 * What calls off a question to the model that an agent's process has asked. When only the process is lost, an answer
 * that has begun is heard to its end: it is paid for, and the next process continues from it.
 */

import { Cancelled } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { LINE_LOST } from './channel.ts';

export class AnswerSignal implements Disposable {
  readonly #own = new AbortController();
  readonly #run: () => AbortSignal;
  readonly #stopListening: () => void;
  #stopWaiting: (() => void) | null = null;
  #begun = false;

  /** `call` is the caller's; `run` ends the agent's run, and is used when no caller is left to pass it on. */
  constructor(call: AbortSignal, run: () => AbortSignal) {
    this.#run = run;
    this.#stopListening = onAbort(call, () => {
      if (call.reason === LINE_LOST && this.#begun) this.#outlive();
      else this.#own.abort(call.reason);
    });
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Whether an answer is coming in. One that breaks off is not asked for again for a process that is lost. */
  note(isComing: boolean): void {
    this.#begun = isComing;
    if (!isComing && this.#stopWaiting !== null) this.#own.abort(LINE_LOST);
  }

  #outlive(): void {
    const run = this.#run();
    this.#stopWaiting = onAbort(run, () => this.#own.abort(run.reason));
  }

  [Symbol.dispose](): void {
    this.#stopListening();
    this.#stopWaiting?.();
  }
}

/** Work that a lost process asked for and that the next one resumes: waiting for an agent that the call has started. */
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
