/**
 * Equal questions of many agents are one question (RES-3): asked once, answered for all.
 *
 * Invariants
 * 1. An asker that aborts is answered at once, and nobody else notices.
 * 2. The question is withdrawn when all of its askers have aborted, and not before.
 * 3. An asker that has its answer leaves nothing behind, neither here nor on its signal.
 */
import { Cancelled } from '../schema/errors.ts';
import type { PermissionAnswer, PermissionBroker, PermissionQuestion } from './broker.ts';

type Asker = PromiseWithResolvers<PermissionAnswer>;

interface SharedQuestion {
  readonly askers: Set<Asker>;
  readonly withdrawal: AbortController;
}

export function askingOnce(broker: PermissionBroker): PermissionBroker {
  const open = new Map<string, SharedQuestion>();

  function put(key: string, question: PermissionQuestion): SharedQuestion {
    const shared: SharedQuestion = { askers: new Set(), withdrawal: new AbortController() };
    open.set(key, shared);
    const settle = (how: (asker: Asker) => void): void => {
      close(key, shared);
      for (const asker of shared.askers) how(asker);
    };
    Promise.try(() => broker.ask(question, shared.withdrawal.signal)).then(
      (answer) => settle(({ resolve }) => resolve(answer)),
      (error) => settle(({ reject }) => reject(error)),
    );
    return shared;
  }

  /** A withdrawn question may be answered late, when an equal one is open again. */
  function close(key: string, shared: SharedQuestion): void {
    if (open.get(key) === shared) open.delete(key);
  }

  const elicit = broker.elicit?.bind(broker);
  const approvePlan = broker.approvePlan?.bind(broker);
  return {
    modeAdvice: broker.modeAdvice,
    ...(elicit && { elicit }),
    ...(approvePlan && { approvePlan }),
    async ask(question, signal) {
      if (signal.aborted) throw new Cancelled();
      const key = keyOf(question);
      const shared = open.get(key) ?? put(key, question);
      const asker: Asker = Promise.withResolvers();
      const leave = (): void => asker.reject(new Cancelled());
      shared.askers.add(asker);
      signal.addEventListener('abort', leave);
      try {
        return await asker.promise;
      } finally {
        signal.removeEventListener('abort', leave);
        shared.askers.delete(asker);
        if (shared.askers.size === 0 && open.get(key) === shared) {
          close(key, shared);
          shared.withdrawal.abort();
        }
      }
    },
  };
}

/** Of a command the summary says all; two edits of one file, or two long inputs, may differ in what is not in it. */
function keyOf({ tool, cwd, summary, reason, command, input }: PermissionQuestion): string {
  return JSON.stringify([tool, cwd, summary, reason, command !== undefined ? null : input]);
}
