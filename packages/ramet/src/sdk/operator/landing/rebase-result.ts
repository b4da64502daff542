/**
 * Puts the result of a run on top of what its target has become, task by task: what fits and passes the check stays, what does
 * not is left out, and so is what waits for it. Writes objects only.
 */
import {
  buildCheckedChain,
  commitReplayed,
  describeConflicts,
  isAncestor,
  replayWork,
  stepsToResolve,
} from '../../../git/merges.ts';
import type {
  CheckOutcome,
  ConflictResolution,
  Integration,
  IntegrationHead,
  MergeRepository,
  OpenConflict,
} from '../../../git/shapes.ts';
import { needs } from '../../../operator/run/decisions.ts';
import { resumeCommand } from '../../../operator/run/operate-command.ts';
import type { LandingOrder, RebasedResult } from '../../../operator/run/ports.ts';
import type { LeftOut, OperatorRun } from '../../../schema/operator-events.ts';
import { recordedCheck } from '../check-output.ts';
import type { ResolverCosts } from '../merge-offers.ts';
import { type WorkSpan, workSpans } from './work-spans.ts';

export interface RebasePlace {
  readonly repository: MergeRepository;
  readonly run: OperatorRun;
  /** What it goes on top of. */
  readonly onto: string;
  check(commit: string): Promise<CheckOutcome>;
  /** Asks an agent, where the policy says so. */
  resolve(conflict: OpenConflict): Promise<ConflictResolution>;
  readonly spent: ResolverCosts;
}

/** A sentence if the target itself does not pass the check: then nobody is to blame. */
export async function rebaseResult(
  { commit, known, work }: LandingOrder,
  place: RebasePlace,
): Promise<RebasedResult | string> {
  const { onto, run, repository, spent } = place;
  const spans = await workSpans(work, { commit, onto, known }, repository);
  if (spans.length === 0) return 'nothing of it can be told apart by task';
  const left = new Map<string, LeftOut>();
  for (;;) {
    const count = left.size;
    const items = spans.filter(({ task }) => !left.has(task.id));
    const chain = await buildCheckedChain({ commit: onto, tree: null }, items, {
      check: (head) => place.check(head.commit),
      integrate: async (head, span) => {
        const outcome = isNeedy(span, spans, left) ? NEEDY : await putOn(head, span, place);
        if (outcome.kind === 'conflict' || outcome.kind === 'refused')
          left.set(span.task.id, leftBy(span, outcome, { left, spans, place }));
        return outcome;
      },
    });
    if (chain.startFails !== null)
      return `the check fails on ${run.target} itself (${chain.startFails.ending}; its output: ${chain.startFails.output})`;
    for (const { item, outcome } of chain.culprits) left.set(item.task.id, failing(item, outcome, place));
    // A culprit is found after what waits for it was put on top of it.
    if (left.size > count && chain.steps.some(({ item }) => isNeedy(item, spans, left))) continue;
    const results = new Map(chain.steps.map(({ item, head }) => [item.task.id, head.commit]));
    for (const { item, outcome } of chain.aside)
      if (outcome.kind === 'nothing') results.set(item.task.id, onto);
    const head = chain.steps.at(-1)?.head.commit ?? onto;
    const out = await Promise.all([...left.values()].map((one) => withSteps(one, spans, place)));
    return { commit: head, onto, results: Object.fromEntries(results), left: out, spent };
  }
}

type Left = ReadonlyMap<string, LeftOut>;

const NEEDY = { kind: 'refused', reason: 'it waits for another task' } as const;

function isNeedy({ task }: WorkSpan, spans: readonly WorkSpan[], left: Left): boolean {
  return spans.some((other) => left.has(other.task.id) && needs(task, other.task));
}

/** An agent is asked about the whole of it, if it conflicts. */
async function putOn(head: IntegrationHead, span: WorkSpan, place: RebasePlace): Promise<Integration> {
  const { repository, run } = place;
  const { task, from, result } = span;
  const outcome = await replayWork(
    head,
    { branch: task.id, target: run.target, from, to: result },
    repository,
  );
  if (outcome.kind !== 'conflict' || outcome.merge === null || run.onConflict !== 'resolve') return outcome;
  const resolution = await place.resolve(outcome.merge);
  if (resolution.tree === null) return { ...outcome, tried: resolution.tried ?? undefined };
  return { kind: 'made', head: await commitReplayed(head, result, resolution.tree, repository) };
}

function leftBy(
  { task }: WorkSpan,
  outcome: Extract<Integration, { kind: 'conflict' | 'refused' }>,
  { left, spans, place }: { left: Left; spans: readonly WorkSpan[]; place: RebasePlace },
): LeftOut {
  const facts = { task: task.id, files: [], check: null };
  if (outcome.kind === 'refused') {
    const open = spans.filter((other) => left.has(other.task.id) && needs(task, other.task));
    const ids = open.map((other) => other.task.id).join(', ');
    return { ...facts, cause: 'dependency', message: `it waits for ${ids}, which does not fit any more` };
  }
  const tried = outcome.tried === undefined ? '' : `; ${outcome.tried}`;
  const message = `${movedText(place)}, and this conflicts in ${describeConflicts(outcome.conflicts)}${tried}`;
  return { ...facts, cause: 'conflict', message, files: outcome.files };
}

/** Not where the work began with what the target has lost: to merge its branch would bring that back. */
async function withSteps(left: LeftOut, spans: readonly WorkSpan[], place: RebasePlace): Promise<LeftOut> {
  const { repository, run, onto } = place;
  const {
    branch = null,
    commit = null,
    base = null,
  } = spans.find(({ task }) => task.id === left.task)?.attempt ?? {};
  if (left.cause !== 'conflict' || branch === null || commit === null || base === null) return left;
  if (!(await isAncestor(base, onto, repository))) return left;
  const {
    merge,
    commit: end,
    after,
  } = await stepsToResolve({ branch, tip: commit }, run.integration, repository);
  return { ...left, steps: { merge, commit: end, resume: resumeCommand(run), after } };
}

function failing({ task }: WorkSpan, outcome: CheckOutcome, place: RebasePlace): LeftOut {
  const message = `${movedText(place)}, and with this the check fails there (${outcome.ending}); its output: ${outcome.output}`;
  const check = place.run.check === null ? null : recordedCheck(place.run.check, outcome);
  return { task: task.id, cause: 'check', message, files: [], check };
}

function movedText({ run, onto }: RebasePlace): string {
  return `${run.target} has moved to ${onto.slice(0, 10)} meanwhile`;
}
