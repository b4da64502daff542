/**
 * Computes what a target becomes: every pending branch merged, retried, resolved, checked or set aside with a reason.
 */
import { RametError } from '../../schema/errors.ts';
import { MERGE_STRATEGIES, type QueueStrategy } from '../../schema/status.ts';
import { buildCheckedChain, type ChainStep, type CheckedChain, type SetAside } from './checked-chain.ts';
import { CommitGraph } from './commit-graph.ts';
import { commitResolved, integrateBranch } from './integrate-branch.ts';
import {
  describeConflicts,
  type Integration,
  type IntegrationHead,
  type IntegrationWork,
} from './integration.ts';
import { checkingRef } from './integration-refs.ts';
import type { MergeChange, MergeEntry } from './merge-entries.ts';
import type { MergePorts, MergeRequest } from './merge-request.ts';
import type { QueueGround } from './queue-ground.ts';
import type { QueueStart } from './queue-start.ts';
import {
  type CheckCommand,
  type CheckOutcome,
  type CheckPlace,
  createChecker,
  describeCheck,
} from './run-check.ts';
import { updateRefs } from './update-refs.ts';

export interface ChainOutcome {
  head: IntegrationHead;
  /** Those that were ready before and go along. */
  kept: MergeEntry[];
  made: { entry: MergeEntry; head: IntegrationHead }[];
  /** The lines about branches that are left out. */
  settled: MergeChange[];
  /** Whether a private ref holds a commit that was checked. */
  isHeld: boolean;
  /** The check fails without any branch: no other will fare better. */
  isBlocked: boolean;
  /** What was ready on the private ref is not part of it. */
  dropsReady: boolean;
}

export interface ChainOrder {
  request: MergeRequest;
  ground: QueueGround;
  start: QueueStart;
  ports: MergePorts;
  /** How checks of this run ended, by tree. */
  outcomes: Map<string, CheckOutcome>;
}

const STRATEGIES: readonly QueueStrategy[] = [...MERGE_STRATEGIES, 'fast-forward'];
/** From here on their commits are read in one process. */
const MANY = 4;
const PASSES: CheckOutcome = { passed: true, ending: 'not checked', output: '' };

/**
 * What waits on the private ref is the ground for more, unless the check does not pass there: then all of it is
 * computed again on the target, so that those who are to blame are found and the others go along.
 */
export async function chainFor(order: ChainOrder): Promise<ChainOutcome> {
  const { request, ground, start } = order;
  const check = checkFor(order);
  const isWaiting = start.head.commit !== ground.target.commit;
  const chains = await buildChains(order, check);
  if (!isWaiting) return outcomeOf(order, chains, start.kept);
  const isUnchecked = request.check !== null && start.checked !== request.check.command;
  const passes =
    chains.first.startFails === null &&
    (chains.steps.length > 0 || !isUnchecked || (await check(start.head)).passed);
  if (passes) return outcomeOf(order, chains, start.kept);
  const pending = [...start.kept, ...start.pending].toSorted((one, other) => one.id - other.id);
  const again = { ...order, start: { ...start, head: ground.target, kept: [], pending } };
  const outcome = outcomeOf(again, await buildChains(again, check), []);
  if (outcome.isBlocked) return { ...outcome, settled: stillReady(outcome.settled, start.kept) };
  return { ...outcome, dropsReady: true };
}

/** A result that waits keeps waiting if the target itself fails the check. */
function stillReady(settled: readonly MergeChange[], kept: readonly MergeEntry[]): MergeChange[] {
  return settled.map((change) => {
    const entry = kept.find(({ id }) => id === change.id);
    return entry === undefined ? change : { id: entry.id, reason: change.reason ?? null };
  });
}

interface BuiltChains {
  first: CheckedChain<MergeEntry>;
  second: CheckedChain<MergeEntry>;
  steps: ChainStep<MergeEntry>[];
  pending: MergeEntry[];
}

async function buildChains(
  order: ChainOrder,
  check: (head: IntegrationHead) => Promise<CheckOutcome>,
): Promise<BuiltChains> {
  const { request, ground, start } = order;
  // A branch may have advanced since it was entered; one that is gone is merged as it was.
  const pending = start.pending.map((entry) => ({
    ...entry,
    tip: ground.tips.get(entry.branch) ?? entry.tip,
  }));
  const graph = pending.length < MANY ? null : await graphOf(start.head.commit, pending, order.ports);
  const first = await buildCheckedChain(start.head, pending, {
    check,
    integrate: (head, entry) => integrateByPolicy(head, { ...workOf(entry, order), graph }, order),
  });
  const last = first.steps.at(-1)?.head ?? start.head;
  const again =
    request.onConflict === 'retry' && first.startFails === null ? first.aside.filter(isConflict) : [];
  const second = await buildCheckedChain(
    last,
    again.map(({ item }) => item),
    { check, integrate: (head, entry) => replay(head, entry, order) },
  );
  const aside = first.aside.filter((one) => !again.includes(one));
  return { first: { ...first, aside }, second, steps: [...first.steps, ...second.steps], pending };
}

/** Null where git cannot list them together: then each branch is asked about, and says by itself what is wrong. */
async function graphOf(
  start: string,
  pending: readonly MergeEntry[],
  { repository }: MergePorts,
): Promise<CommitGraph | null> {
  const tips = pending.map(({ tip }) => tip);
  return CommitGraph.read(start, tips, repository).catch((error: unknown) => {
    repository.signal?.throwIfAborted();
    if (error instanceof RametError) return null;
    throw error;
  });
}

function outcomeOf(
  { request, start }: ChainOrder,
  { first, second, steps, pending }: BuiltChains,
  kept: MergeEntry[],
): ChainOutcome {
  return {
    head: steps.at(-1)?.head ?? start.head,
    kept,
    made: steps.map(({ item, head }) => ({ entry: item, head })),
    settled: settle(pending, first, second, request),
    isHeld: request.check !== null,
    isBlocked: first.startFails !== null,
    dropsReady: false,
  };
}

/** Holds the commit by a private ref while the command runs on it. */
function checkFor({
  request,
  ground,
  start,
  ports,
  outcomes,
}: ChainOrder): (head: IntegrationHead) => Promise<CheckOutcome> {
  if (request.check === null) return async () => PASSES;
  const { project, repository } = ports;
  const prepare: CheckPlace['prepare'] = async (...at) => (await ports.prepareCheck?.(...at)) ?? [];
  const run = createChecker(request.check, {
    ...{ project, repository, target: ground.ref, prepare, worktrees: ports.checkTrees, known: outcomes },
    ...{ slots: ports.slots, isSoon: start.pending.length > 0 },
    onWait: (running) => ports.onCheckWaits?.(running),
    onStart: (begun) => ports.onCheck?.(begun),
    room: ports.diskRoom,
  });
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
  work: IntegrationWork,
  { request, ports }: ChainOrder,
): Promise<Integration> {
  const outcome = await integrateBranch(head, work, ports.repository);
  await ports.onStep?.('integrated');
  if (outcome.kind !== 'conflict' || outcome.merge === null || request.onConflict !== 'resolve')
    return outcome;
  const resolution = (await ports.resolveConflict?.(outcome.merge)) ?? { tree: null, tried: null };
  if (resolution.tree === null)
    return resolution.tried === null ? outcome : { ...outcome, tried: `; ${resolution.tried}` };
  const { tree, by } = resolution;
  // Lines that were decided here are the resolver's, and so is the commit that they come with.
  const resolved = { ...work, story: { ...work.story, ...by } };
  return {
    kind: 'made',
    head: await commitResolved(head, resolved, { tree, files: outcome.files }, ports.repository),
  };
}

/** Commit by commit on what the others became: changes that came in with them fall away. */
function replay(head: IntegrationHead, entry: MergeEntry, order: ChainOrder): Promise<Integration> {
  return integrateBranch(head, { ...workOf(entry, order), strategy: 'rebase' }, order.ports.repository);
}

function workOf(entry: MergeEntry, { request, ports }: ChainOrder): IntegrationWork {
  const { branch, tip, isSingle } = entry;
  const strategy = STRATEGIES.find((name) => name === entry.strategy) ?? 'merge';
  const target = request.targetName ?? request.target;
  return { branch, tip, isSingle, target, strategy, story: ports.storyOf?.(branch) ?? {} };
}

function isConflict({ outcome }: SetAside<MergeEntry>): boolean {
  return outcome.kind === 'conflict';
}

/** The lines about branches that are left out, with what to do. */
function settle(
  pending: readonly MergeEntry[],
  first: CheckedChain<MergeEntry>,
  second: CheckedChain<MergeEntry>,
  request: MergeRequest,
): MergeChange[] {
  if (first.startFails !== null)
    return unblamed(pending, first.startFails, request.targetName ?? request.target);
  const culprits = [...first.culprits, ...second.culprits].map(({ item, outcome }) => failed(item, outcome));
  return [...culprits, ...[...first.aside, ...second.aside].map(setAside)];
}

function failed({ id, tip }: MergeEntry, outcome: CheckOutcome): MergeChange {
  const reason = `the check failed ${describeCheck(outcome)}`;
  return { id, tip, state: 'failed', result: null, reason };
}

/** They stay in the queue: nothing is known against them. */
function unblamed(entries: readonly MergeEntry[], outcome: CheckOutcome, target: string): MergeChange[] {
  const reason = `the check fails on ${target} itself ${describeCheck(outcome)}`;
  return entries.map(({ id, tip }) => ({ id, tip, state: 'waiting', result: null, reason }));
}

function setAside({ item, outcome }: SetAside<MergeEntry>): MergeChange {
  const { id, tip } = item;
  switch (outcome.kind) {
    case 'nothing':
      return { id, tip, state: 'nothing', result: null, reason: outcome.reason };
    case 'refused':
      return { id, tip, state: 'failed', result: null, reason: outcome.reason };
    case 'conflict': {
      const reason = `conflicts in ${describeConflicts(outcome.conflicts)}${outcome.tried ?? ''}`;
      return { id, tip, state: 'conflicted', result: null, reason };
    }
  }
}

/** Runs a check on a commit that nobody merges: in the worktree of a target's checks, and not twice on the same files. */
export async function checkCommit(
  commit: string,
  check: CheckCommand,
  ports: Omit<MergePorts, 'entries'> & { target: string },
): Promise<CheckOutcome> {
  const { project, repository, target, checkTrees, outcomes, diskRoom } = ports;
  const run = createChecker(check, {
    ...{ project, repository, target, worktrees: checkTrees, room: diskRoom },
    known: outcomes ?? new Map(),
    prepare: async (...at) => (await ports.prepareCheck?.(...at)) ?? [],
    slots: ports.slots,
    onWait: (running) => ports.onCheckWaits?.(running),
    onStart: (begun) => ports.onCheck?.(begun),
  });
  return run({ commit, tree: null });
}
