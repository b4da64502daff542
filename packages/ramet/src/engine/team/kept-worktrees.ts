/**
 * The worktrees of idle members, kept as they are: to make one again takes ten times as long as everything else of a wake-up.
 * They stay leased to this process. One whose process is killed is like any that a killed agent left: its member takes it
 * up again, and the clean-up removes it if it holds nothing.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentWorkspace, WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { Agent } from '../agent/agent.ts';
import { giveBack, worktreeRemoved } from '../isolation/worktree-hooks.ts';

/** More than work side by side in most teams. Of those that are idle, the one that has been so for longest goes first. */
const MOST_KEPT = 8;

export class KeptWorktrees {
  readonly #lead: Agent;
  readonly #kept = new Map<AgentId, AgentWorkspace>();
  /** What was said about each when its member last went idle. */
  readonly #ends = new WeakMap<AgentWorkspace, WorktreeResult>();
  readonly #leaving = new Map<AgentId, Promise<void>>();
  #isClosed = false;

  constructor(lead: Agent) {
    this.#lead = lead;
  }

  /** Its member goes idle: what is in it is told as at an end, and it stays. Null where it has to be given back. */
  async keep(member: Agent): Promise<WorktreeResult | null> {
    const { spec, directory } = member;
    const { workspace, isOwn } = directory;
    if (this.#isClosed || workspace?.look === undefined || !isOwn) return null;
    const known = this.#leftAsItWas(member) ? this.#ends.get(workspace) : undefined;
    const end = known ?? { ...workspace.worktree, ...(await workspace.look(directory.lastCheckpoint())) };
    this.#ends.set(workspace, end);
    this.#kept.set(spec.id, workspace);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MOST_KEPT) this.leave(oldest);
    if (this.#isClosed) this.leave(spec.id);
    return end;
  }

  /** Who woke only to answer a message did: no git has to look. Hooks may change files at any time. */
  #leftAsItWas(member: Agent): boolean {
    return !member.directory.isTouched && member.runtime.hooks?.has(member) !== true;
  }

  /** Null if none was kept, or it was deleted. */
  of(id: AgentId): AgentWorkspace | null {
    const kept = this.#kept.get(id);
    if (kept === undefined || existsSync(join(kept.worktree.path, '.git'))) return kept ?? null;
    this.#kept.delete(id);
    return null;
  }

  /** Its member is at work in it again. */
  taken(id: AgentId): void {
    this.#kept.delete(id);
  }

  /** Its member has ended for good. */
  leave(id: AgentId | null): void {
    const kept = id === null ? undefined : this.#kept.get(id);
    if (id === null || kept === undefined) return;
    this.#kept.delete(id);
    this.#leaving.set(
      id,
      this.#release(id, kept).finally(() => this.#leaving.delete(id)),
    );
  }

  /** Resolves when it is given back; null if it is not about to be. Who takes it up before would see it removed. */
  leaving(id: AgentId): Promise<void> | null {
    return this.#leaving.get(id) ?? null;
  }

  async #release(id: AgentId, workspace: AgentWorkspace): Promise<void> {
    const end = await giveBack(this.#lead, workspace);
    this.#lead.runtime.journal.append(id, { type: 'worktree.released', ...workspace.worktree, ...end });
    if (!end.kept) await worktreeRemoved(this.#lead, workspace);
  }

  /** The session ends: all are given back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const id of [...this.#kept.keys()]) this.leave(id);
    await Promise.all(this.#leaving.values());
  }
}
