/**
 * How an agent reads and changes files (WORK-1). Versions are content hashes; an agent may change only a file
 * whose current version it has seen. One `FileAccess` per agent, over one `FileLedger` per process that knows
 * who wrote what and serialises check-and-rename per real path.
 */
export interface FileSnapshot {
  /** Real path, symlinks resolved. */
  path: string;
  bytes: Uint8Array;
  version: string;
}

/** Told after a change is on disk; the engine journals it. `null` is "no file". */
export interface FileChange {
  path: string;
  before: { version: string; bytes: Uint8Array; mode: number } | null;
  after: { version: string; bytes: Uint8Array };
}

export type FileRefusal = { ok: false; reason: string };
export type FileWritten = { ok: true; path: string; created: boolean };

/** What a streamed file turned out to be. */
export interface FileScan {
  /** Real path, symlinks resolved. */
  path: string;
  size: number;
  version: string;
}

export interface FileAccess {
  /** Reads a file and remembers the version this agent has now seen. Throws the system's error (ENOENT, EISDIR). */
  read(path: string): Promise<FileSnapshot>;
  /**
   * Reads a file of any size in chunks, in flat memory, and remembers its version like `read`. `take` gets every
   * chunk until it answers `enough`; the rest is then read for the version alone, and not even that when the
   * version is already known. A chunk is valid only during the call.
   */
  scan(path: string, take: (chunk: Uint8Array) => 'more' | 'enough', signal?: AbortSignal): Promise<FileScan>;
  /** Replaces or creates a whole file. Refused when it exists and was not read, or changed since it was. */
  write(path: string, content: string): Promise<FileWritten | FileRefusal>;
  /** Reads, transforms and replaces under one lock; same refusals. `change` sees the text with `\n` line ends. */
  update(
    path: string,
    change: (text: string) => { ok: true; text: string } | FileRefusal,
  ): Promise<FileWritten | FileRefusal>;
}
