/**
 * Which process, beyond doubt. A pid alone is reused; with the boot and the start time it is not. Where the
 * system does not tell (no /proc), `started` is null and a pid in use counts as alive: better to refuse a dead
 * writer's session than to let two processes write it.
 */
import { readFileSync } from 'node:fs';
import { systemCode } from '../schema/errors.ts';

export interface ProcessIdentity {
  pid: number;
  started: string | null;
}

let own: ProcessIdentity | undefined;
let boot: string | undefined;

export function thisProcess(): ProcessIdentity {
  own ??= { pid: process.pid, started: findProcess(process.pid)?.started ?? null };
  return own;
}

export function isProcessAlive({ pid, started }: ProcessIdentity): boolean {
  const found = findProcess(pid);
  if (found === null || started === null) return isPidInUse(pid);
  return !found.ended && found.started === started;
}

export interface FoundProcess {
  started: string;
  group: number;
  /** It is dead, and nobody has collected it yet. */
  ended: boolean;
}

/** Null where there is no such entry: the process is gone, or the system has no /proc. */
export function findProcess(pid: number): FoundProcess | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in brackets, may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
    return {
      started: `${boot}-${fields[19]}`,
      group: Number(fields[2]),
      ended: fields[0] === 'Z' || fields[0] === 'X',
    };
  } catch {
    return null;
  }
}

function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
