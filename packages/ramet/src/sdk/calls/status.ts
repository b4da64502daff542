/** What the sessions of a repository and their agents do, or came to; what they cost. */
import { existsSync } from 'node:fs';
import { requireWhole } from '../../journal/integrity.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { missingFiles, wayToSave } from '../../journal/missing-files.ts';
import { type AgentOverview, agentStatuses, statusBoardOf } from '../../journal/projections/status.ts';
import { hasWorkLeft } from '../../journal/projections/work-left.ts';
import { sessionPath } from '../../journal/session-file.ts';
import { findSession, listSessions, type SessionEntry } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import { agentId } from '../../schema/ids.ts';
import { isInside } from '../../system/landing-path.ts';
import { agentTree, type TreePlace } from '../../views/agent-label.ts';
import type { Ledger } from '../../views/ledger/ledger.ts';
import {
  foldSessions,
  isHousekeeping,
  tellDamage,
  tellUnreadable,
  viewSession,
} from '../../views/session-view.ts';
import { findPlace, operatorDirectory } from '../place.ts';
import { type Caller, type CallOptions, callerOf } from './caller.ts';

export interface SessionStatus {
  session: SessionEntry;
  /** Children after their parents, each with its level in the tree. */
  agents: readonly TreePlace<AgentOverview>[];
}

/** The newest sessions first. One that cannot be read is told and left out. */
export function status(options: CallOptions & { limit?: number } = {}): SessionStatus[] {
  const caller = callerOf(options);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  return foldSessions(findPlace(caller).project, limit, caller, ({ agents, entry, reader }) => {
    if (agents.length === 0) tellNameless(entry, reader, caller);
    return { session: entry, agents: agentTree(agents.map((agent) => titled(agent, entry.title))) };
  });
}

/** What a list says that has nothing to show; `readable` sessions could be read. */
export function whyNone(options: CallOptions, readable: number): string {
  const { project } = findPlace(callerOf(options));
  const [missing] = missingFiles(project);
  if (missing !== undefined) return wayToSave(sessionPath(project, missing.session), missing);
  return listSessions(project).length > readable
    ? 'no session of this directory can be listed: ramet doctor says which are damaged'
    : 'no sessions of this directory yet: start one with ramet -p PROMPT';
}

/** A repair could not save the start of any agent. One that was killed before anything is on record has none either. */
function tellNameless({ session }: SessionEntry, reader: JournalReader, caller: Caller): void {
  if (!Iterator.from(reader.events()).some(({ agent }) => agent !== null)) return;
  caller.note(
    `session ${session}: which agents it had is not on record; see what was saved with: ramet logs ${session}`,
  );
}

/** The main agent is for what the session is for. */
function titled(agent: AgentOverview, title: string | null): AgentOverview {
  return agent.parent === null && agent.description === null ? { ...agent, description: title } : agent;
}

/** A session and its ledger. */
export interface BilledSession {
  session: SessionEntry;
  ledger: Ledger;
}

/** The ledger with objects for its maps, so that it can be written as JSON. */
export type PlainLedger = {
  [Part in keyof Ledger]: Ledger[Part] extends Map<infer Key extends string, infer Value>
    ? Record<Key, Value>
    : Ledger[Part];
};

export interface SessionBill {
  session: SessionEntry;
  ledger: PlainLedger;
}

export function billOf({ session, ledger }: BilledSession): SessionBill {
  const parts = Object.entries(ledger).map(([name, part]) => [
    name,
    part instanceof Map ? Object.fromEntries(part) : part,
  ]);
  // The same names, and every map made an object.
  return { session, ledger: Object.fromEntries(parts) as PlainLedger };
}

/** `wanted` is an id or the beginning of one; the latest session of this repository when absent. */
export function cost(wanted?: string, options: CallOptions = {}): BilledSession {
  const caller = callerOf(options);
  using view = viewSession(wanted, findPlace(caller).project);
  const { entry: session, ledger } = view;
  tellDamage(view, caller);
  return { session, ledger };
}

/** Of every session of this repository. */
export function costOfAll(options: CallOptions = {}): BilledSession[] {
  const caller = callerOf(options);
  return foldSessions(
    findPlace(caller).project,
    Number.POSITIVE_INFINITY,
    caller,
    ({ entry: session, ledger }) => ({ session, ledger }),
  );
}

/** The newest session of this working tree that was interrupted, or agents of it. */
export function latestInterrupted(options: CallOptions = {}): string {
  const caller = callerOf(options);
  const { project, cwd, repository } = findPlace(caller);
  const root = repository?.root ?? cwd;
  const here = listSessions(project).filter((entry) => isInside(entry.cwd, root));
  const ended = here.filter(({ live }) => !live);
  const found = ended.find((entry) => isToBeResumed(project, entry, caller));
  if (found !== undefined) return found.session;
  const running = here.filter(({ live }) => live).map(({ session }) => session);
  const [latest] = ended;
  const hint =
    running.length > 0
      ? `${running.slice(0, 5).join(', ')} still ${running.length === 1 ? 'runs' : 'run'} (ramet ps)`
      : latest === undefined
        ? noneHere(project)
        : hasRun(project, latest.session)
          ? `the latest is a run of tasks, which is resumed with: ramet operate --resume ${latest.session}`
          : wayOn(project, latest);
  throw new UserMistake(
    'nothing_to_resume',
    `nothing to resume: no session of this working tree was interrupted; ${hint}`,
  );
}

/** Of a repaired session it may not be on record where it worked; one whose file is missing is in no list. */
function noneHere(project: string): string {
  const nowhere = listSessions(project).find(({ cwd, live }) => cwd === '' && !live);
  if (nowhere !== undefined)
    return `where session ${nowhere.session} worked is not on record: if it was here, run ramet resume ${nowhere.session}`;
  const [missing] = missingFiles(project);
  return missing === undefined
    ? 'there is no session yet'
    : wayToSave(sessionPath(project, missing.session), missing);
}

/** A damaged session would refuse a prompt too. */
function wayOn(project: string, { session }: SessionEntry): string {
  try {
    const reader = openReader({ project, session });
    try {
      requireWhole(session, reader);
    } finally {
      reader.close();
    }
    return `to resume the latest, give a prompt: ramet -p --resume ${session} PROMPT`;
  } catch {
    return `the latest, ${session}, is damaged: save what can be read with: ramet doctor --repair ${session}`;
  }
}

/** A run of tasks is resumed in another way: its main agent has no conversation. */
export function refuseRun(wanted: string, options: CallOptions = {}): void {
  const { project } = findPlace(callerOf(options));
  const { session } = findSession(project, wanted);
  if (!hasRun(project, session)) return;
  const reader = openReader({ project, session, forgiving: true });
  try {
    const said = Iterator.from(reader.events({ agent: agentId(session, 1), type: 'response.completed' }));
    if (said.some(() => true)) return;
  } finally {
    reader.close();
  }
  throw new UserMistake(
    'task_run',
    `session ${session} is a run of tasks: resume it with: ramet operate --resume ${session}`,
  );
}

function hasRun(project: string, session: string): boolean {
  return existsSync(operatorDirectory({ project, session }));
}

function isToBeResumed(project: string, entry: SessionEntry, caller: Caller): boolean {
  try {
    const reader = openReader({ project, session: entry.session });
    try {
      if (isHousekeeping(reader)) return false;
      const main = agentId(entry.session, 1);
      const agents = agentStatuses(statusBoardOf(reader.events()), { writerAlive: false });
      const isIdle = agents.some(({ id, turns }) => id === main && turns === 0);
      if (isIdle && (hasRun(project, entry.session) || (agents.length === 1 && !hasMessage(reader))))
        return false;
      return hasWorkLeft(reader, main, agents);
    } finally {
      reader.close();
    }
  } catch (error) {
    tellUnreadable(entry, error, caller);
    return false;
  }
}

/** Without one there is nothing to continue: its first prompt was refused, or never came. */
function hasMessage(reader: JournalReader): boolean {
  return Iterator.from(reader.events({ types: ['message.appended'] })).some(() => true);
}

/** Every session of this repository, the newest first, without reading them. */
export function sessionList(options: CallOptions = {}): SessionEntry[] {
  return listSessions(findPlace(callerOf(options)).project);
}
