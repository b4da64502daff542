/**
 * Where an agent works: a directory, and the worktree around it where it has one, or its parent has. After each turn
 * that may have changed something the worktree is kept on a private ref, beside the work and one at a time.
 */

import { oneLine } from '../../git/provenance/trailers.ts';
import type { Checkout } from '../../git/shapes.ts';
import { leftOutText } from '../../git/worktrees/changes/add-all.ts';
import { type AgentWorkspace, directoryIn } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import { describeError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { AgentRuntime, AgentSpec } from '../agent/runtime.ts';

/** Whose directory it is: its state says where it is, its specification where it began. */
export interface DirectoryOwner {
  readonly spec: Pick<AgentSpec, 'id' | 'cwd' | 'workspace' | 'isWorkspaceOwn'>;
  readonly state: Pick<AgentState, 'directory'>;
  record(event: JournalEvent): void;
  warn(code: string, message: string): void;
}

export class AgentDirectory {
  readonly #owner: DirectoryOwner;
  /** What this process can do with the worktree that the agent is in, or is about to enter. */
  #held: AgentWorkspace | null;
  #checkpoint: Promise<void> | null = null;
  #again = false;
  /** Whether something may have changed its worktree since this agent began or was resumed. */
  isTouched = false;
  readonly #told = new Set<string>();

  constructor(owner: DirectoryOwner) {
    this.#owner = owner;
    this.#held = owner.spec.workspace ?? null;
  }

  get cwd(): string {
    const { state, spec } = this.#owner;
    return state.directory?.cwd ?? spec.cwd;
  }

  /** Throws where the agent is in a worktree that this process does not hold: nothing could fence it. */
  get workspace(): AgentWorkspace | null {
    const { state, spec } = this.#owner;
    if (state.directory === null) return spec.workspace ?? null;
    const { worktree } = state.directory;
    if (worktree === null) return null;
    if (this.#held?.worktree.path === worktree.path) return this.#held;
    throw new Error(`${spec.id} is in the worktree ${worktree.path}, which is not held here`);
  }

  /** Whether the worktree is the agent's own; it is its parent's otherwise. */
  get isOwn(): boolean {
    const { state, spec } = this.#owner;
    if (state.directory !== null) return state.directory.worktree !== null;
    return spec.workspace !== undefined && spec.isWorkspaceOwn === true;
  }

  /** Where an agent that went into a worktree by itself was before; null for others. */
  get outside(): string | null {
    return this.#owner.state.directory?.outside ?? null;
  }

  recordStart(): void {
    const { workspace, isWorkspaceOwn } = this.#owner.spec;
    if (workspace !== undefined && isWorkspaceOwn === true) this.#owner.record(workspace.created);
  }

  /** Moves the agent into a worktree of its own. */
  enter(workspace: AgentWorkspace): void {
    this.#held = workspace;
    const outside = this.outside ?? this.cwd;
    const cwd = directoryIn(workspace.worktree, this.cwd);
    this.#owner.record(workspace.created);
    this.#owner.record({ type: 'directory.changed', cwd, worktree: workspace.worktree, outside });
  }

  /** Moves it out of all worktrees. */
  leave(cwd: string): void {
    this.#owner.record({ type: 'directory.changed', cwd, worktree: null });
    this.#held = null;
  }

  /** Records where it is after a restart, if that is not what its record says. */
  resume(outside: string): void {
    const { directory } = this.#owner.state;
    const { cwd } = this.#owner.spec;
    if (directory === null || directory.worktree === null) return;
    if (directory.cwd === cwd && directory.outside === outside) return;
    this.#owner.record({ type: 'directory.changed', cwd, worktree: directory.worktree, outside });
  }

  /** What an agent is told about its own worktree. */
  get ownNotice(): string | null {
    return this.isOwn ? (this.workspace?.notice.whole ?? null) : null;
  }

  /** Begins when the last one has ended; what comes meanwhile is one more. */
  checkpointLater(): void {
    const { workspace } = this;
    if (workspace === null) return;
    this.isTouched = true;
    if (this.#checkpoint !== null) {
      this.#again = true;
      return;
    }
    this.#checkpoint = this.#keep(workspace).finally(() => {
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
  readonly runtime: Pick<AgentRuntime, 'checkouts' | 'childEnvironment' | 'files' | 'redact'>;
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
  #task: string;

  constructor(user: CheckoutUser) {
    this.#user = user;
    this.#task = oneLine(user.spec.origin?.description ?? '');
  }

  /** What its next commits are for, where that is not what it was started for. */
  set task(text: string) {
    this.#task = oneLine(text);
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
      this.#environment = checkout.environment;
      return null;
    });
  }

  /** In which its programs find the shim in git's place, once it has entered. */
  get environment(): Readonly<Record<string, string>> {
    if (this.#environment === null) return this.#user.runtime.childEnvironment;
    return { ...this.#environment, ...(this.#task !== '' && { RAMET_TASK: this.#task }) };
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
