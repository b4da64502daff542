/** Computes what a target becomes: every pending branch merged, retried, resolved, checked or set aside with a reason. */
import type { MergeChange, MergeEntry } from '../../journal/merge-entries.ts';
import type { CheckOutcome } from './check-outcome.ts';
import { buildCheckedChain, type CheckedChain } from './checked-chain.ts';
import { commitResolved, integrateBranch } from './integrate-branch.ts';
import {
  describeConflicts,
  type Integration,
  type IntegrationHead,
  type IntegrationWork,
  MERGE_STRATEGIES,
} from './integration.ts';
import { checkingRef } from './integration-refs.ts';
import type { SetAside } from './merge-chain.ts';
import type { MergePorts, MergeRequest } from './merge-request.ts';
import { updateRefs } from './move-target.ts';
import type { QueueGround } from './queue-ground.ts';
import type { QueueStart } from './queue-start.ts';
import { createChecker } from './run-check.ts';

export interface ChainOutcome {
  head: IntegrationHead;
  made: { entry: MergeEntry; head: IntegrationHead }[];
  /** What is said of those that do not go along. */
  settled: MergeChange[];
  /** Whether a private ref holds a commit that was checked. */
  isHeld: boolean;
  /** The check fails without any branch: no other will fare better. */
  isBlocked: boolean;
}

export interface ChainOrder {
  request: MergeRequest;
  ground: QueueGround;
  start: QueueStart;
  ports: MergePorts;
}

const PASSES: CheckOutcome = { passed: true, ending: 'not checked', output: '' };

export async function chainFor(order: ChainOrder): Promise<ChainOutcome> {
  const { request, ground, start } = order;
  // A branch may have gone on since it was entered; one that is gone is merged as it was.
  const pending = start.pending.map((entry) => ({
    ...entry,
    tip: ground.tips.get(entry.branch) ?? entry.tip,
  }));
  const check = checkFor(order);
  const first = await buildCheckedChain(start.head, pending, {
    check,
    integrate: (head, entry) => integrateByPolicy(head, entry, order),
  });
  const last = first.steps.at(-1)?.head ?? start.head;
  const again =
    request.onConflict === 'retry' && first.startFails === null ? first.aside.filter(isConflict) : [];
  const second = await buildCheckedChain(
    last,
    again.map(({ item }) => item),
    { check, integrate: (head, entry) => replay(head, entry, order) },
  );
  const made = [...first.steps, ...second.steps].map(({ item, head }) => ({ entry: item, head }));
  return {
    head: made.at(-1)?.head ?? start.head,
    made,
    settled: settle(
      pending,
      { ...first, aside: first.aside.filter((one) => !again.includes(one)) },
      second,
      request,
    ),
    isHeld: request.check !== null,
    isBlocked: first.startFails !== null,
  };
}

/** Holds the commit by a private ref while the command runs on it. */
function checkFor({ request, ground, ports }: ChainOrder): (head: IntegrationHead) => Promise<CheckOutcome> {
  if (request.check === null) return async () => PASSES;
  const { project, repository } = ports;
  const run = createChecker(request.check, { project, repository, target: ground.ref });
  return async (head) => {
    const hold = `update ${checkingRef(ground.ref)} ${head.commit}\n`;
    await updateRefs([hold], { reason: 'check' }, repository);
    await ports.onStep?.('held');
    const outcome = await run(head);
    await ports.onStep?.('checked');
    return outcome;
  };
}

async function integrateByPolicy(
  head: IntegrationHead,
  entry: MergeEntry,
  order: ChainOrder,
): Promise<Integration> {
  const { request, ports } = order;
  const work = workOf(entry, order);
  const outcome = await integrateBranch(head, work, ports.repository);
  await ports.onStep?.('integrated');
  if (outcome.kind !== 'conflict' || outcome.merge === null || request.onConflict !== 'resolve')
    return outcome;
  const tree = (await ports.resolveConflict?.(outcome.merge)) ?? null;
  if (tree === null) return outcome;
  return {
    kind: 'made',
    head: await commitResolved(head, work, { tree, files: outcome.files }, ports.repository),
  };
}

/** Commit by commit on what the others became: changes that came in with them fall away. */
function replay(head: IntegrationHead, entry: MergeEntry, order: ChainOrder): Promise<Integration> {
  return integrateBranch(head, { ...workOf(entry, order), strategy: 'rebase' }, order.ports.repository);
}

function workOf(entry: MergeEntry, { request, ports }: ChainOrder): IntegrationWork {
  const { branch, tip, isSingle } = entry;
  const strategy = MERGE_STRATEGIES.find((name) => name === entry.strategy) ?? 'merge';
  return { branch, tip, isSingle, target: request.target, strategy, story: ports.storyOf?.(branch) ?? {} };
}

function isConflict({ outcome }: SetAside<MergeEntry>): boolean {
  return outcome.kind === 'conflict';
}

function settle(
  pending: readonly MergeEntry[],
  first: CheckedChain<MergeEntry>,
  second: CheckedChain<MergeEntry>,
  request: MergeRequest,
): MergeChange[] {
  if (first.startFails !== null) return unblamed(pending, first.startFails, request.target);
  const culprits = [...first.culprits, ...second.culprits].map(({ item, outcome }) => failed(item, outcome));
  return [...culprits, ...[...first.aside, ...second.aside].map((one) => setAside(one, request))];
}

function failed({ id, tip }: MergeEntry, { ending, output }: CheckOutcome): MergeChange {
  const reason = `the check failed (${ending}); its output: ${output}`;
  return { id, tip, state: 'failed', result: null, reason };
}

/** They stay in the queue: nothing is known against them. */
function unblamed(
  entries: readonly MergeEntry[],
  { ending, output }: CheckOutcome,
  target: string,
): MergeChange[] {
  const reason = `the check fails on ${target} itself (${ending}); its output: ${output}`;
  return entries.map(({ id, tip }) => ({ id, tip, state: 'waiting', result: null, reason }));
}

function setAside({ item, outcome }: SetAside<MergeEntry>, { target }: MergeRequest): MergeChange {
  const { id, tip, branch } = item;
  switch (outcome.kind) {
    case 'nothing':
      return { id, tip, state: 'nothing', result: null, reason: outcome.reason };
    case 'refused':
      return { id, tip, state: 'failed', result: null, reason: outcome.reason };
    case 'conflict': {
      const what = `conflicts in ${describeConflicts(outcome.conflicts)}`;
      const remedy = `on ${branch} run git merge ${target}, resolve, commit, then ramet merge ${branch}`;
      return { id, tip, state: 'conflicted', result: null, reason: `${what}; ${remedy}` };
    }
  }
}
