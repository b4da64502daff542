/**
 * Worktrees of a session's agents: made, entered, resumed and given back with the library in
 * `workspace/worktrees`. One object a session; loaded when the first agent needs one.
 *
 * Invariants
 * 1. A worktree has one holder in this process, and one process.
 * 2. An agent that resumes in a worktree that is being given back waits for that to end.
 */
import { basename, dirname } from 'node:path';
import { UserMistake } from '../../../schema/errors.ts';
import type { RecordedWorktree } from '../../../schema/events.ts';
import { MOST_CARRIED } from '../changes/dirty-limit.ts';
import { isCheckoutAsCarried } from '../changes/dirty-work.ts';
import { type CreatedWorktree, createWorktree } from '../create-worktree.ts';
import { recoverWorktree } from '../recover-worktree.ts';
import { resumeWorktree } from '../resume-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { nameKey, worktreeName } from '../worktree-name.ts';
import { openWorktreePlace, type WorktreePlace } from '../worktree-place.ts';
import type { WorktreeSettings } from '../worktree-settings.ts';
import type { AgentWorkspace, AgentWorkspaces, WorkspaceRequest } from './agent-workspace.ts';
import { resumedClone } from './clone-workspace.ts';
import { heldWorkspace, type WorkspaceHolder } from './held-workspace.ts';
import { sharedWorkspace } from './shared-workspace.ts';

export interface WorkspacesOptions {
  /** `$RAMET_HOME`. */
  home: string;
  /** Where the session works. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  settings: WorktreeSettings;
  now: () => number;
}

/** How long the end of a session waits for worktrees that are being cleared; what is left, the next clean-up does. */
const LONGEST_WAIT_MS = 5_000;

export interface WorktreeWorkspaces extends AgentWorkspaces {
  /** Opens the registry of the session's repository before an agent waits for it. Throws if it is missing. */
  prepare(): void;
}

export function worktreeWorkspaces(options: WorkspacesOptions): WorktreeWorkspaces {
  const places = new Map<string, WorktreePlace>();
  const holder: WorkspaceHolder = {
    held: new Set(),
    settling: new Map(),
    told: new Set(),
    states: new Map(),
  };
  const placeFor = (directory: string): WorktreePlace => {
    const place = places.get(directory) ?? openWorktreePlace({ ...options, directory });
    places.set(directory, place);
    return place;
  };
  const hold = (
    place: WorktreePlace,
    made: Promise<MadeWorktree>,
    inherited: readonly string[] = [],
  ): Promise<AgentWorkspace> =>
    timed(made).then(([{ created, recovered }, ms]) =>
      heldWorkspace(holder, place, created, { ms, recovered, inherited }),
    );
  return {
    async create({ cwd, name, owner, base, inherited, throwaway, signal }) {
      const place = placeFor(cwd);
      // Uncommitted work of a checkout belongs on top of its own commit.
      const dirty = base === undefined ? undefined : ('exclude' as const);
      const request = { name, owner, numbered: true, signal };
      if (throwaway === undefined)
        return hold(place, createWorktree(place, { ...request, base, dirty }).then(fresh), inherited);
      const carrying = { base: 'HEAD', dirty: 'carry', mostDirty: MOST_CARRIED, throwaway } as const;
      const created = await createWorktree(place, { ...request, ...carrying });
      const held = await hold(place, Promise.resolve(fresh(created)), inherited);
      const isAsCarried = (): Promise<boolean> => isCheckoutAsCarried(place, created.worktree);
      return { ...held, checkpoint: async () => null, isAsCarried };
    },
    async enter(request) {
      const place = placeFor(request.cwd);
      return hold(place, enter(holder, place, request));
    },
    async resume(worktree, signal) {
      await holder.settling.get(worktree.id);
      const place = placeFor(directoryOf(worktree, options.cwd));
      if (worktree.clone !== undefined) return resumedClone(place, worktree, worktree.clone);
      const held = await hold(place, takeUp(place, worktree.id, signal), worktree.inherited);
      return worktree.shared === undefined ? held : sharedWorkspace(held, worktree.shared);
    },
    async settled(id) {
      await holder.settling.get(id);
    },
    prepare: () => void placeFor(options.cwd).registry.list(),
    async [Symbol.asyncDispose]() {
      const over = Promise.all(holder.settling.values());
      await Promise.race([over, new Promise((done) => setTimeout(done, LONGEST_WAIT_MS).unref())]);
      for (const place of places.values()) place[Symbol.dispose]();
    },
  };
}

interface MadeWorktree {
  created: CreatedWorktree;
  recovered: string | null;
}

function fresh(created: CreatedWorktree): MadeWorktree {
  return { created, recovered: null };
}

async function timed<Value>(work: Promise<Value>): Promise<[Value, number]> {
  const since = performance.now();
  return [await work, performance.now() - since];
}

/** The checkout it was made from may be gone; the repository is the same from everywhere. */
function directoryOf({ from }: RecordedWorktree, cwd: string): string {
  try {
    openWorktreePlace({ home: '/', directory: from, env: {} })[Symbol.dispose]();
    return from;
  } catch {
    return cwd;
  }
}

async function takeUp(
  place: WorktreePlace,
  id: string,
  signal: AbortSignal | undefined,
): Promise<MadeWorktree> {
  const isRemoved = place.registry.find(id)?.state === 'gone';
  const recovery = await recoverWorktree(place, id, signal);
  if (recovery === null) {
    const created = await resumeWorktree(place, id, signal);
    const { path, facts } = created.worktree;
    if (!isRemoved || facts.hook === undefined) return fresh(created);
    return { created, recovered: `your worktree ${path} had no changes and was removed. ${WITHOUT_HOOK}` };
  }
  const { created, checkpoint, hadNoBranch } = recovery;
  const { path, facts } = created.worktree;
  const from = checkpoint?.slice(0, 12) ?? null;
  const state = hadNoBranch ? withoutBranch(from) : withBranch(from);
  const lost = `your worktree ${path} was deleted while you were not working. ${state} Ignored files are not in it.`;
  return { created, recovered: facts.hook === undefined ? lost : `${lost} ${WITHOUT_HOOK}` };
}

function withBranch(checkpoint: string | null): string {
  if (checkpoint === null) return 'It was made again from its branch; uncommitted work is lost.';
  return `It was made again as it was after your last turn (checkpoint ${checkpoint}).`;
}

function withoutBranch(checkpoint: string | null): string {
  if (checkpoint === null)
    return 'Its branch was deleted too, and it was made again where it began: what you had done in it is lost.';
  return `Its branch was deleted too, and it was made again from your last checkpoint (${checkpoint}): later commits are not in it.`;
}

/** A hook would make another directory, at a commit of its own choice. */
const WITHOUT_HOOK =
  'A WorktreeCreate hook had made it. Ramet has made it again at the same path, branch and commit, without the hook: what the hook prepares, such as packages or .env, may be missing.';

async function enter(
  { held, settling }: WorkspaceHolder,
  place: WorktreePlace,
  { name, owner, base, share = false, signal }: WorkspaceRequest,
): Promise<MadeWorktree> {
  const plain = worktreeName(name);
  const named = place.registry
    .list()
    .filter(({ state }) => state !== 'gone')
    .find((known) => nameKey(known.name) === nameKey(plain));
  if (named === undefined) return fresh(await createWorktree(place, { name, owner, base, signal }));
  if (base !== undefined && !share) throw hasBase(named);
  if (held.has(named.id) && !share) {
    throw new UserMistake(
      'worktree_in_use',
      `${basename(dirname(named.path))}/${named.name} is in use by another agent of this session: choose another name`,
    );
  }
  await settling.get(named.id);
  return place.registry.find(named.id)?.state === 'gone'
    ? fresh(await createWorktree(place, { name, owner, signal, ...(share && { base }) }))
    : takeUp(place, named.id, signal);
}

function hasBase({ name, base }: ManagedWorktree): UserMistake {
  return new UserMistake(
    'worktree_taken',
    `the worktree ${name} is there already and began at ${base.slice(0, 12)}: leave the base out, or choose another name`,
  );
}
