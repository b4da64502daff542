/** One worktree in the hands of an agent of this process. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { privateCaches, type ShellBounds, temporaryFolders } from '../../../sandbox/isolated-shell.ts';
import type { WriteFence } from '../../../sandbox/write-fence.ts';
import { describeError } from '../../../schema/errors.ts';
import type { RecordedWorktree } from '../../../schema/events.ts';
import { giveWay } from '../../../system/give-way.ts';
import { scratchpadIn } from '../../../system/home.ts';
import { realPath } from '../../../system/landing-path.ts';
import { type SharedStates, watchCheckout } from '../../shared-git/checkout-watch.ts';
import { sweepShared } from '../../special-files.ts';
import { leftOutText } from '../changes/add-all.ts';
import { checkpoint } from '../changes/checkpoint.ts';
import { otherBranches, strayHead, whereCommitsAre } from '../changes/held-commits.ts';
import { heldWork } from '../changes/held-files.ts';
import { verdictOf, type WorktreeVerdict } from '../changes/verdict.ts';
import { checkOutNotes } from '../check-out.ts';
import type { CreatedWorktree } from '../create-worktree.ts';
import { lookAtTemplates } from '../dependencies/template-look.ts';
import { expectDirectory } from '../hooked/expect-directory.ts';
import { isTreeOf } from '../register-worktree.ts';
import { releaseWorktree, settleWorktree } from '../removal/release-worktree.ts';
import { mendCheckout, repairsOf } from '../trusted-git.ts';
import { unlockWorktree } from '../unlock-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { adminDirectory, type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import type { AgentWorkspace, WorkspaceEnd } from './agent-workspace.ts';
import { failedSetup, workspaceNotice } from './workspace-notice.ts';

/** What is known of all worktrees of this process. */
export interface WorkspaceHolder {
  readonly held: Set<string>;
  /** Those given back and not yet cleared. */
  readonly settling: Map<string, Promise<unknown>>;
  /** What the user knows about them: once is enough. */
  readonly told: Set<string>;
  readonly states: SharedStates;
}

export async function heldWorkspace(
  holder: WorkspaceHolder,
  place: WorktreePlace,
  created: CreatedWorktree,
  { ms, recovered, inherited }: { ms: number; recovered: string | null; inherited: readonly string[] },
): Promise<AgentWorkspace> {
  let { worktree } = created;
  holder.held.add(worktree.id);
  const { id, path, branch, base } = worktree;
  const from = place.repository.root;
  const recorded: RecordedWorktree = {
    ...{ id, path, branch, base, from },
    ...(inherited.length > 0 && { inherited: [...inherited] }),
  };
  const watch = watchCheckout(holder.states, place);
  const dirty = await created.dirty;
  const files = dirty.files?.length ?? null;
  const { how } = created;
  let fence = fenceOf(place, worktree, inherited);
  let leftOut: readonly string[] = [];
  let bounds = boundsOf(place, worktree);
  let released: Promise<WorkspaceEnd> | null = null;
  let replaced: AgentWorkspace | null = null;
  const giveBack = async (begun: Promise<void>, remove?: () => Promise<void>): Promise<WorkspaceEnd> => {
    await giveWay();
    if (replaced !== null) return replaced.release(begun, remove);
    const [end, checkoutChanges] = await Promise.all([
      release(holder, place, worktree, { begun, remove }),
      watch.end(worktree.owner?.agent ?? null),
    ]);
    const told = withUnsaved(end, leftOut);
    return checkoutChanges.length === 0 ? told : { ...told, checkoutChanges };
  };
  return {
    worktree: recorded,
    ...(created.setup !== null && created.setup.code !== 0 && { setupFailure: failedSetup(created.setup) }),
    created: { type: 'worktree.created', ...recorded, how, dirty: { policy: dirty.policy, files }, ms },
    get fence() {
      return fence;
    },
    get bounds() {
      return bounds;
    },
    env: created.env,
    notice: workspaceNotice(created, from, dirty),
    warnings: untold(holder, created),
    recovered,
    giveTo(owner) {
      worktree = place.registry.change(id, ['leased'], { owner }) ?? worktree;
      fence = fenceOf(place, worktree, inherited);
      bounds = boundsOf(place, worktree);
    },
    async checkpoint() {
      await giveWay();
      const made = await checkpoint(place, worktree);
      const { ref, commit, isNew } = made;
      leftOut = made.leftOut;
      return isNew && commit !== null ? { ref, commit } : null;
    },
    get leftOut() {
      return leftOut;
    },
    async look(begun = Promise.resolve()) {
      await giveWay();
      return withUnsaved(await look(place, worktree, begun), leftOut);
    },
    release(begun = Promise.resolve(), remove = undefined) {
      released ??= giveBack(begun, remove);
      return released;
    },
    isOfHook: worktree.facts.hook !== undefined,
    expectDirectory: () =>
      expectDirectory(place, created, async ({ created: adopted, left }) => {
        clear(holder, place, left);
        void watch.end(null);
        replaced = await heldWorkspace(holder, place, adopted, { ms, recovered: null, inherited });
        return replaced;
      }),
  };
}

/** Nobody has worked in it, and nobody will ask for it. */
function clear({ settling }: WorkspaceHolder, place: WorktreePlace, left: ManagedWorktree): void {
  const settled = settleWorktree(place, left)
    .then(({ kept }) => kept || place.registry.forget(left.id))
    .finally(() => settling.delete(left.id));
  settling.set(left.id, settled);
}

function withUnsaved(end: WorkspaceEnd, leftOut: readonly string[]): WorkspaceEnd {
  const unsaved = leftOutText(leftOut).map((text) => `its checkpoint does not hold everything: ${text}`);
  return { ...end, reasons: [...end.reasons, ...unsaved] };
}

/** Of a command of the repository that did not run: the reason names the file. Other failures are the agent's to read. */
function refusedSetup(setup: CreatedWorktree['setup']): string[] {
  return setup?.refused === undefined
    ? []
    : [`worktree.setup did not run in a new worktree: ${setup.refused}`];
}

function untold({ told }: WorkspaceHolder, { missing, worktree, setup, how }: CreatedWorktree): string[] {
  const empty = (how === 'hook' ? [] : checkOutNotes(worktree)).map((note) =>
    note.replace(' here:', ' in worktrees:'),
  );
  const all = [...missing.map(({ forUser }) => forUser), ...empty, ...refusedSetup(setup)];
  const fresh = all.filter((text) => !told.has(text));
  for (const text of fresh) told.add(text);
  return fresh;
}

async function release(
  { held, settling }: WorkspaceHolder,
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { begun, remove }: { begun: Promise<void>; remove: (() => Promise<void>) | undefined },
): Promise<WorkspaceEnd> {
  held.delete(worktree.id);
  try {
    const { end, work, reasons } = await judge(place, worktree, begun);
    const isHeld = work.some(({ kind }) => kind !== 'unknown');
    const kept = isHeld ? { reasons, work } : null;
    const released = releaseWorktree(place, worktree.id, { packagesSeen: true, held: kept, remove });
    if (released === null) return { kept: true, reasons: ['it was taken over by another process'] };
    const settled = released.settled.finally(() => settling.delete(worktree.id));
    settling.set(worktree.id, settled);
    if (remove === undefined || end.kept) return end;
    const outcome = await settled;
    return outcome.kept ? { ...end, kept: true, reasons: outcome.reasons.map(({ text }) => text) } : end;
  } catch (error) {
    letGo(place, worktree);
    return { kept: true, reasons: [`it could not be given back: ${describeError(error)}`] };
  }
}

/** Its agent has ended, whatever it left: nobody is to wait for it. On a full disk its lease ends with this process. */
function letGo(place: WorktreePlace, { id }: ManagedWorktree): void {
  try {
    releaseWorktree(place, id);
  } catch {
    // The caller tells the first error, which has the same cause.
  }
}

/** Never rejects, as `release`. */
async function look(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  begun: Promise<void>,
): Promise<WorkspaceEnd> {
  try {
    return (await judge(place, worktree, begun)).end;
  } catch (error) {
    return { kept: true, reasons: [`it could not be checked: ${describeError(error)}`] };
  }
}

/** What its agent is told now; whether it goes is judged again at the moment it goes. */
async function judge(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  begun: Promise<void>,
): Promise<Pick<WorktreeVerdict, 'reasons' | 'work'> & { end: WorkspaceEnd }> {
  await mendCheckout(place, worktree);
  await sweepShared(place.repository.commonDirectory);
  const [work, packages] = await Promise.all([
    isTreeOf(worktree.path, worktree) ? heldWork(place, worktree) : [],
    lookAtTemplates(place.home, worktree),
    begun,
  ]);
  // The commands of its agent have ended: locks of one that was killed would stop the next one there.
  await unlockWorktree(place, worktree);
  // After what was begun: its git runs in the worktree, and would count as a process at work.
  const { isEmpty, reasons, tips } = await verdictOf(place, worktree, { isHolder: true, work });
  const elsewhere = isEmpty && tips !== null ? await whereCommitsAre(place, worktree, tips.head) : [];
  const others = otherBranches(place, worktree);
  const head = tips === null ? null : strayHead(worktree, tips);
  const end = {
    kept: !isEmpty,
    reasons: [...reasons.map(({ text }) => text), ...elsewhere, ...packages, ...repairsOf(worktree)],
    ...(head !== null && { head }),
    ...(isEmpty && tips !== null && tips.head !== worktree.base && { tip: tips.head }),
    ...(others.length > 0 && { others }),
  };
  return { end, work, reasons };
}

/** The notes that agents of the session share; the worktree itself while it has no owner. */
function scratchOf({ project }: WorktreePlace, { owner, path }: ManagedWorktree): string {
  return owner === null ? path : scratchpadIn(join(project, owner.session));
}

function fenceOf(place: WorktreePlace, worktree: ManagedWorktree, inherited: readonly string[]): WriteFence {
  return {
    root: realPath(worktree.path),
    from: place.repository.root,
    inherited,
    home: realPath(place.home),
    scratch: realPath(scratchOf(place, worktree)),
    temporary: temporaryFolders(place.env).map(realPath),
    guarded: guardedBy(place, worktree),
  };
}

export function guardedBy(place: WorktreePlace, own?: Pick<ManagedWorktree, 'id'>): string[] {
  const { root, commonDirectory } = place.repository;
  const checkouts = basename(commonDirectory) === '.git' ? [dirname(commonDirectory)] : [];
  const ofHooks = place.registry.list().filter(({ id, state, facts }) => {
    const isThere = state === 'leased' || state === 'released';
    return id !== own?.id && isThere && facts.hook !== undefined;
  });
  const places = [root, ...checkouts, commonDirectory, worktreesDirectory(place), place.home];
  return [...places, ...ofHooks.map(({ path }) => path)].map(realPath);
}

/**
 * A commit needs objects, its branch with the branch's log, and the worktree's own registration; nothing else. Git writes a commit
 * as loose objects: who could write packs, or the list of other objects, could destroy those of everybody.
 */
function boundsOf(place: WorktreePlace, worktree: ManagedWorktree): ShellBounds {
  const { commonDirectory } = place.repository;
  const inGit = (...names: string[]): string[] => names.map((name) => join(commonDirectory, name));
  return {
    shared: temporaryFolders(place.env),
    caches: privateCaches(place.env, place.project),
    guarded: guardedBy(place, worktree),
    own: [
      ...[worktree.path, scratchOf(place, worktree), adminDirectory(place, worktree)],
      ...inGit('objects', 'refs/tags', 'refs/remotes', 'logs/refs/remotes', 'reftable', 'lfs'),
    ],
    made: inGit('refs/heads/ramet', 'logs/refs/heads/ramet'),
    closed: inGit('objects/info', ...(fetchesMissing(commonDirectory) ? [] : ['objects/pack'])).map(realPath),
  };
}

/** A partial clone: git fetches an object when it is needed, and always into a pack. */
function fetchesMissing(commonDirectory: string): boolean {
  try {
    return readdirSync(join(commonDirectory, 'objects', 'pack')).some((name) => name.endsWith('.promisor'));
  } catch {
    return false;
  }
}
