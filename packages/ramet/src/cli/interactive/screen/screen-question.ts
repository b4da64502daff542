/**
 * Asks the terminal itself for its size and its cursor. A terminal tells its size late (tmux by 250 ms, a busy machine by more),
 * but answers in order with what is written to it: what it says holds for the next bytes.
 *
 * Invariants
 * 1. An answer never becomes a key or text: it is taken out of what arrives, also cut in two, between keys or inside a paste.
 * 2. Nothing is taken out unless an answer is due, and nothing that is typed is lost or changes its order.
 * 3. A terminal that does not answer is asked once, until it does.
 */
import { type Clock, elapsedOf, systemClock } from '../../../schema/clock.ts';
import type { ScreenSize } from './in-sight.ts';

export interface SeenScreen {
  readonly size: ScreenSize;
  /** From 0, of the rows on the screen. */
  readonly cursorRow: number;
}

export interface ScreenQuestion {
  /** Null when no answer comes in time. */
  ask(): Promise<SeenScreen | null>;
  /** The last question has been answered, or will not be. */
  answered(): Promise<void>;
  /** What was typed of what has arrived. */
  typedOf(chunk: string): string;
  /** The end of what arrived may be the beginning of an answer. */
  readonly isHolding: boolean;
  /** It was none: nothing has followed it. */
  release(): string;
}

/** Where the cursor is, and where it is in the far corner; then it is where it was. */
const QUESTION = '\u001b7\u001b[6n\u001b[999;999H\u001b[6n\u001b8';
// biome-ignore lint/suspicious/noControlCharactersInRegex: an answer begins with Escape
const ANSWER = /\u001b\[(\d{1,5});(\d{1,5})R/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: an answer begins with Escape
const UNFINISHED = /\u001b(?:\[[\d;]{0,11})?$/;
/** A terminal that never answers costs it once. */
export const ANSWER_MS: number = 1_000;
/** One that has answered before will do so again: the machine is busy, or the link slow. */
const ANSWER_AGAIN_MS = 5_000;
/** How long the end of what arrived may be the beginning of an answer. */
export const HELD_MS: number = 300;
/** After this long nobody looks for an answer among the keys. */
const LATEST_ANSWER_MS = 10_000;

interface Asked {
  readonly at: number;
  cursorRow: number | null;
  tell(seen: SeenScreen | null): void;
}

export function createScreenQuestion(
  write: (bytes: string) => void,
  clock: Clock = systemClock,
): ScreenQuestion {
  let asked: Asked | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let held = '';
  let hasAnswered = false;

  function take(row: number, column: number): void {
    if (asked === null) return;
    hasAnswered = true;
    if (asked.cursorRow === null) asked.cursorRow = row - 1;
    else {
      asked.tell({ cursorRow: asked.cursorRow, size: { columns: column, rows: row } });
      asked = null;
    }
  }

  async function ask(): Promise<SeenScreen | null> {
    if (asked !== null) return null;
    const answer = new Promise<SeenScreen | null>((resolve) => {
      const inTime = new AbortController();
      const tell = (seen: SeenScreen | null): void => {
        inTime.abort();
        resolve(seen);
      };
      asked = { at: elapsedOf(clock), cursorRow: null, tell };
      void clock.sleep(hasAnswered ? ANSWER_AGAIN_MS : ANSWER_MS, inTime.signal).then(() => tell(null));
    });
    write(QUESTION);
    return await answer;
  }

  return {
    ask() {
      const answer = last.then(ask);
      last = answer;
      return answer;
    },
    async answered() {
      await last;
    },
    typedOf(chunk) {
      const arrived = held + chunk;
      held = '';
      if (asked === null || elapsedOf(clock) - asked.at > LATEST_ANSWER_MS) return arrived;
      const typed = arrived.replace(ANSWER, (found, row: string, column: string) => {
        if (asked === null) return found;
        take(Number(row), Number(column));
        return '';
      });
      // All has been answered: what follows are keys.
      if (asked === null) return typed;
      held = UNFINISHED.exec(typed)?.[0] ?? '';
      return typed.slice(0, typed.length - held.length);
    },
    get isHolding() {
      return held !== '';
    },
    release() {
      const released = held;
      held = '';
      return released;
    },
  };
}
