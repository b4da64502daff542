/**
 * What agents have cost of whose end a run has no record: those at work, and those that a killed process left. Attempts and reviews
 * get their cost when they end, so it is in no sum of the run before. For views alone: nothing of it is recorded.
 */
import type { AgentOverview } from '../../journal/projections/status.ts';
import {
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import { addCost, addUsage } from '../../schema/usage.ts';
import { withKey } from '../../system/persistent.ts';

/** `agents` is asked only if an attempt is open: it may have to read a whole journal. */
export function withOpenCosts(state: OperatorState, agents: () => readonly AgentOverview[]): OperatorState {
  const open = tasksOf(state).filter(({ attempts }) => attempts.some(isOpen));
  if (open.length === 0) return state;
  const known = agents();
  const tasks = open.reduce((all, task) => withKey(all, task.task.id, billed(task, known)), state.tasks);
  return { ...state, tasks };
}

/** At work, or waits for its reviewers and its merge. */
function isOpen({ state }: TaskAttempt): boolean {
  return state === 'running' || state === 'ended';
}

function billed(task: TaskState, agents: readonly AgentOverview[]): TaskState {
  const attempts = task.attempts.map((attempt) => {
    if (attempt.state === 'running') return withAgent(attempt, agents);
    return attempt.state === 'ended' ? withReviewers(attempt, agents) : attempt;
  });
  return { ...task, attempts };
}

/** One that was interrupted has its cost on record: that is a part of what the journal has. */
function withAgent(attempt: TaskAttempt, agents: readonly AgentOverview[]): TaskAttempt {
  const own = agents.findLast(({ name }) => name === attempt.name);
  if (own === undefined) return attempt;
  const { costUsd, usage } = own;
  const isKnown = attempt.costUsd !== null && costUsd !== null && attempt.costUsd >= costUsd;
  return isKnown ? attempt : { ...attempt, costUsd, usage };
}

function withReviewers(attempt: TaskAttempt, agents: readonly AgentOverview[]): TaskAttempt {
  const counted = new Set([...attempt.reviews, ...attempt.silent].map(({ agent }) => agent));
  const others = agents.filter(
    ({ id, name }) => name?.startsWith(`${attempt.name}-review-`) === true && !counted.has(id),
  );
  return {
    ...attempt,
    costUsd: others.reduce((sum, { costUsd }) => addCost(sum, costUsd), attempt.costUsd),
    usage: others.reduce((sum, { usage }) => addUsage(sum, usage), attempt.usage),
  };
}
