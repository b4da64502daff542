/**
 * A program in a process group of its own, so that it and whatever it starts can be ended together. What leaves the
 * group by a session of its own (a daemon) leaves our reach as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess } from '../journal/process-identity.ts';
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
  /** Notes that the group runs; what it returns is called when nobody of it is left. See `process-register.ts`. */
  register(group: number): () => void;
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
  const unregister = start.register(id);
  const alive = (): boolean => isGroupAlive(id);
  void ended.then(() => {
    if (!alive()) unregister();
  });
  return {
    id,
    ended,
    alive,
    async terminate() {
      // Whoever ends a group waits for it: a released one must keep this process up until it is gone.
      child.ref();
      await terminateGroup(id);
      if (!alive()) unregister();
    },
    release: () => child.unref(),
  };
}

async function started(child: ChildProcess): Promise<number> {
  if (child.pid !== undefined) return child.pid;
  return new Promise((_, fail) => child.once('error', fail));
}

export function isGroupAlive(id: number): boolean {
  return signalGroup(id, 0) && hasLivingMember(id);
}

/** Asks a group to end, then makes it. */
export async function terminateGroup(id: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(id, signal)) return;
    for (let waited = 0; waited < GRACE_MS; waited += POLL_MS) {
      if (!isGroupAlive(id)) return;
      await sleep(POLL_MS);
    }
  }
}

/** False when there is no such group any more. */
export function signalGroup(id: number, signal: NodeJS.Signals | 0): boolean {
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
    return livingMembers(id).some(() => true);
  } catch {
    return true;
  }
}

/** Throws where the system does not tell. */
export function livingMembers(group: number): IteratorObject<number> {
  return readdirSync('/proc')
    .values()
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const found = findProcess(pid);
      return found?.group === group && !found.ended;
    });
}
