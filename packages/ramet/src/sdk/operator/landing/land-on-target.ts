/**
 * Puts the result of a run on its target. If others have moved the target, the result is merged with that. If it does not fit as
 * a whole, or if the target was set back, what the run did since is done again on top of it, task by task; what a person has
 * removed stays removed.
 */
import { callIn, integrationRef, isAncestor, mergeTrees, readCommit } from '../../../git/merges.ts';
import type { MergeReport } from '../../../git/shapes.ts';
import type { LandingOrder, LandingReport, RebasedResult } from '../../../operator/run/ports.ts';
import { RametError } from '../../../schema/errors.ts';
import type { OperatorRun } from '../../../schema/operator-events.ts';
import type { OpenTarget } from '../../merge/open-target.ts';
import { targetGone } from '../merge-offers.ts';

type Repository = OpenTarget['repository'];

/** What merging the whole result comes to. */
export type WholeLanding = LandingReport & {
  /** The target has moved, and it conflicts with that or does not pass the check there. */
  readonly isUnfit?: boolean;
};

export interface TargetPlace {
  readonly repository: Repository;
  land(run: OperatorRun, order: LandingOrder): Promise<WholeLanding>;
  /** A sentence if it cannot be. */
  rebase(run: OperatorRun, order: LandingOrder, onto: string): Promise<RebasedResult | string>;
}

/** Whatever git refuses is a landing that failed: the result stays on the private ref, and the run can be resumed. */
export async function landOnTarget(
  run: OperatorRun,
  order: LandingOrder,
  place: TargetPlace,
): Promise<LandingReport> {
  const { commit, known } = order;
  const { repository } = place;
  const failed = (message: string): LandingReport => ({
    ...{ state: 'failed', before: null, after: null, commit, message },
  });
  try {
    const tip = await readCommit(`refs/heads/${run.target}`, repository);
    if (tip === null) return targetGone(run, commit);
    const hasKnown = known === tip || (await isAncestor(known, tip, repository));
    const onto = hasKnown ? await readyOn(run.target, tip, repository) : tip;
    let why = `${run.target} no longer has ${known.slice(0, 10)}, which it had before`;
    if (hasKnown) {
      const whole = (await fits(onto, commit, repository)) ? await place.land(run, order) : null;
      if (whole !== null && whole.isUnfit !== true) return whole;
      why = whole?.message ?? `${run.target} has moved to ${onto.slice(0, 10)}, and the result does not fit`;
    }
    const rebased = await place.rebase(run, order, onto);
    if (typeof rebased === 'string')
      return failed(`${why}: ${rebased}; take the result with:\n  git merge ${commit.slice(0, 12)}`);
    return { ...failed(`${why}: ${leftText(rebased)}`), rebased };
  } catch (error) {
    if (error instanceof RametError) return failed(error.message);
    throw error;
  }
}

/** What the target is now, if that has all of `head` and more; null if not. */
export async function targetAhead(
  { target }: Pick<OperatorRun, 'target'>,
  head: string,
  repository: Repository,
): Promise<string | null> {
  const tip = await readCommit(`refs/heads/${target}`, repository);
  if (tip === null || tip === head) return null;
  return (await isAncestor(head, tip, repository)) ? tip : null;
}

/** Their work is nowhere else until then. */
const CLEAR_UP = 'then remove the worktrees of its tasks with:\n  ramet worktree gc';

/** What the merge queue says about the one commit that it was given. */
export function wholeLanding(commit: string, report: MergeReport): WholeLanding {
  const entry = report.entries.findLast(({ branch }) => branch === commit);
  const { before, after, kept } = report;
  if (!(entry?.state === 'landed' || entry?.state === 'integrated' || entry?.state === 'nothing')) {
    const message = entry?.reason ?? null;
    const isUnfit = entry?.state === 'conflicted' || /^the check failed/.test(message ?? '');
    return { state: 'failed', before, after: before, commit, message, isUnfit };
  }
  return kept === null
    ? { state: 'moved', before, after, commit: after, message: null }
    : { state: 'kept', before, after, commit: kept.commit, message: `${kept.take}\n${CLEAR_UP}` };
}

/** What waits to be taken into the target comes before this: another run may have put it there. */
async function readyOn(target: string, tip: string, repository: Repository): Promise<string> {
  const ready = await readCommit(integrationRef(target), repository);
  return ready !== null && (await isAncestor(tip, ready, repository)) ? ready : tip;
}

async function fits(onto: string, commit: string, repository: Repository): Promise<boolean> {
  if (await isAncestor(onto, commit, repository)) return true;
  return (await mergeTrees([onto, commit], callIn(repository))).clean;
}

function leftText({ onto, left }: RebasedResult): string {
  const where = `is on top of ${onto.slice(0, 10)}`;
  if (left.length === 0) return `what was done since ${where}`;
  return `what fits ${where}, without ${left.map(({ task }) => task).join(', ')}`;
}
