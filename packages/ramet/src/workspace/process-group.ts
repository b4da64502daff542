/**
 * A program in a process group of its own, so that it and whatever it starts can be ended together. What leaves the
 * group by a session of its own (a daemon) leaves our reach as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../schema/errors.ts';

export interface ProcessEnd {
  code: number | null;
  signal: string | null;
}

export interface ProcessGroup {
  /** The leader's process id, which is the group's too. */
  readonly id: number;
  /** Settles when the leader ends; others of the group may live on. */
  readonly ended: Promise<ProcessEnd>;
  alive(): boolean;
  /** Asks the group to end, then makes it. Resolves when nobody of it is left. */
  terminate(): Promise<void>;
  /** Lets this process exit while the group runs. */
  release(): void;
}

export interface ProcessGroupStart {
  program: string;
  arguments: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** File descriptor that takes both outputs, in the order they are written. */
  output: number;
}

const GRACE_MS = 2_000;
const POLL_MS = 20;

/** Rejects with the system's error when the program cannot be started. */
export async function startProcessGroup(start: ProcessGroupStart): Promise<ProcessGroup> {
  const child = spawn(start.program, start.arguments, {
    cwd: start.cwd,
    env: start.env,
    detached: true,
    stdio: ['ignore', start.output, start.output],
  });
  const ended = new Promise<ProcessEnd>((settle) => {
    child.once('exit', (code, signal) => settle({ code, signal }));
  });
  const id = await started(child);
  return {
    id,
    ended,
    alive: () => signalGroup(id, 0) && hasLivingMember(id),
    terminate() {
      // Whoever ends a group waits for it: a released one must keep this process up until it is gone.
      child.ref();
      return terminateGroup(id);
    },
    release: () => child.unref(),
  };
}

async function started(child: ChildProcess): Promise<number> {
  if (child.pid !== undefined) return child.pid;
  return new Promise((_, fail) => child.once('error', fail));
}

async function terminateGroup(id: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(id, signal)) return;
    for (let waited = 0; waited < GRACE_MS; waited += POLL_MS) {
      if (!signalGroup(id, 0) || !hasLivingMember(id)) return;
      await sleep(POLL_MS);
    }
  }
}

/** False when there is no such group any more. */
function signalGroup(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-id, signal);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/** Dead members that nobody has collected still answer to signals; where process 1 collects nothing, for ever. */
function hasLivingMember(id: number): boolean {
  try {
    return readdirSync('/proc').some((entry) => /^\d+$/.test(entry) && isLivingMember(entry, id));
  } catch {
    return true;
  }
}

function isLivingMember(process: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(processGroup) === group && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
