/**
 * Who has read what, of the agents of this process, so that a command that changes files behind the file tools is
 * noticed (WORK-1). A file that was not touched since the command began costs one stat and nothing else; 1,000 files
 * take about 4 ms.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { systemCode } from '../schema/errors.ts';
import type { AgentId } from '../schema/ids.ts';
import { loadFile } from '../system/regular-file.ts';

/** An evicted file must be read again before it is changed: safe, only slower. */
const REMEMBERED_FILES = 10_000;

export interface FileReader {
  agent: AgentId;
  /** What it is for. */
  task: string | null;
  seen: SeenVersions;
  /** Told that a file it has read was changed by a command of another agent. */
  tell(change: CommandChange): void;
}

export interface AgentCommand {
  agent: AgentId;
  task: string | null;
  command: string;
  /** When it began, in milliseconds since the epoch. */
  since: number;
}

export interface CommandChange extends AgentCommand {
  /** Real path. */
  path: string;
  /** Null when the file is gone. */
  version: string | null;
}

/** The part of the ledger that is needed here. */
export interface ChangeLedger {
  lastWrite(path: string): { version: string | null } | undefined;
  recordWrite(write: Omit<CommandChange, 'since'>): void;
  exclusive<T>(path: string, work: () => Promise<T>): Promise<T>;
}

export interface NoticedChange {
  path: string;
  readers: readonly FileReader[];
}

/** The clock of file systems is coarser than ours, and lags behind it. */
const CLOCK_SLACK_MS = 20;
/** The latest of each agent; more would make every command slower. */
const MOST_FILES = 5_000;

export class FileReaders {
  readonly #readers = new Set<FileReader>();
  /** What readers know already, so that a deleted file is reported once. */
  readonly #told = new WeakMap<FileReader, Map<string, string | null>>();

  get size(): number {
    return this.#readers.size;
  }

  enter(reader: FileReader): () => void {
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  /** Finds what changed while a command ran, notes whose it is, and tells those who have read it. */
  async notice(command: AgentCommand, ledger: ChangeLedger): Promise<NoticedChange[]> {
    const noticed: NoticedChange[] = [];
    const { since, ...by } = command;
    for (const [path, readers] of this.#touchedSince(since - CLOCK_SLACK_MS)) {
      if (await isByTool(path, ledger)) continue;
      // In the file's own turn: a Write that has replaced it and is about to say so would be taken for the command's.
      const version = await ledger.exclusive(path, async () => {
        const now = (await isByTool(path, ledger)) ? undefined : await versionNow(path);
        const isNew = now !== undefined && readers.some(({ seen }) => seen.peek(path)?.version !== now);
        if (isNew) ledger.recordWrite({ ...by, path, version: now });
        return isNew ? now : undefined;
      });
      if (version === undefined) continue;
      const stale = readers.filter((reader) => this.#isNews(reader, path, version));
      const others = stale.filter(({ agent }) => agent !== command.agent);
      for (const reader of others) reader.tell({ ...command, path, version });
      if (others.length > 0) noticed.push({ path, readers: others });
    }
    return noticed;
  }

  #touchedSince(since: number): Map<string, FileReader[]> {
    const touched = new Map<string, FileReader[]>();
    const untouched = new Set<string>();
    for (const reader of this.#readers) {
      for (const path of latestPaths(reader.seen)) {
        const readers = touched.get(path);
        if (readers !== undefined) readers.push(reader);
        else if (!untouched.has(path)) {
          if (isTouched(path, since)) touched.set(path, [reader]);
          else untouched.add(path);
        }
      }
    }
    return touched;
  }

  #isNews(reader: FileReader, path: string, version: string | null): boolean {
    if (reader.seen.peek(path)?.version === version) return false;
    const told = this.#told.get(reader) ?? new Map<string, string | null>();
    this.#told.set(reader, told);
    if (told.has(path) && told.get(path) === version) return false;
    told.set(path, version);
    return true;
  }
}

/** Whether what is there is what Write, Edit or a command that was noticed has left. */
async function isByTool(path: string, ledger: ChangeLedger): Promise<boolean> {
  const last = ledger.lastWrite(path);
  return last !== undefined && last.version === (await versionNow(path));
}

function latestPaths(seen: SeenVersions): string[] {
  return Array.from(seen.entries(), ([path]) => path).slice(-MOST_FILES);
}

/** Gone counts as touched: when, nobody knows any more. */
function isTouched(path: string, since: number): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined || stats.ctimeMs >= since;
  } catch (error) {
    return systemCode(error) === 'ENOTDIR';
  }
}

/** Undefined when it cannot be told. */
async function versionNow(path: string): Promise<string | null | undefined> {
  try {
    return (await loadFile(path)).version;
  } catch (error) {
    const code = systemCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' ? null : undefined;
  }
}

interface SeenVersion {
  version: string;
  /** Null when it was seen in an earlier process. */
  stats: BigIntStats | null;
}

/** The versions one agent has seen, by real path; the least recently used go first. */
export interface SeenVersions {
  get(path: string): SeenVersion | undefined;
  set(path: string, seen: SeenVersion): void;
  forget(path: string): void;
  /** Like `get`, and not a use. */
  peek(path: string): SeenVersion | undefined;
  /** The least recently used first. */
  entries(): Iterable<[path: string, seen: SeenVersion]>;
  clone(): SeenVersions;
  versions(): Map<string, string>;
}

export function createSeenVersions(entries?: Iterable<[string, SeenVersion]>): SeenVersions {
  const versions = new Map(entries);
  const set = (path: string, seen: SeenVersion): void => {
    versions.delete(path);
    versions.set(path, seen);
    const oldest = versions.size > REMEMBERED_FILES ? versions.keys().next().value : undefined;
    if (oldest !== undefined) versions.delete(oldest);
  };
  return {
    get(path) {
      const seen = versions.get(path);
      if (seen !== undefined) set(path, seen);
      return seen;
    },
    set,
    forget: (path) => void versions.delete(path),
    versions: () => new Map([...versions].map(([path, { version }]) => [path, version])),
    peek: (path) => versions.get(path),
    entries: () => versions.entries(),
    clone: () => createSeenVersions(versions),
  };
}
