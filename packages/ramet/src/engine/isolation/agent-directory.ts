/**
 * Where an agent works: a directory, and the worktree around it where it has one, or its parent has. After each turn
 * that may have changed something the worktree is kept on a private ref, beside the work and one at a time.
 */

import { oneLine } from '../../git/provenance/trailers.ts';
import type { Checkout } from '../../git/shapes.ts';
import { leftOutText } from '../../git/worktrees/changes/add-all.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { describeError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { AgentSpec, SessionRuntime } from '../agent/runtime.ts';

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

  /** What an agent is told about its own worktree. */
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

interface CheckoutUser {
  readonly spec: Pick<AgentSpec, 'id' | 'origin' | 'readOnly'>;
  readonly directory: Pick<AgentDirectory, 'cwd'>;
  readonly runtime: Pick<SessionRuntime, 'checkouts' | 'childEnvironment' | 'files' | 'redact'>;
  readonly scope: AsyncDisposableStack;
  warn(code: string, message: string): void;
}

const READERS_TOLD = 5;

/**
 * One agent in a checkout that it shares (WORK-1): it enters with the first call that can change something and leaves
 * when it ends. A failure to note this is a warning and stops nothing: the file tools guard every edit themselves.
 */
export class AgentCheckout {
  readonly #user: CheckoutUser;
  /** Where it was when it entered. */
  #entered: string | null = null;
  #leave: (() => void) | null = null;
  #environment: Readonly<Record<string, string>> | null = null;

  constructor(user: CheckoutUser) {
    this.#user = user;
  }

  /** An agent that changes nothing is no reason for others to be careful. */
  async enter(): Promise<void> {
    const { spec, scope, directory } = this.#user;
    const { cwd } = directory;
    if (this.#entered === cwd) return;
    if (this.#entered === null) scope.defer(() => this.#leave?.());
    this.#entered = cwd;
    this.#environment = null;
    // One that has moved to a worktree no longer lives where it was.
    this.#leave?.();
    this.#leave = null;
    await this.#guarded(null, (checkout) => {
      if (spec.readOnly !== true) this.#leave = checkout.enter(spec.id);
      const task = oneLine(spec.origin?.description ?? '');
      this.#environment = { ...checkout.environment, ...(task !== '' && { RAMET_TASK: task }) };
      return null;
    });
  }

  /** In which its programs find the shim in git's place, once it has entered. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment ?? this.#user.runtime.childEnvironment;
  }

  /** Other agents that live there, of any process. */
  others(): Promise<AgentId[]> {
    return this.#guarded<AgentId[]>([], (checkout) => checkout.others(this.#user.spec.id));
  }

  /** Tells those who have read what a command has changed, and returns a line for its result. */
  async afterCommand(command: string, since: number): Promise<string | null> {
    const { spec, runtime } = this.#user;
    const { readers } = runtime.files;
    if (readers.size < 2 && (await this.others()).length === 0) return null;
    try {
      const task = spec.origin?.description ?? null;
      // Others read it, and it is kept in a file.
      const by = { agent: spec.id, task, command: runtime.redact(command), since };
      const noticed = await readers.notice(by, runtime.files);
      if (noticed.length === 0) return null;
      const lines = noticed.map(({ path, readers: told }) => {
        const names = told.slice(0, READERS_TOLD).map(({ agent }) => agent);
        return `${path} (read by ${names.join(', ')})`;
      });
      return `Files that other agents have read changed while this ran. They will be told: ${lines.join(', ')}.`;
    } catch (error) {
      this.#user.warn(
        'changes_not_noticed',
        `changes of a command were not looked at: ${describeError(error)}`,
      );
      return null;
    }
  }

  async #guarded<T>(fallback: T, use: (checkout: Checkout) => T): Promise<T> {
    const { directory, runtime } = this.#user;
    try {
      const checkout = (await runtime.checkouts?.())?.at(directory.cwd) ?? null;
      return checkout === null ? fallback : use(checkout);
    } catch (error) {
      this.#user.warn('checkout_not_shared', `other agents do not know of this one: ${describeError(error)}`);
      return fallback;
    }
  }
}
