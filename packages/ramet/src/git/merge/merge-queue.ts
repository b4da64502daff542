/**
 * The merge queue (WORK-5): takes the branches that wait for a target and puts them there, one on top of the other,
 * without touching anybody's checkout.
 *
 * Invariants
 * 1. One run at a time per target, over all processes.
 * 2. Results are noted before a ref moves, and what has landed is asked of git: after a crash nothing is merged twice.
 * 3. The target moves only from the value that everything was computed on; otherwise all is computed again.
 * 4. What lands has passed the check, where there is one.
 * 5. No branch is ever moved or deleted; one that does not fit keeps the reason.
 */
import { Cancelled, RametError, UserMistake } from '../../schema/errors.ts';
import { startProgramsElsewhere } from '../../system/processes/starter.ts';
import { withRepositoryLock } from '../repository-lock.ts';
import { type ChainOutcome, chainFor } from './chain-for-target.ts';
import {
  checkingRef,
  integrationRef,
  queuedRef,
  shortName,
  targetKey,
  targetRef,
} from './integration-refs.ts';
import { shellWord, withAdvice } from './merge-advice.ts';
import type { MergeChange, MergeEntry } from './merge-entries.ts';
import { readRef } from './merge-repository.ts';
import type { MergePorts, MergeReport, MergeRequest } from './merge-request.ts';
import { leaveTarget, type MoveOutcome, moveTarget } from './move-target.ts';
import { enterBranches, isOpen, type QueueGround, readGround } from './queue-ground.ts';
import { findStart, type QueueStart } from './queue-start.ts';
import type { CheckOutcome } from './run-check.ts';
import { howToTake, takeText } from './take-result.ts';
import { updateRefs } from './update-refs.ts';

const MOST_MISSES = 20;
const PAUSE_MS = 10;
/** From here on the start of a process beside this one pays. */
const MANY = 16;
/** Another run's checks may take long; the waiting user can interrupt. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Throws for bad names and when it is interrupted; the outcome of each branch is in the report. */
export async function runMergeQueue(request: MergeRequest, ports: MergePorts): Promise<MergeReport> {
  const { repository } = ports;
  const name = `merge-${targetKey(targetRef(request.target))}`;
  const options = { signal: repository.signal, timeoutMs: LONGEST_WAIT_MS };
  try {
    return await withRepositoryLock(repository, name, () => runLocked(request, ports), options);
  } catch (error) {
    // Whatever was under way fails in its own way; why is the same for all.
    if (repository.signal?.aborted)
      throw new Cancelled(
        `interrupted; resume with ramet merge --continue --into ${shellWord(request.target)}`,
        {
          cause: error,
        },
      );
    throw error;
  }
}

async function runLocked(request: MergeRequest, ports: MergePorts): Promise<MergeReport> {
  using _ = request.branches.length < MANY ? null : startProgramsElsewhere();
  const { entries, clock, repository } = ports;
  let ground = await enterBranches(request, ports);
  const { check, onConflict, updateCheckout } = request;
  entries.keepWishes(ground.ref, JSON.stringify({ check, onConflict, updateCheckout }));
  await ports.onStep?.('entered');
  const { ref } = ground;
  let before = ground.target.commit;
  let hasMoved = false;
  const decided = new Set<number>();
  const outcomes = ports.outcomes ?? new Map<string, CheckOutcome>();
  let limit = Number.POSITIVE_INFINITY;
  for (let misses = 0; misses < MOST_MISSES; ) {
    const attempt = await attemptOnce(request, ground, { limit, outcomes, decided }, ports);
    for (const id of attempt?.decided ?? []) decided.add(id);
    if (attempt !== null && !attempt.hasMore)
      return reportOf(attempt, { request, before, decided, ports, ground });
    if (attempt === null) {
      misses += 1;
      if (misses < MOST_MISSES) ports.onMissed?.(misses + 1, MOST_MISSES);
      limit = lessThan(limit, entries.list(ground.ref).filter(isOpen).length);
      await clock.sleep(misses * PAUSE_MS, repository.signal);
    } else [misses, hasMoved] = [0, true];
    repository.signal?.throwIfAborted();
    ground = await readGround(request, ports).catch((error: unknown) => endTargetless(ref, error, ports));
    // What others have put there meanwhile is not reported as ours.
    if (!hasMoved) before = ground.target.commit;
  }
  throw new RametError(
    'target_busy',
    'retryable',
    `${request.targetName ?? request.target} moved ${MOST_MISSES} times while its merges were computed: it was left alone, and ramet merge --continue --into ${shellWord(request.target)} tries again`,
  );
}

/** The target was deleted meanwhile: nothing of this run may wait for it. Throws what it was given. */
async function endTargetless(ref: string, error: unknown, ports: MergePorts): Promise<never> {
  if (error instanceof UserMistake && error.code === 'no_target') {
    const { entries, clock, repository } = ports;
    const reason = `${shortName(ref)} was deleted while it was merged into`;
    const open = entries.list(ref).filter(isOpen);
    entries.change(
      open.map(({ id }) => ({ id, state: 'failed', result: null, reason })),
      clock.now(),
    );
    if ((await readRef(checkingRef(ref), repository)) !== null)
      await updateRefs([`delete ${checkingRef(ref)}\n`], { reason: 'its target is gone' }, repository);
  }
  throw error;
}

/** Fewer branches are computed faster: against a user who commits all the time the queue advances in small steps. */
function lessThan(limit: number, count: number): number {
  return Math.max(1, Math.floor(Math.min(limit, count) / 2));
}

interface Attempt {
  head: string;
  move: Exclude<MoveOutcome, { kind: 'stale' }>;
  decided: number[];
  /** Branches wait that were not looked at. */
  hasMore: boolean;
}

interface AttemptOrder {
  limit: number;
  outcomes: Map<string, CheckOutcome>;
  /** Those of whom the report tells. */
  decided: Set<number>;
}

/** Takes the first of what waits, up to `limit`. Null when the target moved meanwhile. */
async function attemptOnce(
  request: MergeRequest,
  ground: QueueGround,
  { limit, outcomes, decided: told }: AttemptOrder,
  ports: MergePorts,
): Promise<Attempt | null> {
  const { entries, clock, repository } = ports;
  const start = await findStart(ground, entries.list(ground.ref), repository);
  const taken = { ...start, pending: start.pending.slice(0, limit) };
  const chain = await chainFor({ request, ground, start: taken, ports, outcomes });
  entries.change([...landed(start.landed), ...changesOf(chain, request)], clock.now());
  await ports.onStep?.('recorded');
  // It is on record, and no later attempt takes them up again: also where this one is for nothing.
  for (const { id } of chain.settled) told.add(id);
  const move = await moveTo(chain, { request, ground, start, ports });
  if (move.kind === 'stale') return null;
  await ports.onStep?.('moved');
  const open = [...chain.kept, ...chain.made.map(({ entry }) => entry)];
  const done = [...start.landed, ...(move.kind === 'moved' ? open : [])];
  entries.change(landed(done), clock.now());
  await ports.onStep?.('noted');
  await letGo(done, ground, ports);
  const decided = [...start.landed, ...open, ...chain.settled].map(({ id }) => id);
  return {
    head: chain.head.commit,
    move,
    decided,
    hasMore: start.pending.length > limit && !chain.isBlocked,
  };
}

/** Commits that only the queue held are in the target now. */
async function letGo(
  done: readonly MergeEntry[],
  { tips }: QueueGround,
  { repository }: MergePorts,
): Promise<void> {
  const loose = new Set(done.filter(({ branch }) => !tips.has(branch)).map(({ tip }) => tip));
  const lines = [...loose].map((tip) => `delete ${queuedRef(tip)}\n`);
  await updateRefs(lines, { reason: 'landed' }, repository);
}

async function reportOf(
  { head, move }: Attempt,
  done: {
    request: MergeRequest;
    before: string;
    decided: ReadonlySet<number>;
    ports: MergePorts;
    ground: QueueGround;
  },
): Promise<MergeReport> {
  const { ref, target } = done.ground;
  const decided = done.ports.entries.list(ref).filter(({ id }) => done.decided.has(id));
  const isKept = move.kind === 'kept';
  const { repository } = done.ports;
  return {
    target: done.request.target,
    before: done.before,
    after: isKept ? target.commit : head,
    kept: isKept
      ? {
          ref: integrationRef(ref),
          commit: head,
          reason: move.reason,
          take: takeText(await howToTake(ref, head, repository)),
        }
      : null,
    checkout: isKept ? null : move.checkout,
    entries:
      done.ports.isAdvised === false
        ? decided
        : await withAdvice(decided, repository, {
            wishesOf: () => done.request,
            project: done.ports.project,
          }),
  };
}

/** Noted before the refs move: after a crash, `result` shows what has landed. */
function changesOf({ made, kept, settled, head }: ChainOutcome, { check }: MergeRequest): MergeChange[] {
  const results: MergeChange[] = made.map(({ entry, head: { commit } }) => ({
    id: entry.id,
    tip: entry.tip,
    state: 'integrated',
    result: commit,
    checked: null,
    reason: null,
  }));
  // What was verified is this very commit, and it was verified by this very command.
  const all = [...kept.map(({ id, result }) => ({ id, result, reason: null })), ...results];
  const verified = all.map((change) =>
    change.result === head.commit && check !== null ? { ...change, checked: check.command } : change,
  );
  return [...verified, ...settled];
}

function landed(entries: readonly { id: number }[]): MergeChange[] {
  return entries.map(({ id }) => ({ id, state: 'landed', reason: null }));
}

async function moveTo(
  chain: ChainOutcome,
  on: { request: MergeRequest; ground: QueueGround; start: QueueStart; ports: MergePorts },
): Promise<MoveOutcome> {
  const { request, ground, start, ports } = on;
  const isHeld = ground.isHeld || chain.isHeld;
  const integration = ground.integration?.commit ?? null;
  const isKnown = start.kept.some(({ result }) => result === integration);
  const move = {
    target: ground.ref,
    from: ground.target.commit,
    to: chain.head.commit,
    integration,
    keepsIntegration: start.isUnaccounted || (chain.dropsReady && !isKnown),
    updateCheckout: request.updateCheckout,
    isHeld,
    reason: chain.made.map(({ entry }) => entry.branch).join(', ') || 'what was ready',
  };
  if (move.to !== move.from) return moveTarget(move, ports.repository);
  const isStillReady = start.head.commit !== ground.target.commit && !chain.dropsReady;
  return leaveTarget(isStillReady ? { ...move, integration: null } : move, ports.repository);
}
