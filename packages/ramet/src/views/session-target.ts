/**
 * What a command looks at: a session (`abcd1234`), one of its agents (`abcd1234.2`) or a request (`abcd1234.2/1`).
 * The session may be shortened, or left out for the latest.
 */
import { UserMistake } from '../schema/errors.ts';
import { type AgentId, agentId } from '../schema/ids.ts';
import { type EventTaker, type SessionView, viewSession } from './session-view.ts';

export interface TargetView extends SessionView {
  /** Null when the whole session is meant. */
  readonly agent: AgentId | null;
  /** Which request of that agent, counted from 1; null when all are meant. */
  readonly request: number | null;
}

const MOST_NAMED = 6;

/** A session or an agent of it. */
export function viewAgents(wanted: string | undefined, project: string, take?: EventTaker): TargetView {
  const { request } = parseTarget(wanted);
  if (request === null) return viewTarget(wanted, project, take);
  const reason = `"${wanted}" is a request: name an agent or a session, or use ramet cache explain ${wanted}`;
  throw new UserMistake('bad_id', reason);
}

/** The agent exists; whether the request does is for the caller to find out. */
export function viewTarget(wanted: string | undefined, project: string, take?: EventTaker): TargetView {
  const target = parseTarget(wanted);
  const view = viewSession(target.session, project, take);
  const agent = target.agent === null ? null : agentId(view.entry.session, target.agent);
  if (agent !== null && view.agents.every(({ id }) => id !== agent)) {
    view[Symbol.dispose]();
    throw unknownAgent(agent, view);
  }
  return { ...view, agent, request: target.request };
}

export interface ParsedTarget {
  /** An id or its beginning; undefined for the latest session. */
  session: string | undefined;
  agent: number | null;
  request: number | null;
}

export function parseTarget(wanted: string | undefined): ParsedTarget {
  if (wanted === undefined) return { session: undefined, agent: null, request: null };
  const [, session, agent, request] = /^([^./]*)(?:\.(\d+)(?:\/(\d+))?)?$/.exec(wanted) ?? [];
  if (session === undefined) {
    throw new UserMistake(
      'bad_id',
      `"${wanted}" is no id: a session is like abcd1234, an agent like abcd1234.2, a request like abcd1234.2/1`,
    );
  }
  return {
    session: session === '' && agent !== undefined ? undefined : session,
    agent: agent === undefined ? null : Number(agent),
    request: request === undefined ? null : Number(request),
  };
}

function unknownAgent(agent: AgentId, { entry, agents }: SessionView): UserMistake {
  const numbered = agents.map(({ id }) => id).sort((one, other) => numberOf(one) - numberOf(other));
  const known = numbered.slice(0, MOST_NAMED);
  const more = agents.length > known.length ? ` and ${agents.length - known.length} more` : '';
  const has = known.length === 0 ? 'it has none yet' : `it has ${known.join(', ')}${more}`;
  return new UserMistake('agent_unknown', `there is no agent ${agent} in session ${entry.session}: ${has}`);
}

function numberOf(id: AgentId): number {
  return Number(id.slice(id.lastIndexOf('.') + 1));
}
