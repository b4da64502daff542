/**
 * The fence of a root user (WORK-7). Other processes are visible in it, and who has the same user and no fewer rights
 * could write their files through `/proc/PID/root`: the user's checkout through the bubblewrap process that waits
 * outside. So each command has a user namespace of its own, as bubblewrap makes one for every other user. All users of
 * the machine exist in it, so that files keep their owners. Bubblewrap could map one alone, so Ramet does it: the program
 * tells its process id, and waits until it is mapped.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Arrangement, HANDED_DESCRIPTOR } from '../system/processes/process-group.ts';

const [TELLS, WAITS] = [HANDED_DESCRIPTOR, HANDED_DESCRIPTOR + 1];

/** What root may write by being its owner, and so change the whole machine. */
const MACHINE = ['sys', 'sysrq-trigger', 'irq', 'bus', 'acpi', 'scsi', 'fs'].map((name) => `/proc/${name}`);

/** Devices that programs use, and through which no file of the machine can be reached. */
const DEVICES = /^(?:kvm|dri|nvidia.*)$/;

/** For users whose rights the system checks also: boards and telephones that are worked on. */
const MORE_DEVICES = /^(?:kvm|dri|nvidia.*|kfd|dxg|fuse|snd|bus|video\d+|hidraw\d+|tty(?:USB|ACM)\d+)$/;

export interface OwnUsers {
  /** Of `/dev` and `/proc`. */
  readonly mounts: readonly string[];
  readonly arguments: readonly string[];
  readonly arrangement?: Arrangement;
}

export function ownUsers(isRoot: boolean = process.geteuid?.() === 0): OwnUsers {
  const processes = ['--dev-bind', '/proc', '/proc'];
  // Not the machine's: in `/dev/pts` are the user's terminals, where an agent could ask and answer.
  const own = ['--dev', '/dev', '--bind-try', '/dev/shm', '/dev/shm'];
  if (!isRoot) return { mounts: [...own, ...devices(MORE_DEVICES), ...processes], arguments: [] };
  const closed = MACHINE.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]);
  return {
    mounts: [...own, ...devices(DEVICES), ...processes, ...closed],
    arguments: ['--unshare-user', '--info-fd', String(TELLS), '--userns-block-fd', String(WAITS)],
    arrangement: { pipes: 2, arrange: mapUsers },
  };
}

function devices(wanted: RegExp): string[] {
  const names = readdirSync('/dev').filter((name) => wanted.test(name));
  return names.map((name) => join('/dev', name)).flatMap((path) => ['--dev-bind-try', path, path]);
}

/** If it fails, no user is mapped: the program can write nothing, and says so. */
function mapUsers(child: ChildProcess): void {
  const [tells, waits] = [child.stdio[TELLS], child.stdio[WAITS]];
  if (!tells || !('read' in tells) || !waits || !('write' in waits)) return;
  let told = '';
  const finish = (): void => {
    tells.destroy();
    waits.destroy();
  };
  for (const pipe of [tells, waits]) pipe.on('error', finish);
  tells.on('end', finish);
  tells.on('data', (data) => {
    told += String(data);
    const id = /"child-pid":\s*(\d+)/.exec(told)?.[1];
    if (id === undefined || !told.includes('}')) return;
    try {
      for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${id}/${map}`, sameUsers(map));
    } catch {
      // It has ended already, or may not be mapped: see above.
    }
    waits.end('x', finish);
  });
}

/** Each user and group of this process becomes itself: `first inside, first outside, how many`. */
function sameUsers(map: string): string {
  const lines = readFileSync(`/proc/self/${map}`, 'utf8').trim().split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .map(([first, , count]) => `${first} ${first} ${count}\n`)
    .join('');
}
