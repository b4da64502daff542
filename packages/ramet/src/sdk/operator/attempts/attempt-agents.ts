/**
 * Attempts as agents of a session: each in a worktree that begins at the private ref. When its agent is done, its work is
 * committed in the name of the agent. An agent of an earlier process is found by its name, and continued if it was at work.
 */

import type { AgentHandle, AgentResult, SpawnOrder, SpawnOutcome } from '../../../engine/shapes.ts';
import { gitText, runGit } from '../../../git/run-git.ts';
import type { WorktreePlace } from '../../../git/shapes.ts';
import type { AgentOverview } from '../../../journal/projections/status.ts';
import type { AttemptEnd, AttemptOrder, AttemptWatch, LiveAttempt } from '../../../operator/run/ports.ts';
import { describeError, UserMistake } from '../../../schema/errors.ts';
import { NO_USAGE, type Usage } from '../../../schema/usage.ts';
import { commitFiles } from '../../worktrees/commit-worktree.ts';
import { findWorktree } from '../../worktrees/open-place.ts';
import { taskPrompt } from './task-prompt.ts';
import type { TaskQuestions } from './task-questions.ts';

export interface AttemptPlace {
  spawn(order: Omit<SpawnOrder, 'call' | 'signal'>): Promise<SpawnOutcome>;
  /** Says something to an agent that has ended, and so continues it. */
  tell(agent: string, text: string): Promise<AgentHandle>;
  /** The agents at work. */
  running(): readonly AgentHandle[];
  /** An agent of an earlier process by its name, as the journal has it. */
  recorded(name: string): AgentOverview | undefined;
  /** Whether agents of that type share the first message, with the rules of the run. */
  sharesRules(type: string): boolean;
  /** Whether that type names a model, which then comes before that of the role. */
  hasModel(type: string): boolean;
  /** Whether agents of that type only read. */
  readsOnly(type: string): boolean;
  worktrees: WorktreePlace;
  questions: TaskQuestions | null;
}

const DEFAULT_TYPE = 'general-purpose';
/** For an agent that an earlier process left. */
export const CONTINUE = 'You were interrupted. Resume your task where you left it.';

export function beginAttempt(order: AttemptOrder, watch: AttemptWatch, place: AttemptPlace): LiveAttempt {
  const stopping = new AbortController();
  const work = carryOut(order, watch, place, stopping.signal);
  const ended = work.catch((error: unknown): AttemptEnd => {
    return { kind: 'failed', cause: 'internal', message: describeError(error), ...NOTHING };
  });
  return { ended, stop: (reason) => stopping.abort(reason) };
}

const NOTHING = { costUsd: 0, usage: NO_USAGE } as const;

interface EndedAgent {
  readonly id: string;
  /** Whether its worktree is still there: one without changes is cleared away. */
  readonly isKept: boolean;
  readonly result: Pick<AgentResult, 'status' | 'cause' | 'message' | 'costUsd' | 'usage'>;
}

async function carryOut(
  order: AttemptOrder,
  watch: AttemptWatch,
  place: AttemptPlace,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const found = await agentOf(order, place);
  if ('kind' in found) return found;
  if ('result' in found && !('steer' in found)) return endOf(order, found, place);
  const handle = found;
  const worktree = ownWorktree(handle.id, place);
  watch.started({ agent: handle.id, branch: worktree?.branch ?? null, path: worktree?.path ?? null });
  void handle.idle.then(() => watch.rests());
  const unwatch = place.questions?.watch(handle.id, order.task.id, watch);
  const stop = (): void => handle.stop(String(signal.reason));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await endOf(order, endedAgent(handle.id, await handle.result), place);
  } finally {
    signal.removeEventListener('abort', stop);
    unwatch?.();
  }
}

function endedAgent(id: string, result: AgentResult): EndedAgent {
  return { id, isKept: result.worktree?.kept ?? true, result };
}

/** Its agent at work, or how it has ended already. */
async function agentOf(
  order: AttemptOrder,
  place: AttemptPlace,
): Promise<AgentHandle | EndedAgent | AttemptEnd> {
  const { name } = order.attempt;
  if (order.isResumed) {
    const running = place.running().find((handle) => handle.name === name);
    if (running !== undefined) return running;
    const past = place.recorded(name);
    if (past?.status === 'interrupted') return place.tell(past.id, CONTINUE);
    if (past !== undefined) return { id: past.id, isKept: past.worktree !== null, result: past };
  }
  const outcome = await place.spawn(spawnOrder(order, place));
  if ('handle' in outcome) return outcome.handle;
  const { problem, isPassing } = outcome;
  if (isPassing) return { kind: 'failed', cause: 'worktree', message: problem, ...NOTHING };
  const isSetup = /^it cannot (?:have a worktree|be isolated)/.test(problem);
  const cause = isSetup ? 'setup' : /^the budget is spent/.test(problem) ? 'budget' : 'not_started';
  return { kind: 'failed', cause, message: problem, final: true, ...NOTHING };
}

function spawnOrder(order: AttemptOrder, place: AttemptPlace): Omit<SpawnOrder, 'call' | 'signal'> {
  const { task, attempt, run } = order;
  const { settings } = task;
  const sharesRules = place.sharesRules(settings.type ?? DEFAULT_TYPE);
  const role = place.hasModel(settings.type ?? DEFAULT_TYPE) ? undefined : run.model;
  const own = settings.model ?? role ?? undefined;
  return {
    prompt: taskPrompt(order, !sharesRules),
    skipsNotes: sharesRules && settings.type === undefined,
    description: `${task.id} ${task.title}`.slice(0, 200),
    subagent_type: settings.type ?? DEFAULT_TYPE,
    name: attempt.name,
    isolation: 'worktree',
    needsSetup: true,
    ...(attempt.base !== null && { worktreeBase: attempt.base }),
    ...(own !== undefined && { model: own }),
    ...(settings.effort !== undefined && { effort: settings.effort }),
    ...(settings.budget !== undefined && { budget: settings.budget }),
  };
}

async function endOf(
  order: AttemptOrder,
  { id, isKept, result }: EndedAgent,
  place: AttemptPlace,
): Promise<AttemptEnd> {
  const { status, cause, message, costUsd, usage } = result;
  const worktree = ownWorktree(id, place);
  const facts: { costUsd: number | null; usage: Usage; branch: string | null; path: string | null } = {
    ...{ costUsd, usage, branch: worktree?.branch ?? null, path: worktree?.path ?? null },
  };
  if (status === 'interrupted') return { kind: 'interrupted', cause: cause ?? status, message, ...facts };
  if (status !== 'done') {
    const why = status === 'failed' ? (cause ?? status) : status;
    return { kind: 'failed', cause: why, message, final: status === 'cancelled', ...facts };
  }
  try {
    const work = await committedWork(order, { id, isKept }, place);
    if (work !== null) return { kind: 'worked', ...work, ...facts };
    return {
      kind: 'unchanged',
      isReport: place.readsOnly(order.task.settings.type ?? DEFAULT_TYPE),
      ...facts,
    };
  } catch (error) {
    if (!(error instanceof UserMistake)) throw error;
    return { kind: 'failed', cause: error.code, message: error.message, ...facts };
  }
}

function ownWorktree(
  agent: string,
  { worktrees }: AttemptPlace,
): { branch: string | null; path: string } | null {
  try {
    return findWorktree(worktrees, agent);
  } catch (error) {
    if (error instanceof UserMistake) return null;
    throw error;
  }
}

/** Commits what its agent left uncommitted. Null if its branch has nothing that its base has not. */
async function committedWork(
  { task, attempt }: AttemptOrder,
  { id, isKept }: Pick<EndedAgent, 'id' | 'isKept'>,
  { worktrees }: AttemptPlace,
): Promise<{ commit: string; files: string[] } | null> {
  const worktree = findWorktree(worktrees, id);
  const call = { cwd: worktrees.repository.root, env: worktrees.env };
  const made = isKept && worktree.state !== 'gone' ? await commitRest(worktrees, worktree, task.title) : null;
  const base = attempt.base ?? worktree.base;
  const commit = made ?? (await tipOf(worktree.branch, call));
  if (commit === null || commit === base) return null;
  const names = await gitText(['diff-tree', '-r', '-z', '--name-only', '--no-renames', base, commit], call);
  const files = names.split('\0').filter((name) => name !== '');
  return files.length === 0 ? null : { commit, files };
}

async function tipOf(
  branch: string | null,
  call: { cwd: string; env: WorktreePlace['env'] },
): Promise<string | null> {
  if (branch === null) return null;
  const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
  const { code, stdout } = await runGit(args, call);
  return code === 0 ? stdout.trim() : null;
}

/** The commit; null if nothing was left to commit. */
async function commitRest(
  place: WorktreePlace,
  worktree: Parameters<typeof commitFiles>[1],
  message: string,
): Promise<string | null> {
  try {
    return (await commitFiles(place, worktree, message)).commit;
  } catch (error) {
    if (
      error instanceof UserMistake &&
      (error.code === 'nothing_to_commit' || error.code === 'worktree_gone')
    )
      return null;
    throw error;
  }
}
