/** Work that is offered to the merge queue: what is merged of it, what its conflicts cost, and that its check waits. */
import { callIn, mergeTrees, readCommit, stepsToResolve } from '../../git/merges.ts';
import { gitText } from '../../git/run-git.ts';
import type { MergeEntry, MergePorts, MergeRepository } from '../../git/shapes.ts';
import { resumeCommand } from '../../operator/run/operate-command.ts';
import type { TaskAttempt } from '../../operator/run/operator-state.ts';
import type {
  LandingReport,
  MergeBatch,
  MergeOffer,
  MergeOutcome,
  ResolverSpending,
} from '../../operator/run/ports.ts';
import { JournalError, RametError, UserMistake } from '../../schema/errors.ts';
import type { ConflictResolver, OperatorRun } from '../../schema/operator-events.ts';
import { addCost, addUsage, NO_USAGE } from '../../schema/usage.ts';
import { waitText } from '../merge/open-target.ts';

export type CheckWatch = Pick<MergePorts, 'onCheckWaits' | 'onCheck'>;

/** Only a wait is news: that a check runs is a status of its tasks, and where its output is comes with the result. */
export function watchChecks(onWaiting: MergeBatch['onWaiting']): CheckWatch {
  let waits = false;
  return {
    onCheckWaits: (running) => {
      waits = true;
      onWaiting?.(waitText(running));
    },
    onCheck: () => {
      if (waits) onWaiting?.(null);
      waits = false;
    },
  };
}

/** What the queue calls it: the commit that was approved, where reviewers were asked, and otherwise its branch. */
export function nameIn({ branch, commit, reviews }: TaskAttempt): string {
  return (reviews.length > 0 ? commit : branch) ?? '';
}

/** What is merged under that name is the commit on record, wherever its branch is by now. */
export function tipOf(name: string, offers: readonly MergeOffer[]): string | undefined {
  return offers.find(({ attempt }) => nameIn(attempt) === name)?.attempt.commit ?? undefined;
}

/** Nothing that a task does brings these about, and no task is to pay for them. */
const NOT_OF_WORK: ReadonlySet<string> = new Set([
  ...['git_missing', 'git_too_old', 'disk_full', 'no_identity', 'check_unusable', 'no_repository'],
  ...['no_target', 'target_busy', 'ref_locked'],
]);

/** Whether git has failed on the work of a task. */
export function isOfWork(error: unknown): error is RametError {
  if (!(error instanceof RametError) || error instanceof JournalError || error.family === 'cancelled')
    return false;
  return !NOT_OF_WORK.has(error.code) && !/No space left on device|quota exceeded/i.test(error.message);
}

/** What resolving conflicts has cost, by task. */
export type ResolverCosts = Map<string, ResolverSpending>;

/** The task whose work that is. */
export function taskOf(branch: string, offers: readonly MergeOffer[]): string | undefined {
  return offers.find(({ attempt }) => nameIn(attempt) === branch)?.task.id;
}

/** A task may have several conflicts, one after the other. */
export function addCostTo(costs: ResolverCosts, id: string, cost: ResolverSpending): void {
  const before = costs.get(id);
  const sum = before && {
    ...{
      ...before,
      costUsd: addCost(before.costUsd, cost.costUsd),
      usage: addUsage(before.usage, cost.usage),
    },
  };
  costs.set(id, sum ?? cost);
}

/** Where the conflicts were that an agent has resolved, and which agent: the report names them. */
export function addResolvedTo(
  costs: ResolverCosts,
  id: string,
  { files, by }: { files: readonly string[]; by: ConflictResolver },
): void {
  const before: ResolverSpending = costs.get(id) ?? { costUsd: 0, usage: NO_USAGE };
  const { resolved } = before;
  costs.set(id, {
    ...before,
    resolved: {
      files: [...new Set([...(resolved?.files ?? []), ...files])],
      by: [...(resolved?.by ?? []), by],
    },
  });
}

/** What its commit says about a branch. */
export function storyOf(
  branch: string,
  offers: readonly MergeOffer[],
  session: string,
): { subject?: string; task?: string; agent?: string; session?: string } {
  const offer = offers.find(({ attempt }) => nameIn(attempt) === branch);
  if (offer === undefined) return {};
  const { task, attempt } = offer;
  return {
    ...{ subject: task.title, task: `${task.id} ${task.title}`, session },
    ...(attempt.agent !== null && { agent: attempt.agent }),
  };
}

/** Why a task that changed nothing cannot be done: what it did before was not taken, and nothing else brought it. */
export async function missingWork(
  { rejected }: MergeOffer,
  head: string,
  repository: MergeRepository,
): Promise<MergeOutcome | null> {
  const commit = rejected?.commit ?? null;
  if (rejected === null || commit === null || (await holds(head, commit, repository))) return null;
  const why = (rejected.cause ?? 'failed').replaceAll('_', ' ');
  const message = `its agent is done and has changed nothing, and its earlier work (${why}) is not in the result: ${commit.slice(0, 10)}`;
  return { kind: 'no_changes', message };
}

/** Whether merging a commit would change nothing. */
async function holds(head: string, commit: string, repository: MergeRepository): Promise<boolean> {
  if ((await readCommit(commit, repository)) === null) return false;
  const call = callIn(repository);
  const merged = await mergeTrees([head, commit], call);
  return merged.clean && merged.tree === (await gitText(['rev-parse', `${head}^{tree}`], call));
}

/** The files in which a branch conflicts with the private ref, and how a person resolves that. */
export async function conflictOf(
  entry: MergeEntry & { reason: string },
  run: OperatorRun,
  repository: MergeRepository,
): Promise<MergeOutcome> {
  const { integration } = run;
  const head = await readCommit(integration, repository);
  const merged = head === null ? null : await mergeTrees([head, entry.tip], callIn(repository));
  const files = merged === null || merged.clean ? [] : merged.files;
  const { merge, commit, after } = await stepsToResolve(entry, integration, repository);
  const steps = { merge, commit, resume: resumeCommand(run), after };
  return { kind: 'conflict', files, message: entry.reason, steps };
}

export function hasWork({ attempt }: MergeOffer): boolean {
  return attempt.commit !== null && attempt.branch !== null;
}

/** It was deleted since the run began. The work stays on the private ref. */
export function targetGone({ target }: OperatorRun, commit: string): LandingReport {
  const message = `the branch ${target} is gone: make it again, with the result:\n  git branch ${target} ${commit.slice(0, 12)}`;
  return { state: 'failed', before: null, after: null, commit, message };
}

/** Null for the error of a target that does not exist; throws every other one. */
export function nullIfGone(error: unknown): null {
  if (error instanceof UserMistake && error.code === 'no_target') return null;
  throw error;
}

/** Runs the queue for what is asked for. Nothing of it waits there afterwards: its task may want something else by then. */
export async function onlyAsked<Report>(
  { target, branches }: { target: string; branches: readonly string[] },
  { entries, clock }: Pick<MergePorts, 'entries' | 'clock'>,
  run: () => Promise<Report>,
): Promise<Report> {
  const ref = target.startsWith('refs/') ? target : `refs/heads/${target}`;
  const forget = (isOld: (entry: MergeEntry) => boolean): void => {
    const left = entries.list(ref).filter(isOld);
    entries.change(
      left.map(({ id }) => ({ id, state: 'failed' })),
      clock.now(),
    );
  };
  const isAsked = ({ branch }: MergeEntry): boolean => branches.includes(branch);
  const isWaiting = ({ state }: MergeEntry): boolean => state === 'waiting';
  // A process that died has left it in our own queue: git may fail on it, and it is offered again if its task still wants it.
  if (ref.startsWith('refs/ramet/')) forget((entry) => isWaiting(entry) && !isAsked(entry));
  try {
    const report = await run();
    forget((entry) => isWaiting(entry) && isAsked(entry));
    return report;
  } catch (error) {
    forget((entry) => isAsked(entry) && (isWaiting(entry) || entry.state === 'integrated'));
    throw error;
  }
}
