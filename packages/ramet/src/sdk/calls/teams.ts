/** The teams of a repository, for people and other processes: what is on record, and messages to members. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReader } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import { LEAD } from '../../schema/team.ts';
import {
  memberNamesProblem,
  newTeamProblem,
  type StoredTeam,
  TeamStore,
} from '../../team/store/team-store.ts';
import { hintChange, teamFile } from '../../team/wake-line.ts';
import { NOBODY_READS } from '../operator/attempts/team/unread-lead.ts';
import { findPlace, operatorDirectory, type Place } from '../place.ts';
import type { SessionOptions } from '../session-options.ts';
import { type CallOptions, callerOf } from './caller.ts';
import { hostOf, type TeamReport, TeamReports } from './team-report.ts';

export { TEAM_BEGINS } from '../../agents/prompts/teammate.ts';
export type { TeamReport } from './team-report.ts';

/** The newest last. */
export function listTeams(options: CallOptions = {}): TeamReport[] {
  const { project } = findPlace(callerOf(options));
  if (!existsSync(teamFile(project))) return [];
  using store = new TeamStore(project);
  return store.teams().map((record) => new TeamReports(project).of(store.open(record)));
}

/** `name` is a team's, or its session; the only team there is when absent. */
export function showTeam(name?: string, options: CallOptions = {}): TeamReport {
  const { project } = findPlace(callerOf(options));
  return withTeam(name, options, (team) => new TeamReports(project).of(team));
}

/** The same again and again: each look reads on from where the last one ended. */
export function watchTeam(name?: string, options: CallOptions = {}): { look(): TeamReport } {
  const reports = new TeamReports(findPlace(callerOf(options)).project);
  return { look: () => withTeam(name, options, (team) => reports.of(team)) };
}

export interface TeamPlan {
  name: string;
  /** They begin when there is work for them. Of the type `teammate` when it has none. */
  members?: readonly { name: string; type?: string | undefined }[];
}

/**
 * Makes a team: a session whose main agent leads it, and members without a task. No model is asked. Everything that is
 * given is checked before anything is made.
 */
export async function createTeam(
  { name, members = [] }: TeamPlan,
  session: SessionOptions = {},
): Promise<TeamReport> {
  const place = findPlace(callerOf(session));
  const problem = newTeamProblem(place.project, name) ?? memberNamesProblem(members.map((one) => one.name));
  if (problem !== null) throw new UserMistake('bad_team', problem);
  const types = members.flatMap(({ type }) => type ?? []);
  if (types.length > 0) await refuseTypes(types, place, session);
  const { openSession } = await import('../session/session.ts');
  {
    await using opened = await openSession({ title: `team ${name}`, ...session, team: name });
    for (const member of members) await opened.team?.add(member);
  }
  return showTeam(name, session);
}

async function refuseTypes(types: readonly string[], place: Place, session: SessionOptions): Promise<void> {
  const { offeringMembers, openAgentTypes } = await import('../agent-types/agent-types.ts');
  const { findDefinition, unknownMemberType } = await import('../../agents/prompts/built-in.ts');
  const { pluginsHere } = await import('../extensions/plugins.ts');
  const { agentTypes, env = process.env } = session;
  const { plugins } = await pluginsHere(place, env, session);
  const own = { plugins, ...(agentTypes && { types: agentTypes }) };
  using known = offeringMembers(await openAgentTypes(place, env, own));
  const wrong = types.find((type) => findDefinition(known.definitions, type)?.teammate !== true);
  if (wrong !== undefined) throw new UserMistake('not_added', unknownMemberType(wrong, known.definitions));
}

export interface TeamLetter {
  /** The only team there is when absent. */
  team?: string | undefined;
  /** A member, `lead`, or `*`. */
  to: string;
  text: string;
}

export interface SentLetter {
  team: string;
  to: readonly string[];
  /** False if no process hosts the team: it is read when the team is resumed. */
  isHosted: boolean;
}

/** Members learn that it came from outside the team: it permits nothing. */
export function sendToTeam({ team: name, to, text }: TeamLetter, options: CallOptions = {}): SentLetter {
  const { project } = findPlace(callerOf(options));
  const sent = withTeam(name, options, (team) => {
    const readers = readersOf(team, project);
    if (readers.length === 0)
      throw new UserMistake('not_sent', 'not sent: nobody in this team reads messages now');
    const isForReader = team.roster.find(to)?.name !== LEAD || readers.includes(LEAD);
    const mail = isForReader
      ? team.mail.send({ from: null, to, text, call: randomUUID() })
      : { problem: `${NOBODY_READS}: write to ${readers.join(', ')}` };
    if ('problem' in mail) throw new UserMistake('not_sent', `not sent: ${mail.problem}`);
    const reached = mail.receivers.filter((one) => readers.includes(one));
    return { team: team.record.name, to: reached, isHosted: hostOf(team) !== null };
  });
  hintChange(project);
  return sent;
}

/** Members, and the lead unless it is that of a run whom nobody gave a prompt: it asks no model. */
function readersOf({ roster, record }: StoredTeam, project: string): string[] {
  const names = roster.names();
  const place = { project, session: record.session };
  if (!existsSync(operatorDirectory(place))) return names;
  const lead = roster.find(LEAD)?.agent;
  const reader = openReader(place);
  try {
    const said = reader.events({ type: 'message.appended', ...(lead != null && { agent: lead }) });
    return Iterator.from(said).some(() => true) ? names : names.filter((one) => one !== LEAD);
  } finally {
    reader.close();
  }
}

/** Has every process that hosts a team here, this one included, give its members what waits for them. */
export function lookForLetters(options: CallOptions = {}): void {
  hintChange(findPlace(callerOf(options)).project);
}

/** The words of a message, by its number on record; null when it is no longer kept. */
export function textOfLetter(team: string, seq: number, options: CallOptions = {}): string | null {
  return withTeam(team, options, ({ mail }) => mail.textOf(seq));
}

export interface AnsweredPlan {
  /** The only team there is when absent. */
  team?: string | undefined;
  member: string;
  approve: boolean;
  /** A rejection needs it. */
  feedback?: string | undefined;
}

/** Answers a member's plan as a person (TEAM-4). */
export function answerPlan(
  { team: name, ...answer }: AnsweredPlan,
  options: CallOptions = {},
): Omit<SentLetter, 'to'> & { member: string; plan: string } {
  const answered = withTeam(name, options, (team) => {
    const waits = team.plans.waiting().find(({ member }) => member === answer.member);
    const mail = team.plans.answer({ ...answer, by: null, call: randomUUID(), plan: waits?.call });
    if ('problem' in mail) throw new UserMistake('not_answered', `no plan was answered: ${mail.problem}`);
    const [member = answer.member] = mail.receivers;
    const plan = waits?.text ?? '';
    return { team: team.record.name, member, plan, isHosted: hostOf(team) !== null };
  });
  hintChange(findPlace(callerOf(options)).project);
  return answered;
}

export interface StoppedTeam {
  team: string;
  /** Those that were asked to shut down. */
  asked: readonly string[];
  /** False if some had not ended when the wait was over; they are still being ended. */
  ended: boolean;
}

/** Longer than the host takes to end a member that does not answer. */
const PATIENCE_MS = 45_000;
const LOOK_AGAIN_MS = 50;

/**
 * Ends members, all if none is named: asked first, enforced within 30 seconds. Their claims are released. `resumeTeam`
 * lets them begin again.
 */
export async function stopTeam(
  { team: name, member }: { team?: string | undefined; member?: string | undefined } = {},
  options: CallOptions = {},
): Promise<StoppedTeam> {
  const { signal } = callerOf(options);
  const { project } = findPlace(callerOf(options));
  const asked = withTeam(name, options, (team) => {
    if (member !== undefined && team.roster.find(member) === undefined) {
      throw new UserMistake(
        'no_member',
        `nobody here is called "${member}"; there are ${team.roster.names().join(', ')}`,
      );
    }
    return { team: team.record.name, asked: team.roster.askToStop(member ?? null) };
  });
  hintChange(project);
  const isOver = (): boolean => withTeam(asked.team, options, (team) => allStopped(team, asked.asked));
  const since = performance.now();
  while (!isOver()) {
    if (signal.aborted || performance.now() - since > PATIENCE_MS) return { ...asked, ended: false };
    await sleep(LOOK_AGAIN_MS);
  }
  return { ...asked, ended: true };
}

/** Where no process hosts the team, nobody is left to end. */
function allStopped(team: StoredTeam, names: readonly string[]): boolean {
  const left = names.filter((name) => team.roster.find(name)?.state !== 'stopped');
  if (left.length === 0 || hostOf(team) !== null) return left.length === 0;
  for (const name of left) {
    team.roster.setState(name, 'stopped');
    team.tasks.releaseOf(name, `${name} was stopped`);
  }
  return true;
}

/** Lets members that were stopped work again, and returns the session to resume. A team that is hosted is not resumed. */
export function reopenTeam(name?: string, options: CallOptions = {}): SessionId {
  return withTeam(name, options, (team) => {
    if (hostOf(team) === null) team.roster.reopen();
    return team.record.session;
  });
}

function withTeam<Result>(
  name: string | undefined,
  options: CallOptions,
  use: (team: StoredTeam) => Result,
): Result {
  const { project } = findPlace(callerOf(options));
  if (!existsSync(teamFile(project))) throw noTeam();
  using store = new TeamStore(project);
  const all = store.teams();
  const [only] = all;
  if (only === undefined) throw noTeam();
  if (name === undefined && all.length === 1) return use(store.open(only));
  const found = name === undefined ? undefined : store.find(name);
  if (found !== undefined) return use(found);
  const names = all.map((team) => team.name).join(', ');
  const why = name === undefined ? 'name a team' : `there is no team "${name}"`;
  throw new UserMistake('no_team', `${why}; the teams here are ${names}`);
}

function noTeam(): UserMistake {
  return new UserMistake('no_team', 'this repository has no team: ramet team create NAME makes one');
}
