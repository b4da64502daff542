/**
 * The process groups that run, on disk, so that the next start can end what a killed process left (RES-8). One empty
 * file a group in a directory of the project: its name is the note, so it is made in one step, whole or not at all,
 * and reading all of them is listing a directory. What becomes of them is `reap-orphans.ts`'s. A process that exits by
 * itself, however suddenly, leaves none: what it has not ended by then is killed.
 */
import { closeSync, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, systemCode } from '../../schema/errors.ts';
import { signalGroup } from './process-group.ts';
import { findProcess, type ProcessIdentity, thisProcess } from './process-identity.ts';

export interface RunningGroup {
  /** The process that started it, and that ends it while it lives. */
  host: ProcessIdentity;
  /** The group's leader, whose pid is the group's id. */
  leader: ProcessIdentity;
  /** Id of the agent it works for; its programs have it in `AGENT_VARIABLE`. */
  agent: string;
}

export interface ProcessRegister {
  /** Notes a group that has just started; what it returns takes the note away. */
  enter(group: number, agent: string): () => void;
}

/** In the environment of every program that an agent starts. */
export const AGENT_VARIABLE = 'RAMET_AGENT';

export function processDirectory(project: string): string {
  return join(project, 'processes');
}

/** A note that cannot be made is no reason not to run a command; `warn` is told of the first. */
export function createProcessRegister(directory: string, warn: (message: string) => void): ProcessRegister {
  let warned = false;
  const running = new Set<ProcessIdentity>();
  const killRest = (): void => {
    for (const leader of running) killGroupOf(leader);
  };
  return {
    enter(group, agent) {
      const leader = { pid: group, started: findProcess(group)?.started ?? null };
      if (running.size === 0) process.once('exit', killRest);
      running.add(leader);
      const file = join(directory, noteOf({ host: thisProcess(), leader, agent }));
      try {
        makeNote(directory, file);
      } catch (error) {
        if (!warned) warn(`a command is not ended if this process is killed: ${describeError(error)}`);
        warned = true;
      }
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

/** One that stays says of a group that it ran, which the next start finds out to be over. */
export function removeNote(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
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
