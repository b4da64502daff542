/**
 * The port through which agents get worktrees (EXEC-5): the engine knows what one is to its agent, not how it is made.
 */
import { existsSync } from 'node:fs';
import type { ShellBounds } from '../../../sandbox/isolated-shell.ts';
import { counterpart, type WriteFence } from '../../../sandbox/write-fence.ts';
import type { EventOf, RecordedWorktree } from '../../../schema/events.ts';

export interface WorkspaceOwner {
  session: string;
  agent: string;
}

/** What happened to a worktree that was given back. One that is not kept had no changes. */
export interface WorkspaceEnd {
  kept: boolean;
  /** Why it is kept, or where the commits are of one that is not; one sentence each. */
  reasons: string[];
  /** What HEAD is on when not on its branch: another branch, or a commit's id. */
  head?: string;
  /** Of one that is not kept: the commit that it ended on, if it began with another. */
  tip?: string;
  /** Where besides its own branch its agent has put commits (`otherBranches`). */
  others?: string[];
  /** What changed in the checkout of its parent while it was in use, and nobody known did it. */
  checkoutChanges?: string[];
}

export interface WorktreeResult extends RecordedWorktree, WorkspaceEnd {}

/** Where in the worktree an agent from `cwd` works: in the same directory, or in its root if that is missing. */
export function directoryIn({ path, from }: Pick<RecordedWorktree, 'path' | 'from'>, cwd: string): string {
  const twin = counterpart(cwd, from, path);
  return twin !== null && existsSync(twin) ? twin : path;
}

export interface AgentWorkspace {
  readonly worktree: RecordedWorktree;
  /** How it came to be, for the journal of its agent. */
  readonly created: EventOf<'worktree.created'>;
  readonly fence: WriteFence;
  readonly bounds: ShellBounds;
  /** What programs of its agent get besides the usual variables. */
  readonly env: Readonly<Record<string, string>>;
  /** What its agent is told about it; the brief one beside an environment that names its directory and branch. */
  readonly notice: { readonly whole: string; readonly brief: string };
  /** What the user should know, and was not told in this session. */
  readonly warnings: readonly string[];
  /** What a resumed agent must know: its files are not as it left them. Null when they are. */
  readonly recovered: string | null;
  /** What the user's set-up command said when it failed; undefined if it did not. */
  readonly setupFailure?: string | undefined;
  /** One that was made before its agent was known. */
  giveTo(owner: WorkspaceOwner): void;
  /** Keeps what is in it on a private ref; null when that holds it already. */
  checkpoint(): Promise<{ ref: string; commit: string } | null>;
  /** Folders that the last checkpoint does not hold. */
  readonly leftOut?: readonly string[];
  /** Whether the checkout is still as it was carried over, its commit and branch too. Only of one that is thrown away. */
  readonly isAsCarried?: (() => Promise<boolean>) | undefined;
  /** Told when its agent was about to write what is not its own, of a worktree that it shares. */
  readonly onRefused?: ((refusal: string) => void) | undefined;
  /**
   * What `release` would say about it now; it stays in use. Absent where that takes giving it back. `begun` as for `release`.
   */
  look?(begun?: Promise<void>): Promise<WorkspaceEnd>;
  /**
   * Never rejects: what fails is a reason to keep it. The rest happens in the background. It is judged
   * while what was begun in it ends, and given back afterwards. Once: the next call has the same answer.
   *
   * `remove` removes the directory of one that a hook made, and is waited for: what stands afterwards stays.
   */
  release(begun?: Promise<void>, remove?: () => Promise<void>): Promise<WorkspaceEnd>;
  /** Whether a hook has made its directory. */
  readonly isOfHook?: boolean | undefined;
  /** Before a hook that may make a directory in its place. Absent where none can take it. */
  expectDirectory?(): Promise<ExpectedDirectory>;
}

export interface ExpectedDirectory {
  /** The hook has made none. */
  none(): void;
  /** The directory that it made, in place of this worktree, which is given back. Throws with what is wrong with it. */
  take(path: string): Promise<AgentWorkspace>;
  /** The hook is refused: worktrees that git lists since it began and that no agent has. They are remembered. */
  left(): Promise<string[]>;
}

export interface WorkspaceRequest {
  /** Any text. */
  name: string;
  owner: WorkspaceOwner | null;
  /** In the checkout that it is made from. */
  cwd: string;
  /** Checkouts whose paths its agent may know besides. */
  inherited?: readonly string[] | undefined;
  /** Where a new one begins; by default where that checkout is. */
  base?: string | undefined;
  /**
   * It is tried out and thrown away: it carries the uncommitted work of the checkout, up to a limit, and nothing that is done in it
   * is ever work that keeps it. No checkpoints are made.
   */
  throwaway?: true | undefined;
  /** Enter it also where others of this session are at work. */
  share?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** All of them throw a RametError with the reason. */
export interface AgentWorkspaces extends AsyncDisposable {
  /** A new one, whose name is made different from all others. */
  create(request: WorkspaceRequest): Promise<AgentWorkspace>;
  /** The one of that name, or a new one. */
  enter(request: WorkspaceRequest): Promise<AgentWorkspace>;
  /** The worktree of a resumed agent, at the same path (WORK-8). */
  resume(worktree: RecordedWorktree, signal?: AbortSignal): Promise<AgentWorkspace>;
  /** Waits while one that was given back is being judged: the git that does that works in it. */
  settled(id: string): Promise<void>;
}
