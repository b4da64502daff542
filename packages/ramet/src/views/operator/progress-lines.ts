/** A run of the operator as lines, one for each change that says something new: for pipes, logs and files. */
import { NO_RUN, type OperatorState, taskOf, tasksOf } from '../../operator/run/operator-state.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import type { TaskChanged } from '../../schema/operator-events.ts';
import { describeOperatorEvent } from '../operator-line.ts';
import { duration } from '../text/format.ts';
import { nextStep } from './person-step.ts';
import { holdText, isAway, isUnderWay, plainLine, statusText, timeOf } from './run-summary.ts';
import { landingLines } from './run-table.ts';
import { costText } from './task-rows.ts';

const LONGEST = 200;
/** With the name of a file in it. */
const LONGEST_PATH = 500;

/** Counts what is done as it goes: a line of two thousand tasks costs no more than one of ten. */
export class ProgressLines {
  #before: OperatorState = NO_RUN;
  #done = 0;

  /** `after` is the state with this event. Null for an event that says nothing new. */
  line(after: OperatorState, { event, time }: Pick<RecordedEvent, 'event' | 'time'>): string | null {
    const before = this.#before;
    this.#before = after;
    switch (event.type) {
      case 'task.changed':
        return this.#task(before, after, event, time);
      case 'operator.started':
      case 'operator.resumed':
        this.#done = tasksOf(after).filter(({ status }) => status === 'done').length;
        return plainLine(describeOperatorEvent(event), LONGEST);
      case 'operator.changed':
        return after.status === 'running' || after.status === 'ended'
          ? plainLine(describeOperatorEvent(event), LONGEST)
          : `operator ${holdText(after)}${event.message === null ? '' : ` (${plainLine(event.message, LONGEST)})`}`;
      case 'operator.landed':
        return landingLine(after, event.state);
      case 'operator.base_checked':
        return event.check.passed ? null : plainLine(describeOperatorEvent(event), LONGEST_PATH);
      case 'operator.tasks_added':
      case 'operator.asked':
        return plainLine(describeOperatorEvent(event), LONGEST);
      default:
        return null;
    }
  }

  #task(before: OperatorState, after: OperatorState, event: TaskChanged, time: number): string | null {
    const task = taskOf(after, event.task);
    const was = taskOf(before, event.task);
    if (task === undefined) return null;
    const isSame = was?.status === task.status && was.cause === task.cause;
    if (isSame && (task.message === null || task.message === was.message)) return null;
    if (task.status === 'ready' || task.status === 'merging') return null;
    this.#done += Number(task.status === 'done') - Number(was?.status === 'done');
    const took = timeOf(task, time);
    const isOver = took !== null && task.status !== 'queued' && !isUnderWay(task);
    const figures = isOver ? ` (${duration(took)}, ${costText(task)})` : '';
    const what = plainLine((isAway(task) ? null : task.message) ?? task.task.title, LONGEST);
    const step = nextStep(task, after, LONGEST);
    const next = step === null ? '' : `; needs you: ${step}`;
    const counted = `[${this.#done}/${after.order.length}]`;
    return `${counted} ${plainLine(task.task.id, 40)} ${statusText(task, time)}: ${what}${figures}${next}`;
  }
}

/** How a result that waits is taken is said once, at the end. */
function landingLine(after: OperatorState, state: 'intended' | 'moved' | 'kept' | 'failed'): string | null {
  if (state === 'intended') return after.landing?.message ? plainLine(after.landing.message, LONGEST) : null;
  const [line, ...said] = landingLines(after, after.landing?.before ?? after.run?.base ?? null);
  const message = said.map((text) => text.trim()).join(' ');
  return state === 'failed' && message !== '' ? `${line}: ${message}` : (line ?? null);
}
