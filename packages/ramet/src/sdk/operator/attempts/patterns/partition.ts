/**
 * The patterns `partition` and `none`: tasks in one checkout of the operator's own. In a partition each writes only the files that it
 * declares: predicted by the ready queue, enforced by the write check of its agent, and looked at again when it has ended.
 */

import { type ChangedPath, changedPaths, keepWork, ownLog, treeWith } from '../../../../git/left-work.ts';
import { sharedWorkspace } from '../../../../git/managed-worktrees.ts';
import { withTrailers } from '../../../../git/provenance.ts';
import { type GitCall, gitText } from '../../../../git/run-git.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { attemptRefs, type RefWitness } from '../attempt-refs.ts';
import {
  type AttemptObjection,
  type AttemptPattern,
  type ChangingWork,
  taskLine,
  withoutChanges,
  workRef,
} from './attempt-pattern.ts';
import type { FindRefs, FoundChanges } from './found-changes.ts';
import { nestedObjection } from './nested-repositories.ts';
import type { CheckoutGit, SharedCheckout } from './shared-checkout.ts';
import { submoduleObjection } from './submodule-objection.ts';

const OUTSIDE = 'outside_files';

export interface SharedPatternPlace {
  checkout: SharedCheckout;
  session: string;
  witness: RefWitness;
  /** What an agent of an earlier process was refused to write because it is not among its files; null for nothing. */
  refusedWrite(agent: string): string | null;
}

export function partitionPattern(place: SharedPatternPlace): AttemptPattern {
  const refusals = new Map<string, string>();
  const pattern = sharedPattern('partition', place, (name, refusal) => refusals.set(name, refusal));
  return {
    ...pattern,
    async objection({ attempt }, { id }): Promise<AttemptObjection | null> {
      const refusal = refusals.get(attempt.name) ?? place.refusedWrite(id);
      return refusal === null ? null : { cause: OUTSIDE, message: `${refusal} ${MOVED}` };
    },
  };
}

export function plainSharedPattern(place: SharedPatternPlace): AttemptPattern {
  return sharedPattern('none', place);
}

const MOVED = 'It is tried again in a worktree of its own.';

function sharedPattern(
  isolation: 'partition' | 'none',
  { checkout, session, witness }: SharedPatternPlace,
  onRefused?: (name: string, refusal: string) => void,
): AttemptPattern {
  const repaired = new Map<string, readonly string[]>();
  const refsOf =
    (order: AttemptOrder, agent: string): FindRefs =>
    (place, worktree) =>
      attemptRefs(order, agent, { place, worktree, log: ownLog(place, worktree), witness });
  return {
    isolation,
    notes: ({ attempt }) => repaired.get(attempt.name) ?? [],
    expect: ({ task: { id, files } }) => checkout.expect(id, isolation === 'none' ? null : files),
    async prepare(order, stop) {
      const { task, attempt } = order;
      const workspace = await checkout.enter(task.id, baseOf(order), async (found, git) => {
        await keep(order, { git, session, name: `found-${attempt.name}` }, found);
      });
      const only = isolation === 'partition' ? [...task.files] : null;
      const refused = (refusal: string): void => {
        onRefused?.(attempt.name, refusal);
        stop(OUTSIDE);
      };
      return { workspace: sharedWorkspace(workspace, { only }, refused) };
    },
    siteOf: async () => ({ branch: null, path: await checkout.path() }),
    collect(order, { id }) {
      return checkout.end({ ...siteOf(order), refsOf: refsOf(order, id) }, async (found, git) => {
        const isOutside = isolation === 'partition' && found.strays.length > 0;
        const against = objectionTo(found, isOutside);
        const paths = against !== null || isolation === 'none' ? all(found) : found.own;
        const work = await keep(order, { git, session, agent: id }, paths);
        repaired.set(order.attempt.name, found.notes);
        // Beside its files it alone may have the commit: the checkout stays with it.
        const objection = against ?? (work && (await submoduleObjection(order, work, git)));
        return { result: objection ?? withoutChanges(work), paths, takeBack: objection !== null };
      });
    },
    abandon(order, { id }) {
      return checkout.end({ ...siteOf(order), refsOf: refsOf(order, id) }, async (found, git) => {
        const work = await keep(order, { git, session, agent: id }, all(found));
        repaired.set(order.attempt.name, found.notes);
        return { result: { branch: work?.branch ?? null }, paths: all(found), takeBack: true };
      });
    },
  };
}

function objectionTo({ nested, strays, left }: FoundChanges, isOutside: boolean): AttemptObjection | null {
  if (nested !== null) return nestedObjection(nested.names, nested.folder);
  const [first] = left;
  if (first !== undefined)
    return {
      cause: 'diverged_work',
      message: `its files do not have what it committed on ${first.where}: commit ${first.commit} is kept; look at it with git show ${first.commit.slice(0, 12)}`,
    };
  return isOutside ? strayObjection(strays) : null;
}

function all({ own, strays }: Pick<FoundChanges, 'own' | 'strays'>): ChangedPath[] {
  return [...own, ...strays];
}

function siteOf(order: AttemptOrder): { task: string; base: string } {
  return { task: order.task.id, base: baseOf(order) };
}

function baseOf({ attempt, run }: AttemptOrder): string {
  return attempt.base ?? run.base;
}

/** A command has written them: which agent's is not known for sure, but this one ran. */
function strayObjection(strays: readonly ChangedPath[]): AttemptObjection {
  const names = strays.slice(0, 3).map(({ path }) => path);
  const more = strays.length > 3 ? ` and ${strays.length - 3} more` : '';
  return {
    cause: OUTSIDE,
    message: `${names.join(', ')}${more} changed while it ran, and no task at work declares that. ${MOVED}`,
  };
}

interface Keeping {
  git: CheckoutGit;
  session: string;
  agent?: string;
  /** Of the ref; the attempt's own when absent. */
  name?: string;
}

/** Puts changes onto the ref of an attempt; null where there are none. */
async function keep(
  order: AttemptOrder,
  { git: { call, scratch }, session, agent, name }: Keeping,
  changes: readonly ChangedPath[],
): Promise<ChangingWork | null> {
  const { run, task, attempt } = order;
  const base = baseOf(order);
  const tree = await treeWith(base, changes, call, scratch);
  if (tree === (await treeOf(base, call))) return null;
  const ref = workRef(run, name ?? attempt.name);
  const message = withTrailers(task.title, { agent, session, task: taskLine(task) });
  const commit = await keepWork({ ref, base, tree, message }, call);
  const found = await changedPaths(base, commit, call);
  return { commit, branch: ref, files: found.map(({ path }) => path), changes: found };
}

function treeOf(commit: string, call: GitCall): Promise<string> {
  return gitText(['rev-parse', '--verify', `${commit}^{tree}`], call);
}
