/**
 * Gives an agent a worktree of its own (WORK-2): a ready one from the pool, or a new one. What is returned has been
 * proved from inside; what fails is undone, and nothing of it stays.
 *
 * The order: the row, then branch and registration under the repository's lock, then the files, the proof beside
 * them, then what the user wants brought along. A row that stays `making` after its process is a half-made tree.
 */
import { accessSync, constants } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describeError, RametError, systemCode, UserMistake } from '../../schema/errors.ts';
import { AtMost } from '../../system/few-at-once.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { readRef } from '../read-refs.ts';
import { type DirtyLimit, refuseLarge } from './changes/dirty-limit.ts';
import { carryDirtyWork, type DirtyReport, dirtyReport } from './changes/dirty-work.ts';
import { checkOut, checkOutNotes } from './check-out.ts';
import { bringDependencies } from './dependencies/bring-dependencies.ts';
import { bringFiles, includedFiles, insidePath } from './dependencies/bring-files.ts';
import { type MissingPackages, missingPackages } from './dependencies/missing-packages.ts';
import { settleDoubts } from './dependencies/template-look.ts';
import { findBase, type WorktreeBase } from './find-base.ts';
import { claimReady } from './pool/claim-ready.ts';
import { proveByFiles, proveWorktree, type WorktreeProof } from './prove-worktree.ts';
import { registerWorktree } from './register-worktree.ts';
import { reserveWorktree } from './reserve-worktree.ts';
import { runSetup, type SetupOutcome } from './run-setup.ts';
import { undoWorktree } from './undo-worktree.ts';
import type { ManagedWorktree, WorktreeOwner } from './worktree.ts';
import { worktreeEnvironment, writeExcludes } from './worktree-environment.ts';
import { type WorktreePlace, worktreesDirectory } from './worktree-place.ts';
import type { DirtyPolicy } from './worktree-settings.ts';

export interface WorktreeRequest {
  /** Any text; a directory and a branch get a name made from it. */
  name: string;
  owner: WorktreeOwner | null;
  /** A commit; by default where the asking checkout is at this moment. */
  base?: string | undefined;
  dirty?: DirtyPolicy | undefined;
  /** Whether a name that is taken gets a number, or is a mistake. */
  numbered?: boolean | undefined;
  /** Nothing in it is ever work. */
  throwaway?: true | undefined;
  /** Refuse more uncommitted work than this. */
  mostDirty?: DirtyLimit | undefined;
  signal?: AbortSignal | undefined;
}

export interface CreatedWorktree {
  worktree: ManagedWorktree;
  /** `moved`: from the pool, and brought to the wanted commit first. `hook`: a hook of the user made it. */
  how: 'made' | 'claimed' | 'moved' | 'restored' | 'hook';
  proof: WorktreeProof;
  /** What was uncommitted in the asking checkout, and what happened to it. It may come later than the worktree. */
  dirty: Promise<DirtyReport>;
  setup: SetupOutcome | null;
  /** What the agent should know: one sentence each. */
  notes: string[];
  /** What its project needs and it does not have, with what brings it. */
  missing: MissingPackages[];
  /** For programs of the agent. */
  env: Record<string, string>;
}

export async function createWorktree(
  place: WorktreePlace,
  request: WorktreeRequest,
): Promise<CreatedWorktree> {
  const base = await findBase(place, request.base ?? place.settings.base);
  const policy = request.dirty ?? place.settings.dirty ?? 'exclude';
  // Reading a large checkout takes longer than a claim: what is left out is read beside it.
  const dirty = policy === 'exclude' ? sharedReport(place) : dirtyReport(place, policy);
  if (policy !== 'exclude') refuseDirty(place, await dirty, base);
  if (request.mostDirty !== undefined) refuseLarge(place.repository.root, await dirty, request.mostDirty);
  // A claim keeps this thread busy: the process that looks starts before it.
  if (policy === 'exclude') await new Promise(setImmediate);
  refuseReadOnly(place);
  makeDirectory(place);
  for (;;) {
    const { worktree, ready } = reserveWorktree(place, request, base);
    try {
      return await makeWorktree(place, worktree, { dirty, policy, base, ready, signal: request.signal });
    } catch (error) {
      if (request.numbered !== true || !isBranchTaken(error) || !hasBranch(place, worktree)) throw error;
    }
  }
}

/** Since its name was chosen: sessions of another home have a registry of their own. */
function isBranchTaken(error: unknown): boolean {
  return error instanceof RametError && error.code === 'branch_taken';
}

function hasBranch({ repository }: WorktreePlace, { branch }: ManagedWorktree): boolean {
  return readRef(repository.commonDirectory, `refs/heads/${branch}`) !== null;
}

/** Before anything is entered: a branch and git's own record of the worktree are written there. */
function refuseReadOnly({ repository: { commonDirectory } }: WorktreePlace): void {
  try {
    accessSync(commonDirectory, constants.W_OK);
  } catch (error) {
    throw new UserMistake(
      'read_only_repository',
      `${commonDirectory} cannot be written (${systemCode(error) ?? describeError(error)}), and a worktree needs a branch there: make it writable, or work in a clone`,
    );
  }
}

interface Making {
  base: WorktreeBase;
  /** Whether its branch is there already. */
  hasBranch?: boolean;
  /** The tree of the pool that was reserved with it. */
  ready?: ManagedWorktree | null;
  dirty: Promise<DirtyReport>;
  policy: DirtyPolicy;
  signal: AbortSignal | undefined;
}

/**
 * The first agent of many begins early that way, and the last one no later: its call to the model fills the cache for all.
 * This and `underWay` are of the process, not of a session: all sessions of a process share the cores.
 */
const filling = new AtMost(availableParallelism());

/** How many are being made: each with several workers would be slower than each with one. */
let underWay = 0;

/** From the reserved row to the proved tree, or back to nothing. */
export async function makeWorktree(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  making: Making,
): Promise<CreatedWorktree> {
  underWay += 1;
  try {
    return await make(place, worktree, making);
  } catch (error) {
    // What is left of it is found by its row; why it failed is what matters here.
    const row = place.registry.find(worktree.id) ?? worktree;
    const facts = isBranchTaken(error) ? { ...row.facts, hadBranch: true } : row.facts;
    await undoWorktree(place, { ...row, facts }).catch(() => {});
    throw explain(place, error);
  } finally {
    underWay -= 1;
  }
}

async function make(
  place: WorktreePlace,
  reserved: ManagedWorktree,
  making: Making,
): Promise<CreatedWorktree> {
  place.onStep('reserved');
  const { worktree, how, proof, isSetUp } = await fillTree(place, reserved, making);
  place.onStep('checked out');
  const carried = making.policy === 'carry' ? await carryDirtyWork(place, worktree) : undefined;
  const brought = await bringAlong(place, { ...worktree, facts: { ...worktree.facts, carried } });
  place.onStep('files brought');
  const setup = isSetUp ? null : await runSetup(place, brought.worktree, making.signal);
  place.onStep('set up');
  const { elsewhere: _, hadBranch: __, ...known } = brought.worktree.facts;
  // A claim begins with fresh facts.
  const { throwaway } = reserved.facts;
  const facts = throwaway === true ? { ...known, throwaway } : known;
  const leased = place.registry.change(worktree.id, ['making', 'claiming'], { state: 'leased', facts });
  if (leased === null) {
    throw new RametError('worktree_lost', 'terminal', `${worktree.path} was removed while it was created`);
  }
  const env = worktreeEnvironment(place, leased);
  const missing = missingPackages(place, leased.path, brought.reasons);
  const { dirty } = making;
  return { worktree: leased, how, proof, dirty, setup, notes: brought.notes, missing, env };
}

/** Agents that start together are told the same: one look serves all who ask before it is over. */
const looks = new WeakMap<WorktreePlace, Promise<DirtyReport>>();

function sharedReport(place: WorktreePlace): Promise<DirtyReport> {
  const look = looks.get(place) ?? dirtyReport(place, 'exclude').finally(() => looks.delete(place));
  looks.set(place, look);
  return look;
}

interface FilledTree {
  worktree: ManagedWorktree;
  how: CreatedWorktree['how'];
  proof: WorktreeProof;
  isSetUp: boolean;
}

async function fillTree(
  place: WorktreePlace,
  reserved: ManagedWorktree,
  { base, ready, signal, hasBranch = false }: Making,
): Promise<FilledTree> {
  // Where a hook had put it may be another disk.
  const isMade = hasBranch || reserved.facts.hook !== undefined;
  const claimed = isMade ? null : await claimReady(place, reserved, { base, ready });
  if (claimed !== null) {
    const { worktree, isMoved, isSetUp } = claimed;
    const proof =
      proveByFiles(place.repository, worktree, place.env) ??
      (await proveWorktree(place.repository, worktree, place.env));
    return { worktree, how: isMoved ? 'moved' : 'claimed', proof, isSetUp };
  }
  const proof = await filling.run(async () => {
    await registerWorktree(place, reserved, { signal, hasBranch });
    // The proof is about the place, not about the files: they come at the same time.
    const [proved] = await Promise.all([
      proveWorktree(place.repository, reserved, place.env),
      checkOut(place, reserved, { signal, ...(underWay > 1 && { workers: 1 }) }),
    ]);
    return proved;
  });
  return { worktree: reserved, how: 'made', proof, isSetUp: false };
}

async function bringAlong(
  place: WorktreePlace,
  worktree: ManagedWorktree,
): Promise<{ worktree: ManagedWorktree; notes: string[]; reasons: ReadonlyMap<string, string> }> {
  const included = await includedFiles(place);
  const { copied, links, notes } = bringFiles(place, worktree.path, included.paths);
  await settleDoubts(place, worktree);
  const packages = await bringDependencies(place, worktree);
  const folders = packages.dependencies.map(({ directory }) => directory);
  await writeExcludes(place, worktree, [...Object.keys(copied), ...links, ...folders]);
  const facts = { ...worktree.facts, copied, links, dependencies: packages.dependencies };
  const told = [...checkOutNotes(worktree), ...included.notes, ...notes];
  return { worktree: { ...worktree, facts }, notes: told, reasons: packages.reasons };
}

function refuseDirty({ repository }: WorktreePlace, report: DirtyReport, base: WorktreeBase): void {
  const { policy, files } = report;
  if (files === null) {
    const text = `cannot tell what is uncommitted in ${repository.root}: ${report.reason}`;
    throw new RametError('dirty_unknown', 'terminal', text);
  }
  if (files.length === 0) return;
  if (policy === 'refuse') {
    const names = files.slice(0, 3).map(({ path }) => path);
    throw new UserMistake(
      'checkout_dirty',
      `${repository.root} has ${files.length} uncommitted files (${names.join(', ')}${files.length > 3 ? ', …' : ''}): commit them, or set worktree.dirty to carry or exclude`,
    );
  }
  if (base.isCheckoutHead) return;
  throw new UserMistake(
    'carry_base',
    `uncommitted work can be carried only to the commit it is based on, not to ${base.commit.slice(0, 12)}: leave the base out, or set worktree.dirty to exclude`,
  );
}

function makeDirectory(place: WorktreePlace): void {
  for (const path of place.settings.sparsePaths ?? []) insidePath('worktree.sparsePaths', path);
  const directory = worktreesDirectory(place);
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    throw new UserMistake(
      'worktree_unwritable',
      `cannot make worktrees in ${directory}: set worktree.directory to one you can write to`,
      { cause: error },
    );
  }
}

function explain(place: WorktreePlace, error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof RametError || code === undefined) return error;
  if (code === 'EEXIST') {
    return new UserMistake(
      'worktree_taken',
      `another process made it just now: ${describeError(error)}; try again`,
    );
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new UserMistake(
      'disk_full',
      `no room for a worktree in ${worktreesDirectory(place)}: free some, or set worktree.directory`,
    );
  }
  return code === 'EACCES' || code === 'EROFS' || code === 'EPERM'
    ? new UserMistake(
        'worktree_unwritable',
        `cannot make a worktree: ${String(error)}; both the git directory and worktree.directory must be writable`,
        { cause: error },
      )
    : error;
}
