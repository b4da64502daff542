/**
 * Open questions, one after the other: agents ask, a person answers the first. A question goes away when its
 * turn is stopped, and is denied when nobody is there any more.
 */

import { Cancelled } from '../../../schema/errors.ts';
import type { PermissionAnswer, PermissionBroker, PermissionQuestion } from '../../../sdk/index.ts';

interface OpenEntry {
  readonly question: PermissionQuestion;
  settle(answer: PermissionAnswer | null): void;
}

export class QuestionDesk implements PermissionBroker {
  readonly #open: OpenEntry[] = [];
  readonly #onChange: (withdrawn: boolean) => void;

  /**
   * `onChange` is called whenever another question, or none, is the first, and told whether the one that was went away
   * without an answer.
   */
  constructor(onChange: (withdrawn: boolean) => void) {
    this.#onChange = onChange;
  }

  get current(): PermissionQuestion | null {
    return this.#open[0]?.question ?? null;
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => entry.settle(null);
      const entry: OpenEntry = {
        question,
        settle: (answer) => {
          signal.removeEventListener('abort', onAbort);
          this.#remove(entry, answer === null);
          if (answer === null) reject(new Cancelled());
          else resolve(answer);
        },
      };
      if (signal.aborted) {
        reject(new Cancelled());
        return;
      }
      this.#open.push(entry);
      signal.addEventListener('abort', onAbort);
      if (this.#open[0] === entry) this.#onChange(false);
    });
  }

  /** Answers the first question. */
  answer(answer: PermissionAnswer): void {
    this.#open[0]?.settle(answer);
  }

  #remove(entry: OpenEntry, withdrawn: boolean): void {
    const at = this.#open.indexOf(entry);
    if (at === -1) return;
    this.#open.splice(at, 1);
    if (at === 0) this.#onChange(withdrawn);
  }
}

/** Does it after that many milliseconds, unless what it returns is called before. */
export function afterwards(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}
