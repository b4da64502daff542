/**
 * A program in a process group of its own, so that it and whatever it starts can be ended together. What leaves the
 * group by a session of its own (a daemon) leaves our reach as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../schema/errors.ts';
import { findProcess } from './process-identity.ts';
import { processIds } from './process-table.ts';

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
  /** Whatever it starts cannot live without the leader: it is killed with it, and nobody looks for it. */
  confined?: boolean;
  /** Opens what the program reads from `HANDED_DESCRIPTOR`. */
  handed?: (() => number) | undefined;
  /** Instead of that: pipes from `HANDED_DESCRIPTOR` on. */
  arrangement?: Arrangement | undefined;
  /** Notes that a group is about to start: who is killed before `register` leaves a trace of it. */
  expect?: (() => ExpectedGroup) | undefined;
  /** Notes that the group runs; what it returns is called when nobody of it is left. See `process-register.ts`. */
  register(group: number): () => void;
}

/** What a program and the process that starts it tell each other before the program's work begins. */
export interface Arrangement {
  readonly pipes: number;
  arrange(child: ChildProcess): void;
}

export interface ExpectedGroup {
  /** The group has it in `START_VARIABLE`. */
  readonly token: string;
  /** The group is registered, or was not started. */
  settle(): void;
}

/** Tells one start of a group from all others. */
export const START_VARIABLE = 'RAMET_START';

/**
 * Tells all programs of one owner from all others. What leaves its group by a session of its own still has it, and is
 * ended with the owner.
 */
export const OWNER_VARIABLE = 'RAMET_OWNER';

/** The first that is free after input, output and errors. */
export const HANDED_DESCRIPTOR = 3;

const GRACE_MS = 2_000;
/** Most groups are gone a moment after they are asked to. */
const FIRST_POLL_MS = 1;
const LONGEST_POLL_MS = 20;

/** Rejects with the system's error when the program cannot be started. */
export async function startProcessGroup(start: ProcessGroupStart): Promise<ProcessGroup> {
  const expected = start.expect?.();
  try {
    const mark = expected && { [START_VARIABLE]: expected.token };
    return await startMarked({ ...start, env: { ...start.env, ...mark } });
  } finally {
    expected?.settle();
  }
}

async function startMarked(start: ProcessGroupStart): Promise<ProcessGroup> {
  const handed = start.handed?.();
  const child = spawn(start.program, start.arguments, {
    cwd: start.cwd,
    env: start.env,
    detached: true,
    stdio: ['ignore', start.output, start.output, ...(handed === undefined ? pipes(start) : [handed])],
  });
  if (handed !== undefined) closeSync(handed);
  start.arrangement?.arrange(child);
  const ended = new Promise<ProcessEnd>((settle) => {
    child.once('exit', (code, signal) => settle({ code, signal }));
  });
  const id = await started(child);
  const unregister = start.register(id);
  let gone = false;
  const alive = (): boolean => !gone && isGroupAlive(id);
  void ended.then(() => {
    if (start.confined === true) {
      // What keeps a sandbox together takes a moment to be gone; it is nothing that the command left.
      signalGroup(id, 'SIGKILL');
      gone = true;
    }
    if (!alive()) unregister();
  });
  return {
    id,
    ended,
    alive,
    async terminate() {
      // The end of a group is awaited: a released one must keep this process up until it is gone.
      child.ref();
      await terminateGroup(id);
      if (!alive()) unregister();
    },
    release: () => child.unref(),
  };
}

function pipes({ arrangement }: ProcessGroupStart): 'pipe'[] {
  return Array.from({ length: arrangement?.pipes ?? 0 }, () => 'pipe');
}

async function started(child: ChildProcess): Promise<number> {
  if (child.pid !== undefined) return child.pid;
  return new Promise((_, fail) => child.once('error', fail));
}

export function isGroupAlive(id: number): boolean {
  return signalGroup(id, 0) && aliveAmong([id]).length > 0;
}

/** Asks a group to end, then makes it. */
export async function terminateGroup(id: number): Promise<void> {
  await terminateGroups([id]);
}

/**
 * The same for many at once: they are asked together, and one look at the system tells of all of them. Those that could
 * not be ended are returned.
 */
export async function terminateGroups(ids: readonly number[]): Promise<readonly number[]> {
  let left = ids;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    left = left.filter((id) => signalGroup(id, signal));
    // By the clock: where many processes run, each look takes as long as a pause.
    const until = performance.now() + GRACE_MS;
    for (let pause = FIRST_POLL_MS; performance.now() < until; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
      left = aliveAmong(left.filter((id) => signalGroup(id, 0)));
      if (left.length === 0) return left;
      await sleep(pause);
    }
  }
  return left;
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

/**
 * Those of the groups, all of which answer to signals, that have a living member: dead ones that nobody has collected
 * still answer, and where process 1 collects nothing, for ever.
 */
function aliveAmong(ids: readonly number[]): readonly number[] {
  if (ids.length === 0) return ids;
  try {
    const living = livingGroups();
    return ids.filter((id) => living.has(id));
  } catch {
    return ids;
  }
}

/** The living members of every group of the system, in one look. Throws where the system does not tell. */
export function livingGroups(): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  const ids = processIds();
  if (ids === null) throw new Error('the system does not tell which processes there are');
  for (const pid of ids) {
    const found = findProcess(pid);
    if (found === null || found.ended) continue;
    const members = groups.get(found.group);
    if (members === undefined) groups.set(found.group, [pid]);
    else members.push(pid);
  }
  return groups;
}
