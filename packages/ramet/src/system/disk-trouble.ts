/** What is wrong with the disk that files of Ramet are on: no room, no right to write, or it is another machine's. */
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode, UserMistake } from '../schema/errors.ts';
import { isInside } from './landing-path.ts';

/** Less than SQLite needs for the files that it keeps beside a database. */
const NO_SPACE_BYTES = 128 * 1024;

/** Reason and remedy, for one line. */
export const DISK_TROUBLES: Readonly<Record<DiskTrouble, readonly [reason: string, remedy: string]>> = {
  full: ['the disk is full', 'free some space'],
  'read-only': ['the file system is read-only', 'mount it writable'],
  'no permission': ['no permission', 'make its directory writable'],
  gone: ['its directory is gone', 'put it back'],
};

/** Why a file cannot be written where it is, as far as the system tells; SQLite says little of it. */
type DiskTrouble = 'full' | 'read-only' | 'no permission' | 'gone';

/** Null when nothing is wrong with its directory. */
export function diskTroubleAt(file: string): DiskTrouble | null {
  const directory = dirname(file);
  try {
    accessSync(directory, constants.W_OK);
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < NO_SPACE_BYTES ? 'full' : null;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EROFS') return 'read-only';
    if (code === 'EACCES' || code === 'EPERM') return 'no permission';
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'gone' : null;
  }
}

/** File systems of other machines, by their type in statfs(2). */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB (CIFS)',
  4266872130: 'SMB',
  1397113167: 'AFS',
  1937076805: 'Coda',
  12805120: 'Ceph',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  428016422: 'BeeGFS',
  22092: 'NCP',
};
const FUSE = 0x65735546;
/** FUSE is local too (an encrypted folder, a container's root), so only what is known to be remote is refused. */
const REMOTE_FUSE =
  /^fuse\.(sshfs|rclone|s3fs|gcsfuse|goofys|mount-s3|mountpoint-s3|glusterfs|ceph|ceph-fuse|davfs|davfs2|curlftpfs|smbnetfs|juicefs|mfs|mfsmount|blobfuse|blobfuse2|gvfsd-fuse|nfs|hdfs|beegfs|seaweedfs|geesefs)$/i;

export interface FileSystemFacts {
  /** As statfs(2) has it. */
  typeOf(directory: string): number;
  /** The text of `/proc/self/mountinfo`. */
  mounts(): string;
}

const SYSTEM: FileSystemFacts = {
  typeOf: (directory) => statfsSync(directory).type,
  mounts: () => readFileSync('/proc/self/mountinfo', 'utf8'),
};

/**
 * Refuses to keep sessions on a network file system: locks and the shared memory of SQLite do not hold between
 * machines, so two hosts could write one session.
 */
export function refuseNetworkHome(directory: string, facts: FileSystemFacts = SYSTEM): void {
  const name = networkFileSystem(directory, facts);
  if (name === null) return;
  throw new UserMistake(
    'home_on_network',
    `cannot keep sessions in ${directory}: it is on a network file system (${name}), where two machines could write one session; set RAMET_HOME to a directory on a local disk`,
  );
}

/** Null for a local one, and where the system does not tell. */
export function networkFileSystem(directory: string, facts: FileSystemFacts = SYSTEM): string | null {
  try {
    // Signed on some systems.
    const type = facts.typeOf(directory) >>> 0;
    if (type !== FUSE) return NETWORK_TYPES[type] ?? null;
    const kind = mountKind(directory, facts.mounts());
    return REMOTE_FUSE.test(kind) ? kind.replace(/^fuse\./, '') : null;
  } catch {
    return null;
  }
}

/** `fuse.sshfs` and the like: of the mount with the longest path that holds the directory, the last of equals. */
function mountKind(directory: string, mountinfo: string): string {
  let best = { path: '', kind: '' };
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const path = decoded(left.split(' ')[4] ?? '');
    if (isInside(directory, path) && path.length >= best.path.length)
      best = { path, kind: right.split(' ')[0] ?? '' };
  }
  return best.kind;
}

/** Blanks and the like stand there in octal. */
function decoded(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
