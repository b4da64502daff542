/**
 * Puts bytes in a file's place in one step: a temporary file beside it, then a rename, so nobody ever sees half of
 * it and a failure leaves the old file whole and no temporary behind. Only a killed process leaves one; its owner
 * removes that with `removeLeftovers`. Extended attributes and further hard links do not follow the new file.
 *
 * Invariants
 * 1. The last look at the old file and the rename are two system calls with nothing between them. What an outside
 *    program writes in those microseconds is lost: it takes no lock of ours, and the kernel has no rename with a condition.
 * 2. Everything happens in the directory that `path` names when it is opened (`replace-file.ts`): a link that takes
 *    its place meanwhile leads nowhere.
 *
 * Synchronous but for large files: the same calls as promises cost ten times as much.
 */
import { randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  globSync,
  linkSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFile as writeCallback,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemCode } from '../schema/errors.ts';

/** Only to be looked up in, so it need not be readable. Linux; Node does not list it. */
const O_PATH = 0o10000000;

const FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const DESCRIPTORS = '/proc/self/fd';

let descriptorsHavePaths: boolean | undefined;

/** `overtaken`: the file came to be, or changed, meanwhile. `moved`: its directory is no longer where it was. */
export type Replacement = 'done' | 'overtaken' | 'moved';

export interface ReplacementOptions {
  /** The agent that writes; what it leaves behind when it is killed bears its name. */
  owner: string;
  /** The file that is replaced; null when there must be none. `unchanged` looks at the path it is given. */
  current: { stats: BigIntStats; unchanged: (path: string) => boolean } | null;
  /** Of a file that is created; by default what the process's mask leaves. */
  mode?: number | null;
}

const SYNCHRONOUS_LIMIT = 1 << 20;
const writeFile = promisify(writeCallback);

/** `path` is a real path. */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  options: ReplacementOptions,
): Promise<Replacement> {
  using staged = await stageFile(path, bytes, options);
  return staged?.place() ?? 'moved';
}

/** Bytes beside the file whose place they are to take. Disposed of before that, nothing of them stays. */
export interface StagedFile extends Disposable {
  place(): Replacement;
}

/** The first half of `replaceFile`: all that can take long, or fail for want of room. Null: `moved`. */
export async function stageFile(
  path: string,
  bytes: Uint8Array,
  options: ReplacementOptions,
): Promise<StagedFile | null> {
  using opened = new DisposableStack();
  const directory = opened.use(holdDirectory(dirname(path), { make: options.current === null }));
  if (directory === null) return null;
  const temporary = directory.at(`${temporaryPrefix(options.owner)}${randomBytes(6).toString('hex')}.tmp`);
  opened.defer(() => rmSync(temporary, { force: true }));
  try {
    await writeTemporary(temporary, bytes, options);
  } catch (error) {
    throw withRealPath(error, directory);
  }
  const held = opened.move();
  return {
    place() {
      try {
        return putInPlace(temporary, directory.at(basename(path)), options);
      } catch (error) {
        throw withRealPath(error, directory);
      }
    },
    [Symbol.dispose]: () => held.dispose(),
  };
}

/** Removes what a killed process of the same agent left beside `path`. Nobody may write for that agent meanwhile. */
export function removeLeftovers(path: string, owner: string): void {
  const directory = dirname(path);
  const prefix = temporaryPrefix(owner);
  for (const name of globSync('.ramet-*.tmp', { cwd: directory })) {
    if (name.startsWith(prefix)) rmSync(join(directory, name), { force: true });
  }
}

function temporaryPrefix(owner: string): string {
  return `.ramet-${owner}-`;
}

async function writeTemporary(
  path: string,
  bytes: Uint8Array,
  { current, mode = null }: ReplacementOptions,
): Promise<void> {
  const descriptor = openSync(path, 'wx', current === null && mode === null ? 0o666 : 0o600);
  try {
    if (bytes.length <= SYNCHRONOUS_LIMIT) writeFileSync(descriptor, bytes);
    else await writeFile(descriptor, bytes);
    if (current !== null) takeOwnerAndMode(descriptor, current.stats);
    else if (mode !== null) fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

/** Owner first: changing it clears the set-user-id bits that the mode then restores. */
function takeOwnerAndMode(descriptor: number, like: BigIntStats): void {
  const own = fstatSync(descriptor, { bigint: true });
  if (own.uid !== like.uid || own.gid !== like.gid) {
    try {
      fchownSync(descriptor, Number(like.uid), Number(like.gid));
    } catch (error) {
      if (systemCode(error) !== 'EPERM') throw error;
    }
  }
  fchmodSync(descriptor, Number(like.mode & 0o7777n));
}

function putInPlace(temporary: string, path: string, { current }: ReplacementOptions): Replacement {
  if (current === null) return createExclusively(temporary, path);
  if (!current.unchanged(path)) return 'overtaken';
  renameSync(temporary, path);
  return 'done';
}

/** A link fails where a file exists, which a rename does not; file systems without links get the rename. */
function createExclusively(temporary: string, path: string): Replacement {
  try {
    linkSync(temporary, path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return 'overtaken';
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    renameSync(temporary, path);
  }
  return 'done';
}

/** The system names the path that it was given, which says nothing to a reader. */
function withRealPath(error: unknown, directory: HeldDirectory): unknown {
  if (error instanceof Error)
    error.message = error.message.replaceAll(directory.at(''), join(directory.path, '/'));
  return error;
}

/**
 * A directory that was checked, held open: names are then looked up in it and in no other, whatever a process puts in
 * the place of its path meanwhile (SEC-1). By `/proc/self/fd/N/name`; where there is no such thing, by the plain path.
 */
interface HeldDirectory extends Disposable {
  readonly path: string;
  /** The path of an entry, good while the directory is held. */
  at(name: string): string;
}

/**
 * `path` is a real path. Null when something else than that directory is found there: a link took the place of it or
 * of one above. What is missing is made with `make`, each part in the held one above it.
 */
export function holdDirectory(path: string, { make }: { make: boolean }): HeldDirectory | null {
  descriptorsHavePaths ??= process.platform === 'linux' && existsSync(DESCRIPTORS);
  if (descriptorsHavePaths) return openHeld(path, path, make);
  if (make) mkdirSync(path, { recursive: true });
  return { path, at: (name) => join(path, name), [Symbol.dispose]() {} };
}

/** `reached` leads to `path`, by itself or through the directory above it. */
function openHeld(path: string, reached: string, make: boolean): HeldDirectory | null {
  let descriptor: number;
  try {
    descriptor = openSync(reached, FLAGS);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOTDIR' || code === 'ELOOP') return null;
    if (code === 'ENOENT' && make && path !== dirname(path) && path === reached) return makeHeld(path);
    throw error;
  }
  const anchor = join(DESCRIPTORS, String(descriptor));
  if (readlinkSync(anchor) !== path) {
    closeSync(descriptor);
    return null;
  }
  return { path, at: (name) => join(anchor, name), [Symbol.dispose]: () => closeSync(descriptor) };
}

function makeHeld(path: string): HeldDirectory | null {
  using above = holdDirectory(dirname(path), { make: true });
  if (above === null) return null;
  const place = above.at(basename(path));
  try {
    mkdirSync(place);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  return openHeld(path, place, false);
}
