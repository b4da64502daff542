/**
 * Which process, beyond doubt. A pid alone is reused, and means another process in another container. `started` names
 * the boot, the start time, the pid namespace and the machine: `boot-ticks-namespace-machine`; versions before wrote
 * the first two. Where the system does not tell (no /proc), it is null and a pid in use counts as alive: better to
 * refuse a dead writer's session than to let two processes write it.
 *
 * Invariant: a process that cannot be seen from here (another container, another machine) is never judged dead.
 */
import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { systemCode } from '../../schema/errors.ts';
import { openFiles, processIds } from './process-table.ts';

export interface ProcessIdentity {
  pid: number;
  started: string | null;
}

/**
 * From where a process would be seen: `here`, `hidden` in another pid namespace of this kernel, `rebooted`: before this
 * machine last started, `elsewhere`: on another machine.
 */
export type ProcessSight = 'here' | 'hidden' | 'rebooted' | 'elsewhere';

let own: ProcessIdentity | undefined;
let host: { boot: string; namespace: string; machine: string } | null | undefined;

export function thisProcess(): ProcessIdentity {
  own ??= { pid: process.pid, started: ownStart() };
  return own;
}

function ownStart(): string | null {
  const here = thisHost();
  const found = findProcess(process.pid);
  return here === null || found === null ? null : `${found.started}-${here.namespace}-${here.machine}`;
}

export function isProcessAlive(identity: ProcessIdentity): boolean {
  const sight = sightOf(identity);
  if (sight !== 'here') return sight !== 'rebooted';
  const { pid, started } = identity;
  const found = findProcess(pid);
  if (found === null || started === null) return isPidInUse(pid);
  return !found.ended && `${started}-`.startsWith(`${found.started}-`);
}

export function sightOf({ started }: ProcessIdentity): ProcessSight {
  const here = thisHost();
  if (started === null || here === null) return 'here';
  const [boot, , namespace, machine] = started.split('-');
  if (boot === here.boot) return namespace === undefined || namespace === here.namespace ? 'here' : 'hidden';
  return machine === undefined || machine === here.machine ? 'rebooted' : 'elsewhere';
}

/** Whether it was written by a version that holds a lock while it writes (`session-file.ts`). */
export function knowsItsNamespace({ started }: ProcessIdentity): boolean {
  return started !== null && started.split('-').length === 4;
}

export interface FoundProcess {
  started: string;
  group: number;
  /** It is dead, and nobody has collected it yet. */
  ended: boolean;
}

/** Null where there is no such entry: the process is gone, or the system has no /proc of this pid namespace. */
export function findProcess(pid: number): FoundProcess | null {
  const here = thisHost();
  if (here === null) return null;
  try {
    const fields = statOf(pid);
    return {
      started: `${here.boot}-${fields[19]}`,
      group: Number(fields[2]),
      ended: fields[0] === 'Z' || fields[0] === 'X',
    };
  } catch {
    return null;
  }
}

/** The process that started it, or took it over; null where the system does not tell. */
export function parentOf(pid: number): number | null {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return null;
  }
}

/** From the state on. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command's name, in brackets, may itself hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * The pid by which a living process is seen from here, also one of another pid namespace where /proc shows it. Null
 * when it is dead, or cannot be seen.
 */
export function seenAs(identity: ProcessIdentity): number | null {
  const { pid, started } = identity;
  const sight = sightOf(identity);
  if (sight === 'here') return isProcessAlive(identity) ? pid : null;
  const [, ticks, namespace] = started?.split('-') ?? [];
  if (sight !== 'hidden' || namespace === undefined) return null;
  for (const id of processIds() ?? []) {
    const found = findProcess(id);
    if (found === null || found.ended || found.started.split('-')[1] !== ticks) continue;
    if (innermostPid(id) === pid && isInNamespace(id, namespace)) return id;
  }
  return null;
}

function innermostPid(seen: number): number | null {
  try {
    const status = readFileSync(`/proc/${seen}/status`, 'latin1');
    return Number(/^NSpid:.*?(\d+)$/m.exec(status)?.[1]);
  } catch {
    return null;
  }
}

/** True also where the system does not say. */
function isInNamespace(seen: number, namespace: string): boolean {
  try {
    return readlinkSync(`/proc/${seen}/ns/pid`).includes(`[${namespace}]`);
  } catch {
    return true;
  }
}

/** Whether a process has a file of this name open, wherever it is. True also where the system does not say. */
export function hasOpen(pid: number, name: string): boolean {
  const files = openFiles(pid);
  return files === null || files.some(({ target }) => basename(target).replace(/ \(deleted\)$/, '') === name);
}

/** Null without a /proc that shows this pid namespace. */
function thisHost(): { boot: string; namespace: string; machine: string } | null {
  if (host === undefined) host = readHost();
  return host;
}

function readHost(): { boot: string; namespace: string; machine: string } | null {
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
    // Hashed: the machine's id itself is nobody's business.
    return { boot, namespace, machine: hash('sha256', machineName()).slice(0, 8) };
  } catch {
    return null;
  }
}

function machineName(): string {
  try {
    return readFileSync('/etc/machine-id', 'latin1').trim() || hostname();
  } catch {
    return hostname();
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
