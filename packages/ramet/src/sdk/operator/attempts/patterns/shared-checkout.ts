/**
 * One checkout for several tasks of a run (OP-9), of the operator's own: the user's stays as it is. Who works in it, and with which
 * files, is noted beside it, so that another process can continue after a crash.
 *
 * Invariants
 * 1. Files of an agent that is at work are changed by nobody here.
 * 2. What is taken out of the files is on a ref before: of an ended attempt its work, of others what was found.
 * 3. One thing at a time is done to it; agents work meanwhile.
 */
import {
  type ChangedPath,
  changedPaths,
  covered,
  leftBeside,
  putFiles,
  showAfresh,
  showCommit,
  undone,
} from '../../../../git/left-work.ts';
import {
  checkoutTrees,
  excludeSettings,
  isHeld,
  mendHead,
  mendIndex,
  moveApart,
  takeRepairs,
  trustedGit,
} from '../../../../git/managed-worktrees.ts';
import type { GitCall } from '../../../../git/run-git.ts';
import type { ManagedWorktree, TrustedCall, WorktreePlace } from '../../../../git/shapes.ts';
import type { AgentWorkspace, AgentWorkspaces } from '../../../../git/worktrees/workspace/agent-workspace.ts';
import { RametError } from '../../../../schema/errors.ts';
import { findWorktree } from '../../../worktrees/open-place.ts';
import { LEFT_REFS } from './attempt-pattern.ts';
import { type CheckoutNote, forgetNote, newNote, readNote, writeNote } from './checkout-note.ts';
import type { EndedTask, FindRefs, FoundChanges, NestedFolders } from './found-changes.ts';
import { strayLinks } from './nested-repositories.ts';

export interface SharedPlace {
  workspaces: AgentWorkspaces;
  worktrees: WorktreePlace;
  cwd: string;
  session: string;
  /** Names the checkout: the same for the whole run. */
  run: string;
}

/** With what git is called for it: not in its files, where an agent at work may lead git elsewhere at any moment. */
export interface CheckoutGit {
  readonly call: GitCall;
  /** Of the repository. */
  readonly commonDirectory: string;
  /** Where its files are. */
  readonly directory: string;
  /** Where temporary indexes are: not where an agent can write. */
  readonly scratch: string;
  readonly note: Pick<CheckoutNote, 'at'>;
}

interface OpenCheckout extends CheckoutGit {
  /** In its files. */
  readonly here: TrustedCall;
  readonly workspace: AgentWorkspace;
  readonly worktree: ManagedWorktree;
  readonly note: CheckoutNote;
}

interface FilesFound {
  /** Their tree. */
  readonly files: string;
  readonly changes: ChangedPath[];
  readonly nested: readonly string[];
}

const LINK = '160000';
const checkoutName = (run: string): string => `operate-${run}`;

export class SharedCheckout {
  readonly #place: SharedPlace;
  /** Tasks at work in this process. */
  readonly #live: Map<string, readonly string[] | null> = new Map();
  /** What tasks may have changed that an earlier process began and this one does not resume. */
  #lost: readonly string[] = [];
  /** Submodules that were elsewhere when the last task came: no file takes their commits back. */
  #links: ReadonlyMap<string, string> = new Map();
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
      if (this.#live.size < 2) await showAfresh(this.#place.worktrees, open, base);
      const files = this.#live.get(task) ?? [];
      const ended = new Set(Object.values(open.note.ended).flat());
      const { changes, nested } = await this.#look(open);
      this.#moveApart(open, task, nested);
      const free = changes.filter(({ path }) => !this.#isOfOthers(task, path));
      const unknown = free.filter(({ path }) => !ended.has(path) && covered(path, [...files, ...this.#lost]));
      if (unknown.length > 0) await keep(unknown, open);
      await this.#undo(open, [...unknown, ...free.filter(({ path }) => ended.has(path))]);
      this.#lost = [];
      this.#links = new Map(free.flatMap(({ path, id, mode }) => (mode === LINK ? [[path, id]] : [])));
      open.note.ended = {};
      this.#write(open);
      return open.workspace;
    });
  }

  /** A task is over. `work` is told what it has changed, and what is nobody's. */
  end<Result>(
    { task, base, refsOf }: { task: string; base: string; refsOf: FindRefs },
    work: (found: FoundChanges, git: CheckoutGit) => Promise<EndedTask<Result>>,
  ): Promise<Result> {
    return this.#alone(async () => {
      const open = await this.#open(base);
      const { note } = open;
      const files = this.#live.get(task) ?? [];
      const others = new Set(Object.entries(note.ended).flatMap(([id, paths]) => (id === task ? [] : paths)));
      const seen = await this.#look(open);
      const nested = this.#moveApart(open, task, seen.nested);
      const found = seen.changes.filter(
        ({ path, id }) => !this.#isOfOthers(task, path) && !others.has(path) && this.#links.get(path) !== id,
      );
      const own = found.filter(({ path }) => covered(path, files));
      const strays = found.filter((one) => !own.includes(one));
      const refs = await refsOf(this.#place.worktrees, open.worktree);
      const { left, ...more } = await leftBeside(
        this.#place.worktrees,
        { ...open, at: note.at, files: seen.files, refs: refs.own, kept: LEFT_REFS },
        open.call,
      );
      const notes = [...takeRepairs(open.worktree), ...refs.notes, ...more.notes];
      const { result, paths, takeBack } = await work({ own, strays, nested, notes, left }, open);
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

  /**
   * At the end of the run, also one that an earlier process left. While tasks of it can be resumed, it stays; `isDone`: none
   * can, and only what they have changed would keep it.
   */
  async close(isDone = false): Promise<void> {
    if (this.#live.size > 0 || (this.#opened === null && !this.#isLeft())) return;
    await this.#alone(async () => {
      const open = await this.#open('');
      const isLive = Object.keys(open.note.live).length + this.#lost.length > 0;
      if (isLive && !isDone) return;
      const { changes, nested } = await this.#look(open);
      if (isLive && changes.length + nested.length > 0) return;
      this.#moveApart(open, null, nested);
      await this.#undo(open, changes);
      await this.#move(open, open.worktree.base);
      await showAfresh(this.#place.worktrees, open, open.note.at);
      await open.workspace.release();
      forgetNote(this.#place.worktrees, this.#place.run);
    });
  }

  /** Nobody of this process has been in it, and a process that was killed had it. */
  #isLeft(): boolean {
    const { worktrees, run } = this.#place;
    const isOurs = ({ name, state }: ManagedWorktree): boolean =>
      name === checkoutName(run) && (state === 'leased' || state === 'released');
    return worktrees.registry.list().some((row) => isOurs(row) && !isHeld(worktrees.project, row));
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn;
    return turn;
  }

  #isOfOthers(task: string | null, path: string): boolean {
    for (const [id, files] of this.#live)
      if (id !== task && files !== null && covered(path, files)) return true;
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
    const workspace = await workspaces.enter({ name: checkoutName(run), owner, cwd, base, share: true });
    if (workspace.setupFailure !== undefined) {
      await workspace.release();
      throw new RametError('setup_failed', 'terminal', workspace.setupFailure);
    }
    const worktree = findWorktree(worktrees, workspace.worktree.id);
    const here = await trustedGit(worktrees, worktree);
    const call = { cwd: worktrees.repository.root, env: worktrees.env };
    const note = readNote(worktrees, run, worktree) ?? newNote(worktree);
    const lost = Object.entries(note.live).filter(([task]) => !this.#live.has(task));
    this.#lost = lost.flatMap(([, files]) => files ?? ['*']);
    for (const [task] of lost) delete note.live[task];
    const { commonDirectory } = worktrees.repository;
    const site = { commonDirectory, directory: worktree.path, scratch: worktrees.project };
    return { workspace, worktree, call, here, ...site, note };
  }

  /** What differs from the commit that its files began with. */
  async #look({ worktree, call, here, scratch, note }: OpenCheckout): Promise<FilesFound> {
    const { worktrees } = this.#place;
    await trustedGit(worktrees, worktree);
    mendHead(worktrees, worktree);
    const settings = excludeSettings(worktrees, worktree);
    const read = (): ReturnType<typeof checkoutTrees> => checkoutTrees(here, { scratch, settings });
    const { files, leftOut } = await read().catch(async (error: unknown) => {
      if (await mendIndex(worktrees, worktree)) return read();
      throw error;
    });
    const found = await changedPaths(`${note.at}^{tree}`, files, call);
    const links = await strayLinks(files, found, call);
    const changes = found.filter(({ path }) => !links.includes(path));
    return { files, changes, nested: [...new Set([...leftOut, ...links])] };
  }

  /** Those that are not among the files of others at work. */
  #moveApart(
    { worktree }: OpenCheckout,
    task: string | null,
    nested: readonly string[],
  ): NestedFolders | null {
    const names = nested.filter((path) => !this.#isOfOthers(task, path));
    const { folder } = moveApart(this.#place.worktrees, worktree, names);
    return folder === null ? null : { names, folder };
  }

  /** What a task at work has as its own stays as it is, though the commit is another. */
  async #move(open: OpenCheckout, to: string): Promise<void> {
    const { note, call } = open;
    if (note.at === to) return;
    const changes = await changedPaths(note.at, to, call);
    note.next = to;
    this.#write(open);
    await this.#put(
      open,
      changes.filter(({ path }) => !this.#isOfOthers(null, path)),
    );
    await showCommit(this.#place.worktrees, open, to);
    [note.at, note.next] = [to, null];
    this.#write(open);
  }

  #undo(open: OpenCheckout, changes: readonly ChangedPath[]): Promise<void> {
    return this.#put(open, undone(changes));
  }

  async #put({ worktree, call, scratch }: OpenCheckout, changes: readonly ChangedPath[]): Promise<void> {
    const { commonDirectory } = this.#place.worktrees.repository;
    // With an index of its own: nothing of the registration is read.
    const checkout = { gitDirectory: commonDirectory, commonDirectory };
    await putFiles(worktree.path, changes, { ...call, checkout }, scratch);
  }

  #write({ note }: OpenCheckout): void {
    writeNote(this.#place.worktrees, this.#place.run, note);
  }
}
