/**
 * What members of a team had completed when their process was killed, and the run had not taken (OP-8). It is taken before any member
 * resumes: a member that works again changes its worktree.
 */
import { type OperatorState, tasksOf } from '../../../../operator/run/operator-state.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import type { TeamTask } from '../../../../schema/team.ts';
import { endedIn } from '../attempt-agents.ts';
import type { AttemptPattern, EndedAgent } from '../patterns/attempt-pattern.ts';
import type { RecordedAgents } from '../recorded-agents.ts';

type TakenWork = Awaited<ReturnType<AttemptPattern['collect']>>;

export interface RestoredWork {
  readonly ended: EndedAgent;
  /** Fails as taking it did. */
  readonly work: Promise<TakenWork>;
}

interface RestoringParts {
  readonly state: OperatorState;
  readonly recorded: RecordedAgents;
  tasks(): readonly TeamTask[];
  listed(order: AttemptOrder): TeamTask | undefined;
  take(order: AttemptOrder, ended: EndedAgent): Promise<TakenWork>;
  /** What an earlier process had taken; null for none. */
  earlier(order: AttemptOrder): Promise<TakenWork>;
}

/** By the name of the try. */
export async function restoreWork(parts: RestoringParts): Promise<Map<string, RestoredWork>> {
  const restored = new Map<string, RestoredWork>();
  for (const order of openOrders(parts.state)) {
    const listed = parts.listed(order);
    if (listed === undefined || listed.owner === null) continue;
    if (listed.status !== 'completed' && listed.status !== 'failed') continue;
    const ended = await memberOf(listed.owner, parts.recorded);
    if (ended === null) continue;
    // A process before this one has taken it, and let its member claim another task.
    const hasMovedOn = parts.tasks().some((task) => task.owner === listed.owner && isAtWork(task));
    const work = hasMovedOn ? parts.earlier(order) : parts.take(order, ended);
    await work.catch(() => {}); // told when the try is judged
    restored.set(order.attempt.name, { ended, work });
  }
  return restored;
}

function isAtWork({ status }: TeamTask): boolean {
  return status === 'in_progress';
}

/** The tries of which the record has no end. */
export function openOrders(state: OperatorState): AttemptOrder[] {
  const { run } = state;
  if (run === null) return [];
  return tasksOf(state).flatMap(({ task, attempts }) =>
    attempts
      .filter((attempt) => attempt.state === 'running')
      .map((attempt) => ({ run, task, attempt, before: null, isResumed: true })),
  );
}

/** What it has completed counts, also if the kill came before the end of its turn. */
async function memberOf(name: string, recorded: RecordedAgents): Promise<EndedAgent | null> {
  const past = recorded.named(name);
  if (past === undefined) return null;
  const isLeft = past.status !== 'failed' && past.status !== 'cancelled';
  const result = isLeft ? { ...past, status: 'done' as const, cause: null, message: null } : past;
  const ended = { id: past.id, isKept: past.worktree !== null, result };
  return endedIn(ended, await recorded.worktreeOf(past.id));
}
