/**
 * One checkout for several tasks of a run (OP-9), of the operator's own: the user's stays as it is. Who works in it, and with which
 * files, is noted beside it, so that another process can continue after a crash.
 *
 * Invariants
 * 1. Files of an agent that is at work are changed by nobody here.
 * 2. What is taken out of the files is on a ref before: of an ended attempt its work, of others what was found.
 * 3. One thing at a time is done to it; agents work meanwhile.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  adminDirectory,
  checkoutTrees,
  excludeSettings,
  restoreGitFile,
} from '../../../git/managed-worktrees.ts';
import { type GitCall, gitText, runGit } from '../../../git/run-git.ts';
import type { ManagedWorktree, WorktreePlace } from '../../../git/shapes.ts';
import type { AgentWorkspace, AgentWorkspaces } from '../../../git/worktrees/workspace/agent-workspace.ts';
import { covers } from '../../../sandbox/write-fence.ts';
import { RametError, systemCode } from '../../../schema/errors.ts';
import { replaceWhole } from '../../../system/replace-whole.ts';
import { findWorktree } from '../../worktrees/open-place.ts';
import { type ChangedPath, changedPaths, putFiles, undone } from './changed-paths.ts';

export interface SharedPlace {
  workspaces: AgentWorkspaces;
  worktrees: WorktreePlace;
  cwd: string;
  session: string;
  /** Names the checkout: the same for the whole run. */
  run: string;
}

/** Beside the checkout, in git's own directory for it. */
interface CheckoutNote {
  /** The commit that its files began with; `next`: they are being brought there. */
  at: string;
  next: string | null;
  /** The files of tasks at work; null for any. */
  live: Record<string, readonly string[] | null>;
  /** Paths that tasks which have ended have changed. */
  ended: Record<string, readonly string[]>;
}

/** With what git is called for it. */
export interface CheckoutGit {
  readonly call: GitCall;
  /** Where its note and temporary indexes are. */
  readonly scratch: string;
  readonly note: Pick<CheckoutNote, 'at'>;
}

interface OpenCheckout extends CheckoutGit {
  readonly workspace: AgentWorkspace;
  readonly worktree: ManagedWorktree;
  readonly note: CheckoutNote;
}

export interface FoundChanges {
  own: ChangedPath[];
  /** Of nobody that is known. */
  strays: ChangedPath[];
}

/** What came of the end of a task: `paths` are on a ref, and are taken back now or before the next one begins. */
export interface EndedTask<Result> {
  result: Result;
  paths: readonly ChangedPath[];
  takeBack: boolean;
}

export class SharedCheckout {
  readonly #place: SharedPlace;
  /** Tasks at work in this process. */
  readonly #live: Map<string, readonly string[] | null> = new Map();
  /** What tasks may have changed that an earlier process began and this one does not resume. */
  #lost: readonly string[] = [];
  #opened: Promise<OpenCheckout> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(place: SharedPlace) {
    this.#place = place;
  }

  /** Said before anything is waited for: from now on nobody touches its files. */
  expect(task: string, files: readonly string[] | null): void {
    this.#live.set(task, files);
  }

  /** Brings the files to `base`, but for those of others at work. What is found in the way is handed to `keep` first. */
  enter(
    task: string,
    base: string,
    keep: (found: readonly ChangedPath[], git: CheckoutGit) => Promise<void>,
  ): Promise<AgentWorkspace> {
    return this.#alone(async () => {
      const open = await this.#open(base);
      if (open.note.next !== null) await this.#move(open, open.note.next);
      await this.#move(open, base);
      const files = this.#live.get(task) ?? [];
      const ended = new Set(Object.values(open.note.ended).flat());
      const free = (await this.#changes(open)).filter(({ path }) => !this.#isOfOthers(task, path));
      const unknown = free.filter(({ path }) => !ended.has(path) && isAmong(path, [...files, ...this.#lost]));
      if (unknown.length > 0) await keep(unknown, open);
      await this.#undo(open, [...unknown, ...free.filter(({ path }) => ended.has(path))]);
      this.#lost = [];
      open.note.ended = {};
      this.#write(open);
      return open.workspace;
    });
  }

  /** A task is over. `work` is told what it has changed, and what is nobody's. */
  end<Result>(
    task: string,
    base: string,
    work: (found: FoundChanges, git: CheckoutGit) => Promise<EndedTask<Result>>,
  ): Promise<Result> {
    return this.#alone(async () => {
      const open = await this.#open(base);
      const { note } = open;
      const files = this.#live.get(task) ?? [];
      const others = new Set(Object.entries(note.ended).flatMap(([id, paths]) => (id === task ? [] : paths)));
      const found = (await this.#changes(open)).filter(
        ({ path }) => !this.#isOfOthers(task, path) && !others.has(path),
      );
      const own = found.filter(({ path }) => isAmong(path, files));
      const strays = found.filter((one) => !own.includes(one));
      const { result, paths, takeBack } = await work({ own, strays }, open);
      if (takeBack) await this.#undo(open, paths);
      this.#live.delete(task);
      delete note.live[task];
      note.ended[task] = takeBack ? [] : paths.map(({ path }) => path);
      this.#write(open);
      return result;
    });
  }

  /** Where it is; null before anybody has worked in it. */
  async path(): Promise<string | null> {
    return this.#opened === null ? null : (await this.#opened).worktree.path;
  }

  /** At the end of the run. While tasks of it can be resumed, it stays. */
  async close(): Promise<void> {
    if (this.#opened === null || this.#live.size > 0) return;
    await this.#alone(async () => {
      const open = await this.#open('');
      if (Object.keys(open.note.live).length > 0) return;
      await this.#undo(open, await this.#changes(open));
      await this.#move(open, open.worktree.base);
      await open.workspace.release();
    });
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn;
    return turn;
  }

  #isOfOthers(task: string | null, path: string): boolean {
    for (const [id, files] of this.#live)
      if (id !== task && files !== null && isAmong(path, files)) return true;
    return false;
  }

  #open(base: string): Promise<OpenCheckout> {
    this.#opened ??= this.#take(base).catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened.then((open) => {
      for (const [task, files] of this.#live) open.note.live[task] = files;
      return open;
    });
  }

  /** A new one, or the one that an earlier process of this run had. */
  async #take(base: string): Promise<OpenCheckout> {
    const { workspaces, worktrees, cwd, session, run } = this.#place;
    const owner = { session, agent: `${session}.operator` };
    const workspace = await workspaces.enter({ name: `operate-${run}`, owner, cwd, base, share: true });
    if (workspace.setupFailure !== undefined) {
      await workspace.release();
      throw new RametError('setup_failed', 'terminal', workspace.setupFailure);
    }
    const worktree = findWorktree(worktrees, workspace.worktree.id);
    const scratch = adminDirectory(worktrees, worktree);
    const call = { cwd: worktree.path, env: worktrees.env };
    const note = readNote(scratch) ?? { at: worktree.base, next: null, live: {}, ended: {} };
    const lost = Object.entries(note.live).filter(([task]) => !this.#live.has(task));
    this.#lost = lost.flatMap(([, files]) => files ?? ['*']);
    for (const [task] of lost) delete note.live[task];
    return { workspace, worktree, call, scratch, note };
  }

  async #changes({ worktree, call, scratch, note }: OpenCheckout): Promise<ChangedPath[]> {
    restoreGitFile(this.#place.worktrees, worktree);
    const settings = excludeSettings(this.#place.worktrees, worktree);
    const { files } = await checkoutTrees(worktree.path, call.env, { scratch, settings });
    return changedPaths(`${note.at}^{tree}`, files, call);
  }

  /** What a task at work has as its own stays as it is, though the commit is another. */
  async #move(open: OpenCheckout, to: string): Promise<void> {
    const { note, call } = open;
    if (note.at === to) return;
    restoreGitFile(this.#place.worktrees, open.worktree);
    const changes = await changedPaths(note.at, to, call);
    note.next = to;
    this.#write(open);
    await this.#put(
      open,
      changes.filter(({ path }) => !this.#isOfOthers(null, path)),
    );
    // What agents see of git follows. One that uses it at this moment has its lock, and the next move comes.
    await runGit(['read-tree', '-m', to], call);
    // Never the branch that an agent may have put there.
    await gitText(['update-ref', '--no-deref', '-m', 'ramet operate', 'HEAD', to], call);
    [note.at, note.next] = [to, null];
    this.#write(open);
  }

  #undo(open: OpenCheckout, changes: readonly ChangedPath[]): Promise<void> {
    return this.#put(open, undone(changes));
  }

  #put({ worktree, call, scratch }: OpenCheckout, changes: readonly ChangedPath[]): Promise<void> {
    restoreGitFile(this.#place.worktrees, worktree);
    return putFiles(worktree.path, changes, call, scratch);
  }

  #write({ scratch, note }: OpenCheckout): void {
    replaceWhole(join(scratch, NOTE), JSON.stringify(note));
  }
}

const NOTE = 'ramet-tasks.json';

function readNote(scratch: string): CheckoutNote | null {
  try {
    // Only `#write` makes it.
    return JSON.parse(readFileSync(join(scratch, NOTE), 'utf8')) as CheckoutNote;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function isAmong(path: string, files: readonly string[]): boolean {
  return files.some((name) => covers(name, path));
}
