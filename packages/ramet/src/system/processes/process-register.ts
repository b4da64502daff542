/**
 * The process groups that run, on disk, so that the next start can end what a killed process left (RES-8). One empty
 * file a group in a directory of the project: its name is the note, so it is made in one step, whole or not at all,
 * and reading all of them is listing a directory. A process that exits by
 * itself, however suddenly, leaves none: what it has not ended by then is killed.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, systemCode } from '../../schema/errors.ts';
import {
  type ExpectedGroup,
  livingGroups,
  OWNER_VARIABLE,
  START_VARIABLE,
  signalGroup,
  terminateGroups,
} from './process-group.ts';
import { findProcess, isProcessAlive, type ProcessIdentity, thisProcess } from './process-identity.ts';
import { environmentOf } from './process-table.ts';

export interface RunningGroup {
  /** The process that started it, and that ends it while it lives. */
  host: ProcessIdentity;
  /** The group's leader, whose pid is the group's id. */
  leader: ProcessIdentity;
  /** Id of the agent it works for; its programs have it in `AGENT_VARIABLE`. */
  agent: string;
}

export interface ProcessRegister {
  /** Notes that a group of the agent is about to start. */
  expect(agent: string): ExpectedGroup;
  /**
   * Notes a group that has just started; what it returns takes the note away. The note of `expected`, which is settled
   * with that, becomes its note: one step instead of two.
   */
  enter(group: number, agent: string, expected?: ExpectedGroup): () => void;
}

/** In the environment of every program that an agent starts. */
export const AGENT_VARIABLE = 'RAMET_AGENT';

/** Stands for the leader's pid in the note of a group that is about to start; its token stands for the start time. */
const EXPECTED = 0;

export function processDirectory(project: string): string {
  return join(project, 'processes');
}

/** A note that cannot be made is no reason not to run a command; `warn` gets the first failure. */
export function createProcessRegister(directory: string, warn: (message: string) => void): ProcessRegister {
  let warned = false;
  const running = new Set<ProcessIdentity>();
  /** The notes of groups that are about to start, by token. */
  const open = new Map<string, string>();
  const killRest = (): void => {
    for (const leader of running) killGroupOf(leader);
  };
  const note = (leader: ProcessIdentity, agent: string, instead?: string): string => {
    const file = join(directory, noteOf({ host: thisProcess(), leader, agent }));
    try {
      if (instead === undefined || !isRenamed(instead, file)) makeNote(directory, file);
    } catch (error) {
      if (!warned) warn(`a command is not ended if this process is killed: ${describeError(error)}`);
      warned = true;
    }
    return file;
  };
  return {
    expect(agent) {
      const token = randomUUID();
      open.set(token, note({ pid: EXPECTED, started: token }, agent));
      return {
        token,
        settle() {
          const file = open.get(token);
          if (open.delete(token) && file !== undefined) removeNote(file);
        },
      };
    },
    enter(group, agent, expected) {
      const leader = { pid: group, started: findProcess(group)?.started ?? null };
      if (running.size === 0) process.once('exit', killRest);
      running.add(leader);
      const instead = open.get(expected?.token ?? '');
      const file = note(leader, agent, instead);
      if (instead !== undefined) open.delete(expected?.token ?? '');
      return () => {
        running.delete(leader);
        if (running.size === 0) process.off('exit', killRest);
        removeNote(file);
      };
    },
  };
}

/** Not when the leader's number has gone to another process meanwhile. */
function killGroupOf({ pid, started }: ProcessIdentity): void {
  const found = findProcess(pid);
  if (found === null || found.started === started) signalGroup(pid, 'SIGKILL');
}

/** A note that stays behind names a group that has ended; the next start finds that out. */
export function removeNote(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}

function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function makeNote(directory: string, file: string): void {
  try {
    closeSync(openSync(file, 'w', 0o600));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'w', 0o600));
  }
}

const NOTE = /^(\d+)@([\w-]+|\?) (\d+)@([\w-]+|\?) ([\w.-]+)$/;

function noteOf({ host, leader, agent }: RunningGroup): string {
  return `${host.pid}@${host.started ?? '?'} ${leader.pid}@${leader.started ?? '?'} ${agent}`;
}

/** Null for a name that is no note. */
export function groupOfNote(name: string): RunningGroup | null {
  const [, hostPid, hostStarted, pid, started, agent] = NOTE.exec(name) ?? [];
  if (agent === undefined) return null;
  return { host: identity(hostPid, hostStarted), leader: identity(pid, started), agent };
}

function identity(pid: string | undefined, started: string | undefined): ProcessIdentity {
  return { pid: Number(pid), started: started === '?' || started === undefined ? null : started };
}

/**
 * Ends the process groups that killed processes left behind, by what `process-register.ts` noted (RES-8).
 *
 * Invariants
 * 1. A group is ended only when the process that started it is gone, and when it is proved to be the same group: its
 *    leader has the start time that was noted, or, the leader being gone, a member carries the agent's id or the noted
 *    token in its environment. A pid that another process has now is left alone.
 * 2. A group that was about to start is each of a process that carries the token of that start, or of its owner.
 * 3. A note goes when nothing is left that it could be about.
 *
 * The groups that were ended. Costs one look at a directory when there are none.
 */
export async function reapOrphans(directory: string): Promise<RunningGroup[]> {
  const look = systemLook();
  const notes = orphansIn(directory).flatMap(({ file, group }) =>
    begun(group, look).map((one) => ({ file, ...one })),
  );
  if (notes.length === 0) return [];
  const ours = notes.filter(({ group, isProved }) => isProved || isSameGroup(group, look));
  const left = await terminateGroups(ours.map(({ group }) => group.leader.pid));
  for (const note of notes) {
    // One that cannot be ended, such as a process that hangs in the system, is tried again next time.
    if (!ours.includes(note) || !left.includes(note.group.leader.pid)) removeNote(note.file);
  }
  return ours.map(({ group }) => group);
}

/** Those of the directories that have a note of a group that is left and proved to be the same. Nothing is changed. */
export function withOrphans(directories: readonly string[]): string[] {
  const look = systemLook();
  return directories.filter((directory) =>
    orphansIn(directory)
      .flatMap(({ group }) => begun(group, look))
      .some(({ group, isProved }) => isProved || isSameGroup(group, look)),
  );
}

/** Those that an expected group has become; itself for all others, and for one that never began. */
function begun(group: RunningGroup, look: SystemLook): { group: RunningGroup; isProved: boolean }[] {
  const { leader } = group;
  const asNoted = [{ group, isProved: false }];
  if (leader.pid !== EXPECTED) return asNoted;
  const marks = [START_VARIABLE, OWNER_VARIABLE].map((name) => `${name}=${leader.started}`);
  const marked = [...look.groups()].filter(([, members]) =>
    members.some((pid) => marks.some((mark) => look.environment(pid)?.includes(mark))),
  );
  if (marked.length === 0) return asNoted;
  return marked.map(([pid]) => ({
    group: { ...group, leader: { pid, started: findProcess(pid)?.started ?? leader.started } },
    isProved: true,
  }));
}

/** The system as it is when it is first looked at: it is read once, however many notes there are. */
interface SystemLook {
  /** The living members of every group; none where the system does not tell. */
  groups(): Map<number, number[]>;
  environment(pid: number): readonly string[] | null;
}

function systemLook(): SystemLook {
  let groups: Map<number, number[]> | undefined;
  const environments = new Map<number, readonly string[] | null>();
  return {
    groups() {
      try {
        groups ??= livingGroups();
      } catch {
        groups = new Map();
      }
      return groups;
    },
    environment(pid) {
      const found = environments.has(pid) ? (environments.get(pid) ?? null) : environmentOf(pid);
      environments.set(pid, found);
      return found;
    },
  };
}

function orphansIn(directory: string): { file: string; group: RunningGroup }[] {
  const hosts = new Map<string, boolean>();
  const lives = (host: ProcessIdentity): boolean => {
    const key = `${host.pid} ${host.started}`;
    const alive = hosts.get(key) ?? isProcessAlive(host);
    hosts.set(key, alive);
    return alive;
  };
  return namesIn(directory).flatMap((name) => {
    const group = groupOfNote(name);
    return group === null || lives(group.host) ? [] : [{ file: join(directory, name), group }];
  });
}

/** Nothing was started here yet, or nobody may look: both leave nothing to do. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * The system gives a pid to nobody while it still names a group, so another process under it means the group is gone.
 */
function isSameGroup({ leader, agent }: RunningGroup, look: SystemLook): boolean {
  if (leader.started === null || leader.pid === EXPECTED) return false;
  const found = findProcess(leader.pid);
  if (found !== null) return found.started === leader.started && found.group === leader.pid;
  const members = look.groups().get(leader.pid) ?? [];
  return members.some((pid) => look.environment(pid)?.includes(`${AGENT_VARIABLE}=${agent}`));
}
