/** What agents read and change of files, as it is recorded, and what `ramet undo` puts back. */
import type { Digest } from './ids.ts';

/** The agent has seen this version, once the call is answered: it may change the file while it is the current one. */
interface FileRead {
  type: 'file.read';
  call: string;
  path: string;
  version: string;
}

interface FileChanged {
  type: 'file.changed';
  call: string;
  path: string;
  before: Digest | null;
  after: Digest | null;
  /** The file's permission bits before; absent where there was none. */
  mode?: number;
}

/** A file that is replaced as a whole. `mode` are the permission bits of what is replaced, `afterMode` of one that is created. */
export interface ReplacedFile {
  path: string;
  before: Digest | null;
  after: Digest | null;
  mode: number | null;
  afterMode?: number | null;
}

/** `ramet undo` put files back, or took that back. Written before the files are touched. */
interface FilesRestored {
  type: 'files.restored';
  kind: 'undo' | 'redo';
  /** Everything from this turn on, counted over the session. */
  turn: number;
  files: ReplacedFile[];
  /** A `files.settled` follows once it was carried out. Absent in journals of versions that recorded none. */
  settles?: true;
  /** It is the rest of the one before, which was interrupted. */
  continues?: true;
}

/** The `files.restored`, or the adopted work, before it was carried out, but for the files that failed. */
interface FilesSettled {
  type: 'files.settled';
  failed: { path: string; reason: string }[];
}

export type FileEvent = FileRead | FileChanged | FilesRestored | FilesSettled;
