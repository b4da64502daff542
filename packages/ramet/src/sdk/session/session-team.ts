/** The team of a session: its record, its host in this process, and what the lead hears about it. Loaded late. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { teammate } from '../../agents/prompts/teammate.ts';
import { contentOfBytes } from '../../conversation/frozen-block.ts';
import { TeamHost } from '../../engine/later.ts';
import type { Agent, AgentFamily } from '../../engine/shapes.ts';
import { openReader } from '../../journal/sessions.ts';
import { JournalError, UserMistake } from '../../schema/errors.ts';
import { type AgentId, agentId, type SessionId } from '../../schema/ids.ts';
import { LEAD } from '../../schema/team.ts';
import { newTeamProblem, type StoredTeam, TeamStore } from '../../team/store/team-store.ts';
import { hintChange, listenForChanges, teamFile } from '../../team/wake-line.ts';
import type { AgentTypes } from '../agent-types/agent-types.ts';
import type { Place } from '../place.ts';
import { checkTeamCall } from './check-calls.ts';
import { sessionClosed } from './prompts/interruption.ts';
import type { TeamView } from './session-type.ts';

export interface SessionTeam extends Disposable {
  readonly view: TeamView;
  /** Roster and open tasks, once for each process: a resumed lead may no longer know them. */
  news(): string | null;
  /** Wakes members for what was sent while no process hosted them. Agents of an earlier process have resumed. */
  look(): void;
  /** Lets members work again that were stopped. */
  reopen(): void;
  /** From now on no member is woken. */
  closing(): void;
  readonly isClosing: boolean;
  /** Worktrees of idle members are given back, before the journal is closed. */
  leaveWorktrees(): Promise<void>;
}

/** Every lead has it. */
const TEAM_TOOL = 'TaskCreate';

interface TeamOrder {
  readonly project: string;
  readonly family: AgentFamily;
  readonly lead: Agent;
  readonly session: SessionId;
  /** True for a name of Ramet's choice. */
  readonly name: string | true;
  /** Of a session that is resumed: where worktrees may be that a killed process left. */
  readonly left?: { readonly cwd: string; readonly env: NodeJS.ProcessEnv } | undefined;
}

export interface KnownTeam {
  /** Null for a session without a team. */
  readonly name: string | null;
  /** Why no session can have one now; null where it can. */
  readonly problem: string | null;
}

/** A record of teams that cannot be read stops the sessions that have one: their journals say so. */
export function teamOfSession(project: string, session: SessionId): KnownTeam {
  try {
    using store = new TeamStore(project);
    return { name: store.find(session)?.record.name ?? null, problem: null };
  } catch (error) {
    if (!(error instanceof JournalError) || leadsTeam(project, session)) throw error;
    return { name: null, problem: error.message };
  }
}

function leadsTeam(project: string, session: SessionId): boolean {
  const reader = openReader({ project, session, forgiving: true });
  try {
    let leads = false;
    const agent = agentId(session, 1);
    for (const { event } of reader.events({ agent, types: ['prefix.frozen', 'conversation.replaced'] })) {
      if (event.type === 'prefix.frozen')
        leads ||= event.tools.some((tool) => isTeamTool(reader.block(tool)));
      // It began with the conversation of another session, whose team is not its own.
      else if (event.type === 'conversation.replaced' && event.cause === 'session') leads = false;
    }
    return leads;
  } finally {
    reader.close();
  }
}

function isTeamTool(stored: Uint8Array): boolean {
  return contentOfBytes(stored).name === TEAM_TOOL;
}

/** The session came to nothing, and so did its team. */
export function forgetTeam(project: string, session: SessionId): void {
  if (!existsSync(teamFile(project))) return;
  using store = new TeamStore(project);
  store.forget(session);
}

/** Before anything of the session is made. */
export function refuseTeamName(project: string, name: string | true): void {
  if (name === true) return;
  const problem = newTeamProblem(project, name);
  if (problem !== null) throw new UserMistake('bad_team', problem);
}

export function openTeam({ project, family, lead, session, name, left }: TeamOrder): SessionTeam {
  const store = new TeamStore(project);
  try {
    const known = store.find(session);
    const wanted = { name: name === true ? session : name, session, agent: lead.spec.id };
    const team = known ?? store.create(wanted);
    if ('problem' in team) throw new UserMistake('bad_team', team.problem);
    const host = new TeamHost({ family, lead, team, hint: () => hintChange(project) });
    // Who ends by itself leaves it.
    let wasKilled = team.roster.hostNow() !== null;
    const problem = team.roster.host(host.process);
    if (problem !== null) throw new UserMistake('team_hosted', problem.problem);
    const unbegun = known === undefined ? new Set<AgentId>() : forgetUnbegun(known, family);
    host.asked.reserve(lead);
    for (const member of team.roster.members()) team.tasks.adopt(member.name, host.process);
    team.tasks.releaseDead(LEAD);
    host.isHeld = known !== undefined;
    family.team = host;
    const listening = listenForChanges(project, (isHint) => (isHint ? host.look() : host.lookForAll()));
    let isTold = known === undefined;
    const added = (): void => {
      isTold = false;
    };
    return {
      view: teamView(team, host, added),
      news() {
        if (isTold) return null;
        isTold = true;
        return host.now.text();
      },
      look() {
        host.begun();
        if (wasKilled) host.news.tellAllFree();
        else host.news.tellLeft();
        wasKilled = false;
      },
      reopen: () => team.roster.reopen(),
      closing: () => host.closing(),
      get isClosing() {
        return host.isClosed;
      },
      async leaveWorktrees() {
        await host.worktrees.close();
        if (unbegun.size === 0 || left === undefined) return;
        const { clearUnbegun } = await import('../worktrees/open-place.ts');
        await clearUnbegun(left, unbegun);
      },
      [Symbol.dispose]() {
        listening[Symbol.dispose]();
        host[Symbol.dispose]();
        store[Symbol.dispose]();
      },
    };
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
}

/** What of an open session takes part in its first member. */
interface TeamlessParts {
  readonly agent: Agent;
  readonly family: AgentFamily;
  readonly place: Pick<Place, 'project'>;
  readonly runtime: { readonly journal: { readonly session: SessionId } };
  readonly types: Pick<AgentTypes, 'offerMembers'>;
  team?: SessionTeam;
}

/**
 * Makes a team of a session that has none. The lead gets the team's tools, so its whole prompt is written again with the next
 * request, once; members have the same bytes.
 */
export async function beginTeam(parts: TeamlessParts): Promise<void> {
  const [{ teamTools }, { LEAD_NOTES }] = await Promise.all([
    import('../../tools/team-tasks.ts'),
    import('../../agents/prompts/teammate.ts'),
  ]);
  // Another call may have made it meanwhile.
  if (parts.team !== undefined) return;
  const { agent: lead, family, place, runtime, types } = parts;
  const { session } = runtime.journal;
  parts.team = openTeam({ project: place.project, family, lead, session, name: true });
  types.offerMembers?.();
  lead.addTools(
    'team',
    teamTools.map((tool) => ({ ...tool, ofSession: true as const })),
  );
  lead.receive('notification', null, LEAD_NOTES);
}

/**
 * Members whose process was killed before they began: nothing is on record. Their names are free again, but for those
 * that were written to: these wait for the call that asked for them, or begin with what was written. Returns the agents that they
 * would have been.
 */
function forgetUnbegun({ roster }: StoredTeam, { parts }: AgentFamily): Set<AgentId> {
  const unbegun = new Set<AgentId>();
  const reader = parts.openReader();
  try {
    const begun = new Set(Array.from(reader.events({ type: 'agent.started' }), ({ agent }) => agent));
    for (const { name, agent, unread } of roster.members()) {
      if (agent === null || begun.has(agent)) continue;
      unbegun.add(agent);
      if (unread === 0) roster.remove(name);
      else roster.setAgent(name, null);
    }
    return unbegun;
  } finally {
    reader.close();
  }
}

function teamView(team: StoredTeam, host: TeamHost, added: () => void): TeamView {
  /** The record is closed with the session. */
  const open = (): StoredTeam => {
    if (host.isClosed) throw sessionClosed();
    return team;
  };
  return {
    name: team.record.name,
    members: () => open() && host.now.members(),
    tasks: () => open().tasks.all(),
    async add(member) {
      open();
      checkTeamCall('add', member);
      const { name, type = teammate.name } = member;
      const problem = host.addWaiting({ name, type });
      if (problem !== null) throw new UserMistake('not_added', problem);
      added();
    },
    plans: () =>
      open()
        .plans.waiting()
        .map(({ member, text }) => ({ member, text })),
    async answerPlan(answer) {
      checkTeamCall('answerPlan', answer);
      const { member, approve, feedback } = answer;
      const call = randomUUID();
      const sent = open().plans.answer({ member, approve, feedback, by: null, call });
      if ('problem' in sent) throw new UserMistake('not_answered', `no plan was answered: ${sent.problem}`);
      host.changed();
    },
    async send(message) {
      checkTeamCall('send', message);
      const { to, text } = message;
      const sent = open().mail.send({ from: null, to, text, call: randomUUID() });
      if ('problem' in sent) throw new UserMistake('not_sent', `not sent: ${sent.problem}`);
      host.changed();
      return { to: sent.receivers };
    },
  };
}
