/** What `ramet demo operate` shows while the operator works: it reads the journal that the operator's process writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { latestSession } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import { applyOperatorEvent, OPERATOR_EVENTS } from '../../operator/run/apply-operator-event.ts';
import { NO_RUN, type OperatorState, taskOf, tasksOf } from '../../operator/run/operator-state.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { SessionId } from '../../schema/ids.ts';
import { excerpt } from '../../views/text/format.ts';

const LOOK_MS = 80;
const TITLE_LENGTH = 34;
const WORDS_LENGTH = 38;
const ID_LENGTH = 10;

export class OperatorWatch {
  readonly #project: string;
  readonly #say: (line: string) => void;
  #session: SessionId | undefined;
  #after = 0;
  state: OperatorState = NO_RUN;

  constructor(project: string, say: (line: string) => void) {
    this.#project = project;
    this.#say = say;
  }

  /** Until the process has ended, or `isEnough` says so. */
  async follow(ended: Promise<unknown>, isEnough: (state: OperatorState) => boolean): Promise<void> {
    let over = false;
    void ended.then(() => {
      over = true;
    });
    for (;;) {
      const last = over;
      if (this.#read(isEnough) || last) return;
      await sleep(LOOK_MS);
    }
  }

  get running(): number {
    return tasksOf(this.state).filter(({ status }) => status === 'running').length;
  }

  /** Stops after the event with which it is enough, and says whether there was one. */
  #read(isEnough: (state: OperatorState) => boolean): boolean {
    this.#session ??= latestSession(this.#project)?.session;
    if (this.#session === undefined) return false;
    const reader = openReader({ project: this.#project, session: this.#session, live: true });
    try {
      for (const recorded of reader.events({ after: this.#after, types: OPERATOR_EVENTS })) {
        this.#after = recorded.seq;
        const line = lineOf(this.state, recorded.event);
        this.state = applyOperatorEvent(this.state, recorded);
        if (line !== null) this.#say(`  ${line}`);
        if (isEnough(this.state)) return true;
      }
      return false;
    } finally {
      reader.close();
    }
  }
}

/** Null for what is not worth a line. */
function lineOf(state: OperatorState, event: JournalEvent): string | null {
  if (event.type === 'operator.landed' && event.state === 'moved')
    return `main  moves to ${event.after?.slice(0, ID_LENGTH)}`;
  if (event.type === 'operator.resumed') return 'the run is resumed from its journal';
  if (event.type !== 'task.changed') return null;
  const before = taskOf(state, event.task);
  if (before === undefined || (before.status === event.status && before.cause === event.cause)) return null;
  const said = wordsFor(event, before.attempts.length);
  if (said === null) return null;
  const padded = said.padEnd(WORDS_LENGTH);
  const color = event.status === 'done' ? 'green' : /^[A-Z]{3}/.test(said) ? 'red' : null;
  const shown = color === null ? padded : styleText(color, padded);
  return `${event.task}  ${shown}${excerpt(before.task.title, TITLE_LENGTH)}`;
}

function wordsFor(event: Extract<JournalEvent, { type: 'task.changed' }>, attempts: number): string | null {
  const { status, cause, result, attempt } = event;
  switch (status) {
    case 'running':
      return (attempt?.number ?? attempts) > 1 ? 'an agent tries again' : 'an agent begins, in a worktree';
    case 'verifying':
      return 'finished: merge and check';
    case 'waiting':
      return cause === 'conflict'
        ? 'CONFLICT: done again on the new base'
        : `FAILED its ${cause ?? 'task'}: tried again`;
    case 'done':
      return `done${result ? `, merged as ${result.slice(0, ID_LENGTH)}` : ''}`;
    case 'blocked':
    case 'failed':
    case 'frozen':
      return `${status}: ${cause ?? ''}`;
    default:
      return null;
  }
}
