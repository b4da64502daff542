/** Follows the latest run of a project from outside: it reads what the operator's process adds to its journal. */
import { latestSession } from '../../../journal/session-list.ts';
import { openReader } from '../../../journal/sessions.ts';
import { applyOperatorEvent, OPERATOR_EVENTS } from '../../../operator/run/apply-operator-event.ts';
import {
  NO_RUN,
  type OperatorState,
  type TaskState,
  taskOf,
  tasksOf,
} from '../../../operator/run/operator-state.ts';
import type { JournalEvent } from '../../../schema/events.ts';
import type { SessionId } from '../../../schema/ids.ts';

/** `before` is the event's task as it was before the event. */
type OnStep = (event: JournalEvent, before: TaskState | undefined) => void;

export class RunFollower {
  readonly #project: string;
  #session: SessionId | undefined;
  #after = 0;
  state: OperatorState = NO_RUN;

  constructor(project: string) {
    this.#project = project;
  }

  get running(): number {
    return tasksOf(this.state).filter(({ status }) => status === 'running').length;
  }

  /** Reads what is new. Stops after the event with which it is enough, and says whether there was one. */
  read(onStep: OnStep, isEnough: (state: OperatorState) => boolean): boolean {
    this.#session ??= latestSession(this.#project)?.session;
    if (this.#session === undefined) return false;
    const reader = openReader({ project: this.#project, session: this.#session, live: true });
    try {
      for (const recorded of reader.events({ after: this.#after, types: OPERATOR_EVENTS })) {
        this.#after = recorded.seq;
        const { event } = recorded;
        const before =
          'task' in event && typeof event.task === 'string' ? taskOf(this.state, event.task) : undefined;
        this.state = applyOperatorEvent(this.state, recorded);
        onStep(event, before);
        if (isEnough(this.state)) return true;
      }
      return false;
    } finally {
      reader.close();
    }
  }
}
