/**
 * Gives up an agent whose conversation is lost, after a repair that could not save it (AGENT-5): its end is recorded once,
 * and its parent learns of it like of any other that failed.
 */
import { CONVERSATION_LOST } from '../../journal/projections/cut-off-agents.ts';
import { RametError } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';
import type { RecordedChild } from './recorded-children.ts';

export const LOST_FOR_GOOD = 'its conversation is lost: start another agent for its task';

export function conversationLost(): RametError {
  return new RametError(CONVERSATION_LOST, 'terminal', LOST_FOR_GOOD);
}

export function isLost(error: RametError): boolean {
  return error.code === CONVERSATION_LOST;
}

/** An agent whose start a repair could not save, and that had not ended by itself: nobody knows what it was to do. */
export function isToBeGivenUp({ started, ended }: RecordedChild): boolean {
  return started.origin?.startLost === true && (ended === null || ended.status === 'interrupted');
}

interface LostChild {
  readonly child: RecordedChild;
  /** No call of its parent waits for it. */
  readonly isStranded: boolean;
  /** The agents that it had started: nobody resumes them by itself. */
  readonly below: readonly RecordedChild[];
}

export function giveUp({ runtime: { journal } }: Agent, { child, isStranded, below }: LostChild): void {
  const message = [LOST_FOR_GOOD, ...leftBelow(below)].join('; ');
  const ended = { type: 'agent.ended', status: 'failed', cause: CONVERSATION_LOST, message } as const;
  if (isStranded && !child.background) {
    journal.append(child.id, { type: 'agent.detached' });
    child.background = true;
  }
  journal.append(child.id, ended);
  Object.assign(child, { ended, told: false });
}

function leftBelow(below: readonly RecordedChild[]): string[] {
  const left = below.filter(({ ended }) => ended === null || ended.status === 'interrupted');
  return left.length === 0 ? [] : [`SendMessage resumes its own: ${left.map(({ id }) => id).join(', ')}`];
}
