/**
 * `FileAccess` over a real file system (WORK-1).
 *
 * Invariants
 * 1. A file is replaced only when the hash of its bytes, taken under the path's lock, is the version this agent saw.
 * 2. Between that look and the rename no other agent writes the path, of this process or of another that works on the
 *    repository; of outside programs a change that shows in the file's stamp is noticed and refused.
 * 3. After `ok: true` the agent has seen what it wrote; after a refusal it has seen no more than before.
 *
 * A stat never replaces a hash when a change is let through. It is used in two places: `scan` may stop early on
 * an equal stamp (were it wrong, the version would be too old and the next change refused), and the last look before
 * the rename (the bytes were hashed an instant earlier; the stamp only says whether to refuse).
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemCode } from '../schema/errors.ts';
import { realPath } from '../system/landing-path.ts';
import {
  type LoadedFile,
  loadFile,
  sameStamp,
  scanFile,
  versionOf,
  WHOLE_FILE_LIMIT,
} from '../system/regular-file.ts';
import { replaceFile } from '../system/replace-file.ts';
import { decodeTextFile, encodeTextFile } from '../system/text/text-file.ts';
import type { FileAccess, FileChange, FileRefusal, FileWritten } from './file-access.ts';
import type { FileLedger } from './file-ledger.ts';
import { createSeenVersions, type SeenVersions } from './file-readers.ts';
import { changedSince, deletedSince, notRead, READ_AGAIN, withExcerpt } from './stale-file.ts';

export interface FileObserver {
  /** Called under the path's lock, so in the order of the changes. */
  onChange(change: FileChange): void;
  /** Called when a version is read that this agent had not seen last. */
  onRead?: ((path: string, version: string) => void) | undefined;
}

export interface FileAccessOptions extends FileObserver {
  agent: string;
  /** Relative paths start here. */
  cwd: string;
  ledger: FileLedger;
  /** What the agent is for, for others who are refused because of it. */
  task?: string | null;
  /** Called with a file before it is replaced. */
  keepOriginal?: (file: LoadedFile) => void;
  /** Finds a version that an agent has seen and the ledger has not kept; asked for refusals alone. */
  findVersion?: (path: string, version: string) => Promise<Uint8Array | null>;
  /** Why the agent may not write a real path, whatever it has seen; null when it may (WORK-7). */
  fence?: ((path: string) => string | null) | undefined;
  /** Real paths and versions that the agent saw in an earlier process. */
  seen?: Iterable<readonly [path: string, version: string]>;
}

export interface AgentFileAccess extends FileAccess {
  /** A second agent that has seen what this one has; from here on they part (FORK-4). */
  clone(
    options: FileObserver & Omit<FileAccessOptions, 'ledger' | 'seen'>,
    moved?: (path: string) => string | null,
  ): AgentFileAccess;
  /** The same agent with another watcher, where it works now: what one sees the other has seen. */
  watchedBy(observer: FileObserver & Partial<Pick<FileAccessOptions, 'cwd' | 'fence'>>): FileAccess;
  /** Takes a version for seen that the agent has seen elsewhere: its tools run in another process. */
  saw(path: string, version: string): void;
  versions(): ReadonlyMap<string, string>;
  /** What the agent has seen, by real path. */
  readonly seen: SeenVersions;
}

type TextChange = (text: string) => { ok: true; text: string } | FileRefusal;

export function createFileAccess(options: FileAccessOptions): AgentFileAccess {
  const seen = createSeenVersions();
  for (const [path, version] of options.seen ?? []) seen.set(path, { version, stats: null });
  return accessWith(options, seen);
}

function accessWith(options: FileAccessOptions, seen: SeenVersions): AgentFileAccess {
  const locate = (path: string): string => realPath(resolve(options.cwd, path));
  const change = async (
    path: string,
    transform: TextChange,
    whenMissing: 'create' | 'refuse',
  ): Promise<FileWritten | FileRefusal> => {
    const target = locate(path);
    const fenced = options.fence?.(target) ?? null;
    if (fenced !== null) return refusal(fenced);
    return options.ledger.exclusive(target, () =>
      changeFile(target, transform, whenMissing, { options, seen }),
    );
  };
  const see = (path: string, version: string, stats: LoadedFile['stats']): void => {
    const before = seen.get(path);
    seen.set(path, { version, stats });
    if (before?.version !== version) options.onRead?.(path, version);
  };
  return {
    seen,
    async read(path) {
      const target = locate(path);
      const { bytes, version, stats } = await loadFile(target);
      see(target, version, stats);
      options.ledger.versions.keep(version, bytes);
      return { path: target, bytes, version };
    },
    async scan(path, take, signal) {
      const target = locate(path);
      const before = seen.get(target);
      const known = (stats: LoadedFile['stats']): string | undefined =>
        before?.stats != null && sameStamp(before.stats, stats) ? before.version : undefined;
      const { version, stats } = await scanFile(target, take, { known, signal });
      see(target, version, stats);
      return { path: target, size: Number(stats.size), version };
    },
    write: (path, content) => change(path, () => ({ ok: true, text: content }), 'create'),
    update: (path, transform) => change(path, transform, 'refuse'),
    clone: (child, moved) =>
      accessWith({ ...options, onRead: undefined, ...child }, seenElsewhere(seen.clone(), moved)),
    saw: (path, version) => seen.set(path, { version, stats: null }),
    versions: () => seen.versions(),
    watchedBy: (observer) => accessWith({ ...options, ...observer }, seen),
  };
}

/** Versions are contents: who has seen a file has seen the same file of another checkout (FORK-4). */
function seenElsewhere(
  seen: SeenVersions,
  moved: ((path: string) => string | null) | undefined,
): SeenVersions {
  for (const [path, version] of moved === undefined ? [] : seen.versions()) {
    const place = moved?.(path) ?? null;
    if (place !== null) seen.set(place, { version, stats: null });
  }
  return seen;
}

interface Party {
  options: FileAccessOptions;
  seen: SeenVersions;
}

async function changeFile(
  path: string,
  transform: TextChange,
  whenMissing: 'create' | 'refuse',
  party: Party,
): Promise<FileWritten | FileRefusal> {
  const current = await loadCurrent(path);
  if (current !== null && 'ok' in current) return current;
  const stale = await staleReason(path, current, whenMissing, party);
  if (stale !== null) return refusal(stale);
  const before = current === null ? null : decodeTextFile(current.bytes);
  if (current !== null && before === null) return refusal(notText(path));
  const changed = transform(before?.text ?? '');
  if (!changed.ok) return changed;
  if (!changed.text.isWellFormed())
    return refusal('The new text holds half of a surrogate pair; nothing was written.');
  const bytes = encodeTextFile(changed.text, before);
  return current !== null && current.version === versionOf(bytes)
    ? { ok: true, path, created: false }
    : store(path, bytes, current, party);
}

async function store(
  path: string,
  bytes: Uint8Array,
  current: LoadedFile | null,
  { options, seen }: Party,
): Promise<FileWritten | FileRefusal> {
  const unchanged = (place: string): boolean => {
    const stats = statSync(place, { bigint: true, throwIfNoEntry: false });
    return stats !== undefined && current !== null && sameStamp(stats, current.stats);
  };
  if (current !== null) options.keepOriginal?.(current);
  const { agent, ledger, task = null } = options;
  const outcome = await replaceFile(path, bytes, {
    owner: agent,
    current: current === null ? null : { stats: current.stats, unchanged },
  });
  if (outcome === 'overtaken')
    return refusal(`${path} was changed outside Ramet at this very moment. ${READ_AGAIN}`);
  if (outcome === 'moved')
    return refusal(`The directory of ${path} was replaced at this very moment. ${READ_AGAIN}`);
  const version = versionOf(bytes);
  ledger.recordWrite({ path, agent, version, task, command: null });
  ledger.versions.keep(version, bytes);
  seen.set(path, { version, stats: statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null });
  options.onChange({ path, before: current === null ? null : beforeOf(current), after: { version, bytes } });
  return { ok: true, path, created: current === null };
}

function beforeOf({ version, bytes, stats }: LoadedFile): FileChange['before'] {
  return { version, bytes, mode: Number(stats.mode & 0o7777n) };
}

/** Why the agent may not change the file now; null when it may. */
async function staleReason(
  path: string,
  current: LoadedFile | null,
  whenMissing: 'create' | 'refuse',
  { options, seen }: Party,
): Promise<string | null> {
  const known = seen.get(path);
  if (known?.version === current?.version && current !== null) return null;
  const { agent, ledger } = options;
  const last = ledger.lastWrite(path);
  const writer = last !== undefined && last.version === (current?.version ?? null) ? last : null;
  const facts = { path, agent, writer, now: ledger.now() };
  if (current === null) {
    if (known === undefined)
      return whenMissing === 'create' ? null : `${path} does not exist. Use Write to create it.`;
    // Told once: an agent that writes again after that means to restore the file.
    seen.forget(path);
    return deletedSince(facts);
  }
  if (known === undefined) return notRead(facts);
  return withExcerpt(changedSince(facts), await versionSeen(path, known.version, options), current.bytes);
}

async function versionSeen(
  path: string,
  version: string,
  { ledger, findVersion }: FileAccessOptions,
): Promise<Uint8Array | null> {
  return ledger.versions.find(version) ?? (await findVersion?.(path, version)) ?? null;
}

async function loadCurrent(path: string): Promise<LoadedFile | FileRefusal | null> {
  try {
    return await loadFile(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'EISDIR') return refusal(`${path} is a directory.`);
    if (code === 'ESPECIAL')
      return refusal(`${path} is a fifo, socket or device; only regular files are written.`);
    if (code === 'EFBIG')
      return refusal(`${path} is over ${WHOLE_FILE_LIMIT >> 20} MB; change it with a Bash command.`);
    throw error;
  }
}

function notText(path: string): string {
  return `${path} is not UTF-8 or UTF-16 text, so a text change would damage it. Change it with a Bash command, or delete it first to replace it.`;
}

function refusal(reason: string): FileRefusal {
  return { ok: false, reason };
}
