/** What `ramet demo operate` shows while the operator works: it reads the journal that the operator's process writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { JournalEvent } from '../../schema/events.ts';
import { RunFollower } from '../../sdk/operator/control/follow-run.ts';
import { excerpt } from '../../views/text/format.ts';

const LOOK_MS = 80;
const TITLE_LENGTH = 34;
const WORDS_LENGTH = 38;
const ID_LENGTH = 10;

type RunState = RunFollower['state'];
type TaskBefore = Parameters<Parameters<RunFollower['read']>[0]>[1];

export class OperatorWatch {
  readonly #follower: RunFollower;
  readonly #say: (line: string) => void;

  constructor(project: string, say: (line: string) => void) {
    this.#follower = new RunFollower(project);
    this.#say = say;
  }

  get state(): RunState {
    return this.#follower.state;
  }

  get running(): number {
    return this.#follower.running;
  }

  /** Until the process has ended, or `isEnough` says so. */
  async follow(ended: Promise<unknown>, isEnough: (state: RunState) => boolean): Promise<void> {
    let over = false;
    void ended.then(() => {
      over = true;
    });
    for (;;) {
      const last = over;
      if (this.#follower.read((event, before) => this.#tell(event, before), isEnough) || last) return;
      await sleep(LOOK_MS);
    }
  }

  #tell(event: JournalEvent, before: TaskBefore): void {
    const line = lineOf(event, before);
    if (line !== null) this.#say(`  ${line}`);
  }
}

/** Null for what is not worth a line. */
function lineOf(event: JournalEvent, before: TaskBefore): string | null {
  if (event.type === 'operator.landed' && event.state === 'moved')
    return `main  moves to ${event.after?.slice(0, ID_LENGTH)}`;
  if (event.type === 'operator.resumed') return 'the run is resumed from its journal';
  if (event.type !== 'task.changed') return null;
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
