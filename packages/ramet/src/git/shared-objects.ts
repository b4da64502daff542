/**
 * What an agent without a sandbox may do to the objects that all share. What git can do without is moved out of its way before it
 * starts. A pack or its index is not: that is a person's to put right, and the error says how.
 */
import { closeSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RametError, systemCode } from '../schema/errors.ts';
import { findRepository, PACKED_BYTES } from './repository.ts';
import { type GitSurroundings, noteShared, openFolder, setAside, sizeOf } from './special-files.ts';

/** Git reads all of them into its memory first. Those of a user may be long. */
const LISTS: readonly (readonly [path: string, mostBytes: number])[] = [
  [join('objects', 'info', 'alternates'), 1 << 20],
  [join('objects', 'info', 'commit-graphs', 'commit-graph-chain'), 1 << 20],
  ['shallow', 64 << 20],
  ['packed-refs', PACKED_BYTES],
  ...['attributes', 'exclude', 'sparse-checkout', 'grafts'].map(
    (name) => [join('info', name), 64 << 20] as const,
  ),
];
/** Less than what git needs to write there: the repository of a user who only reads stays as it is. */
const READABLE = 0o500;

/** Before every git: some looks at files. */
export function mendSharedObjects({ cwd, checkout }: GitSurroundings): void {
  const shared = checkout?.commonDirectory ?? findRepository(cwd)?.commonDirectory;
  if (shared === undefined) return;
  const objects = join(shared, 'objects');
  try {
    for (const folder of ['', 'info', 'pack']) openFolder(join(objects, folder), READABLE);
    for (const [list, mostBytes] of LISTS) {
      const path = join(shared, list);
      const why = endlessness(path, mostBytes);
      if (why !== null) noteShared(`${path} ${why}, and is in ${setAside(shared, path)}`);
    }
    const index = join(objects, 'pack', 'multi-pack-index');
    // Git ends at once if it is not one, and works without.
    if (sizeOf(index) > 0 && startOf(index) !== 'MIDX')
      noteShared(`${index} was not what git writes there, and is in ${setAside(shared, index)}`);
  } catch (error) {
    // Another process was faster, or it is not ours: git says what it cannot read.
    if (!['ENOENT', 'EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) throw error;
  }
}

/** Why git would read it for ever; null if it would not. */
function endlessness(path: string, mostBytes: number): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isFile()) return 'led to what is no file';
  return stats.size > mostBytes ? 'was too large' : null;
}

function startOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4);
    readSync(file, bytes, 0, 4, 0);
    return bytes.toString('latin1');
  } finally {
    closeSync(file);
  }
}

/** What a person can do where git has given up because of a file that all objects are read through; null if it was something else. */
export function damagedObjects(stderr: string, cwd: string): RametError | null {
  const pack = /(\S*\/pack-[0-9a-f]+)\.(?:pack|idx)/.exec(stderr)?.[1];
  const isPack = /is not a GIT packfile|does not match index/.test(stderr);
  const isIndex = /(?:index file \S+\.idx|index v\d file)/.test(stderr);
  const isMany = /^fatal: multi-pack-index/m.test(stderr);
  const closed = /object.*: Permission denied$/m.test(stderr) ? closedFile(stderr, cwd) : null;
  if (closed !== null)
    return new RametError(
      'git_damaged',
      'terminal',
      `in the repository of ${cwd}, ${closed} is closed to everybody: open it with chmod u+r ${closed}; then resume`,
    );
  if (!isMany && (pack === undefined || !(isPack || isIndex))) return null;
  const what = isMany
    ? 'the multi-pack-index in objects/pack: remove that file, git works without'
    : isPack
      ? `${pack}.pack: copy it from another clone or a backup of the repository`
      : `${pack}.idx: make it again with git index-pack ${pack}.pack`;
  return new RametError(
    'git_damaged',
    'terminal',
    `in the repository of ${cwd}, git cannot read ${what}; then resume`,
  );
}

/** The first file with objects that its owner may not read: git names the object that it did not find, not the file. */
function closedFile(stderr: string, cwd: string): string | null {
  const shared = findRepository(cwd)?.commonDirectory;
  if (shared === undefined) return null;
  const objects = join(shared, 'objects');
  const loose = [...stderr.matchAll(/object ([0-9a-f]{2})([0-9a-f]{38,62})\b/g)].map(
    ([, folder = '', name = '']) => join(objects, folder, name),
  );
  const packs = readdirSync(join(objects, 'pack')).map((name) => join(objects, 'pack', name));
  return [...loose, ...packs].find(isClosed) ?? null;
}

function isClosed(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && (stats.mode & 0o400) === 0;
}
