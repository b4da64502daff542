/**
 * Where agents work that only read (OP-3): in a worktree of the commit that they begin with, which all readers of that commit share.
 * It is made when the first of them comes, and given back when the last of them has ended.
 */
import { isHeld, settleWorktree, sharedWorkspace } from '../../../../git/managed-worktrees.ts';
import type { WorktreePlace } from '../../../../git/shapes.ts';
import type { AgentWorkspace } from '../../../../git/worktrees/workspace/agent-workspace.ts';
import { RametError } from '../../../../schema/errors.ts';
import type { SharedPlace } from './shared-checkout.ts';

interface Reading {
  /** Null until the first reader enters it. */
  workspace: Promise<AgentWorkspace> | null;
  readonly readers: Set<string>;
}

export class ReadingCheckouts {
  readonly #place: Omit<SharedPlace, 'worktrees'>;
  readonly #open: Map<string, Reading> = new Map();
  /** The worktrees given back, by their commit: the next reader may come before their branches are gone. */
  readonly #left: Map<string, string> = new Map();

  constructor(place: Omit<SharedPlace, 'worktrees'>) {
    this.#place = place;
  }

  /** Said before anything is waited for: also of one that an earlier process began. */
  expect(name: string, commit: string): void {
    const reading = this.#open.get(commit) ?? { workspace: null, readers: new Set() };
    this.#open.set(commit, reading);
    reading.readers.add(name);
  }

  /** For the reader of that name. Nothing in it can be written. */
  async enter(name: string, commit: string): Promise<AgentWorkspace> {
    this.expect(name, commit);
    try {
      return sharedWorkspace(await this.#workspace(commit), { only: [] });
    } catch (error) {
      this.#open.get(commit)?.readers.delete(name);
      throw error;
    }
  }

  async leave(name: string, commit: string): Promise<void> {
    const reading = this.#open.get(commit);
    if (reading?.readers.delete(name) !== true || reading.readers.size > 0) return;
    const workspace = await this.#workspace(commit).catch(() => null);
    if (reading.readers.size > 0) return;
    this.#open.delete(commit);
    if (workspace === null) return;
    this.#left.set(commit, workspace.worktree.id);
    await workspace.release();
  }

  #workspace(commit: string): Promise<AgentWorkspace> {
    const reading = this.#open.get(commit);
    if (reading === undefined) return this.#take(commit);
    reading.workspace ??= this.#take(commit).catch((error: unknown) => {
      reading.workspace = null;
      throw error;
    });
    return reading.workspace;
  }

  async #take(commit: string): Promise<AgentWorkspace> {
    const { workspaces, cwd, session, run } = this.#place;
    const owner = { session, agent: `${session}.operator` };
    const name = `${nameFor(run)}${commit.slice(0, 12)}`;
    const left = this.#left.get(commit);
    if (left !== undefined) await workspaces.settled(left);
    const workspace = await workspaces.enter({ name, owner, cwd, base: commit, share: true });
    if (workspace.setupFailure === undefined) return workspace;
    await workspace.release();
    throw new RametError('setup_failed', 'terminal', workspace.setupFailure);
  }
}

const nameFor = (run: string): string => `read-${run}-`;

/** Those of a process that was killed. One that is in use, or holds anything, stays. */
export async function settleReading(place: WorktreePlace, run: string): Promise<void> {
  const left = place.registry
    .list()
    .filter(
      ({ name, state }) => name.startsWith(nameFor(run)) && (state === 'leased' || state === 'released'),
    );
  for (const row of left) if (!isHeld(place.project, row)) await settleWorktree(place, row, { pools: false });
}
