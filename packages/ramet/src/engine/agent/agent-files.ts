/**
 * One agent's files: which versions it has seen, and a record of what its calls read and change. Made when it is first
 * asked for, since thousands of agents may wait at once and most never touch a file.
 */
import {
  type AgentFileAccess,
  createFileAccess,
  type FileAccessOptions,
} from '../../files/create-file-access.ts';
import type { FileAccess, FileChange } from '../../files/file-access.ts';
import type { CommandChange } from '../../files/file-readers.ts';
import { createOriginalFiles } from '../../files/original-files.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import { counterpart, fenceRefusal } from '../../sandbox/write-fence.ts';
import { describeError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { entriesOf } from '../../system/persistent.ts';
import type { AgentDirectory } from '../isolation/agent-directory.ts';
import type { AgentRuntime, AgentSpec } from './runtime.ts';

/** The agent whose files they are. */
export interface FileOwner {
  readonly spec: Pick<AgentSpec, 'id' | 'origin'>;
  readonly directory: Pick<AgentDirectory, 'cwd' | 'workspace' | 'isOwn'>;
  readonly state: Pick<AgentState, 'seen'>;
  readonly runtime: Pick<AgentRuntime, 'files' | 'outputDirectory' | 'childEnvironment'>;
  record(event: JournalEvent): void;
  warn(code: string, message: string): void;
  /** Releases what is taken for it when the agent ends. */
  readonly scope: AsyncDisposableStack;
}

/** Where the files that a parent has seen are in the worktree of its fork; undefined where nothing moves. */
function movedInto({
  workspace,
  isOwn,
}: FileOwner['directory']): ((path: string) => string | null) | undefined {
  if (workspace === null || !isOwn) return undefined;
  const { from, root } = workspace.fence;
  return (path) => counterpart(path, from, root);
}

function seenElsewhere(
  seen: ReadonlyMap<string, string>,
  moved: ((path: string) => string | null) | undefined,
): ReadonlyMap<string, string> {
  if (moved === undefined || seen.size === 0) return seen;
  const places = Array.from(seen, ([path, version]) => [moved(path), version] as const);
  // What it has seen in the worktree itself is newer.
  return new Map([
    ...places.flatMap(([path, version]): [string, string][] => (path === null ? [] : [[path, version]])),
    ...seen,
  ]);
}

export class AgentFiles {
  readonly #owner: FileOwner;
  #access: AgentFileAccess | null = null;
  #isReader = false;
  /** Changes of files it has read that it has not been told of, by path. */
  #news: Map<string, CommandChange> | null = null;

  constructor(owner: FileOwner) {
    this.#owner = owner;
  }

  /** Takes note of what the agent's own process has read or changed (EXEC-2). */
  follow(path: string, version: string): void {
    this.#open().saw(path, version);
  }

  #open(): AgentFileAccess {
    this.#access ??= this.#create();
    this.#beReader(this.#access);
    return this.#access;
  }

  /** With what the agent has seen before: in an earlier process, or as its parent did (FORK-4). */
  #create(): AgentFileAccess {
    return createFileAccess({
      ...this.#options(),
      ledger: this.#owner.runtime.files,
      seen: this.#recorded(),
    });
  }

  #recorded(): ReadonlyMap<string, string> {
    const { state, directory } = this.#owner;
    return seenElsewhere(entriesOf(state.seen), movedInto(directory));
  }

  /** It has seen what its state says and nothing else: its conversation was taken back. */
  goBack(): void {
    const access = this.#access;
    this.#news = null;
    if (access === null) return;
    const recorded = this.#recorded();
    for (const path of access.versions().keys()) if (!recorded.has(path)) access.seen.forget(path);
    for (const [path, version] of recorded) access.saw(path, version);
  }

  /** The files as one call sees them: what it reads and changes is journaled as that call's. */
  for(call: string): FileAccess {
    const { cwd, workspace } = this.#owner.directory;
    return this.#open().watchedBy({
      cwd,
      fence: workspace === null ? undefined : (path) => fenceRefusal(workspace.fence, path),
      onChange: (change) => this.#recordChange(call, change),
      onRead: (path, version) => this.#owner.record({ type: 'file.read', call, path, version }),
    });
  }

  /** The version of a real path that it saw last; undefined for none. */
  lastSeen(path: string): string | undefined {
    return this.#open().versions().get(path);
  }

  /** What others' commands have changed of what it has read, and it has not read again since. Told once. */
  takeNews(): CommandChange[] {
    const news = [...(this.#news?.values() ?? [])];
    this.#news = null;
    return news.filter(({ path, version }) => this.#access?.seen.peek(path)?.version !== version);
  }

  #beReader(access: AgentFileAccess): void {
    if (this.#isReader) return;
    this.#isReader = true;
    const { runtime, spec, scope } = this.#owner;
    const leave = runtime.files.readers.enter({
      agent: spec.id,
      task: spec.origin?.description ?? null,
      seen: access.seen,
      tell: (change) => {
        this.#news ??= new Map();
        this.#news.set(change.path, change);
      },
    });
    scope.defer(leave);
  }

  #options(): Omit<FileAccessOptions, 'ledger' | 'seen'> {
    const { spec, directory } = this.#owner;
    return {
      agent: spec.id,
      cwd: directory.cwd,
      task: spec.origin?.description ?? null,
      findVersion: (path, version) => this.#findVersion(path, version),
      onChange: (change) => this.#recordChange('', change),
      keepOriginal: (file) => this.#keepOriginal(file),
    };
  }

  #recordChange(call: string, { path, before, after }: FileChange): void {
    this.#owner.record({
      type: 'file.changed',
      call,
      path,
      before: before?.version ?? null,
      after: after.version,
      ...(before === null ? {} : { mode: before.mode }),
    });
  }

  /** As it was kept when it was changed, or as it was last committed. */
  async #findVersion(path: string, version: string): Promise<Uint8Array | null> {
    const { outputDirectory, childEnvironment } = this.#owner.runtime;
    const kept = createOriginalFiles(outputDirectory).read(version);
    if (kept !== null) return kept;
    const { committedVersion } = await import('../../git/provenance.ts');
    return committedVersion(path, version, childEnvironment);
  }

  /** The change goes on without an original: it is what was asked for, undoing it is not. */
  #keepOriginal({ version, bytes }: { version: string; bytes: Uint8Array }): void {
    try {
      createOriginalFiles(this.#owner.runtime.outputDirectory).keep(version, bytes);
    } catch (error) {
      this.#owner.warn('original_not_kept', `undo will not have the file as it was: ${describeError(error)}`);
    }
  }
}
