/**
 * How one process asks another to stop an agent: a file in the session's folder, named by the agent's number. The writer
 * of the session looks for it while it has children (`StopWatch`), so nothing is lost and no signal is needed.
 *
 * Invariants
 * 1. A request is for one process: it names the writer of the session at that time, and no other process obeys it.
 * 2. It is there until the agent was told to stop; its maker may withdraw it.
 * 3. Only the user can read or write it.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { STOPPED } from '../engine/agent/notices.ts';
import type { AgentFamily } from '../engine/shapes.ts';
import { type AgentId, agentId, type SessionId } from '../schema/ids.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../system/home.ts';
import { type ProcessIdentity, thisProcess } from '../system/processes/process-identity.ts';
import { replaceWhole } from '../system/replace-whole.ts';

/**
 * Looks for requests of other processes to stop agents of this session (`ramet stop`), as long as it has children.
 *
 * One look at a folder that is seldom there takes some microseconds.
 */
const LOOK_EVERY_MS = 250;

/** Agents beside the family: background forks. */
export interface StoppableAgents {
  readonly running: readonly unknown[];
  stop(id: AgentId): void;
}

export class StopWatch implements Disposable {
  readonly #place: { project: string; session: SessionId };
  readonly #family: () => AgentFamily;
  #timer: NodeJS.Timeout | null = null;
  #beside: StoppableAgents | null = null;

  constructor(place: { project: string; session: SessionId }, family: () => AgentFamily) {
    this.#place = place;
    this.#family = family;
  }

  /** Looks after these too. */
  include(beside: StoppableAgents): void {
    this.#beside = beside;
  }

  /** A child has begun. The first look comes later: nothing waits for it. */
  begin(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  #look(): void {
    const family = this.#family();
    if (family.running.length === 0 && (this.#beside?.running.length ?? 0) === 0) {
      this[Symbol.dispose]();
      return;
    }
    const { session } = this.#place;
    takeStopRequests(this.#place, (agent) => {
      const id = agentId(session, agent);
      family.findHandle(id)?.stop(STOPPED);
      this.#beside?.stop(id);
    });
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

interface SessionPlace {
  project: string;
  session: SessionId;
}

function directoryOf({ project, session }: SessionPlace): string {
  return join(project, session, 'stop');
}

/** Asks the writer to stop its agent of that number; returns how to take that back. */
export function requestStop(place: SessionPlace, agent: number, writer: ProcessIdentity): () => void {
  const directory = directoryOf(place);
  makePrivateDirectory(join(place.project, place.session));
  makePrivateDirectory(directory);
  const file = join(directory, String(agent));
  replaceWhole(file, JSON.stringify({ pid: writer.pid, started: writer.started }), PRIVATE_FILE);
  return () => rmSync(file, { force: true });
}

/** Calls `stop` with the number of every agent that this process is asked to stop; what is for others is removed. */
export function takeStopRequests(place: SessionPlace, stop: (agent: number) => void): void {
  const directory = directoryOf(place);
  for (const name of namesIn(directory)) {
    if (!/^\d+$/.test(name)) continue;
    const file = join(directory, name);
    if (isForThisProcess(file)) stop(Number(name));
    rmSync(file, { force: true });
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // nobody has asked for anything yet
  }
}

function isForThisProcess(file: string): boolean {
  const { pid, started } = thisProcess();
  try {
    const writer: Partial<ProcessIdentity> = JSON.parse(readFileSync(file, 'utf8'));
    return writer.pid === pid && writer.started === started;
  } catch {
    return false;
  }
}

interface OwnSession {
  /** Interrupts what runs, and closes the session when that has ended, or without waiting for it once `hurry` is. */
  stop(hurry: Promise<unknown>): Promise<void>;
}

/** Open sessions by the file of their journal. */
class OwnSessions {
  readonly #open = new Map<string, OwnSession>();

  /** Returns the unsubscribe function. */
  enter(file: string, session: OwnSession): () => void {
    this.#open.set(file, session);
    return () => void this.#open.delete(file);
  }

  find(file: string): OwnSession | undefined {
    return this.#open.get(file);
  }
}

/**
 * Those that this process has open. `stop` ends one of them from within: a signal would end the process with all its
 * sessions. Callers know a session only by its id, so the list belongs to the process, as the leases do.
 */
export const ownSessions: OwnSessions = new OwnSessions();
