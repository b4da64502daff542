/**
 * Where an agent works: a directory, and the worktree around it where it has one, or its parent has. After each turn
 * that may have changed something the worktree is kept on a private ref, beside the work and one at a time.
 */

import { leftOutText } from '../../git/worktrees/work/add-all.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { describeError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';

/** Whose journal it is noted in. */
export interface DirectoryOwner {
  record(event: JournalEvent): void;
  warn(code: string, message: string): void;
}

/** As an agent's specification has it. */
export interface FirstDirectory {
  readonly cwd: string;
  readonly workspace?: AgentWorkspace | undefined;
  readonly isWorkspaceOwn?: boolean | undefined;
}

export class AgentDirectory {
  cwd: string;
  workspace: AgentWorkspace | null;
  /** Whether the worktree is the agent's own; it is its parent's otherwise. */
  isOwn: boolean;
  /** Where an agent that went into a worktree by itself was before; null for others. */
  outside: string | null = null;
  readonly #owner: DirectoryOwner;
  #checkpoint: Promise<void> | null = null;
  #again = false;
  readonly #told = new Set<string>();

  constructor(owner: DirectoryOwner, { cwd, workspace, isWorkspaceOwn }: FirstDirectory) {
    this.#owner = owner;
    this.cwd = cwd;
    this.workspace = workspace ?? null;
    this.isOwn = workspace !== undefined && isWorkspaceOwn === true;
  }

  recordStart(): void {
    if (this.workspace !== null && this.isOwn) this.#owner.record(this.workspace.created);
  }

  /** What an agent with a worktree of its own is told of it. */
  get ownNotice(): string | null {
    return this.isOwn && this.workspace !== null ? this.workspace.notice.whole : null;
  }

  /** Begins when the last one has ended; what comes meanwhile is one more. */
  checkpointLater(): void {
    if (this.workspace === null) return;
    if (this.#checkpoint !== null) {
      this.#again = true;
      return;
    }
    this.#checkpoint = this.#keep(this.workspace).finally(() => {
      this.#checkpoint = null;
      if (!this.#again) return;
      this.#again = false;
      this.checkpointLater();
    });
  }

  /** At the agent's end. One that is under way began after the last tool: it has everything. */
  async lastCheckpoint(): Promise<void> {
    if (this.#checkpoint === null) this.checkpointLater();
    await this.checkpointed();
  }

  /** Resolves when what was begun is on its ref. */
  async checkpointed(): Promise<void> {
    while (this.#checkpoint !== null) await this.#checkpoint;
  }

  async #keep(workspace: AgentWorkspace): Promise<void> {
    try {
      const kept = await workspace.checkpoint();
      if (kept !== null) this.#owner.record({ type: 'worktree.checkpointed', ...kept });
      const fresh = (workspace.leftOut ?? []).filter((folder) => !this.#told.has(folder));
      for (const folder of fresh) this.#told.add(folder);
      for (const text of leftOutText(fresh))
        this.#owner.warn('not_checkpointed', `work in progress was kept, but not all of it: ${text}`);
    } catch (error) {
      this.#owner.warn('not_checkpointed', `work in progress was not kept: ${describeError(error)}`);
    }
  }
}
