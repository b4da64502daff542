/** `/agents`, `/stop`, `/cancel`, `/tell`: a person looks at the agents of the session and speaks to those at work. */
import type { AgentHandle } from '../../engine/agent-handle.ts';
import { STOPPED } from '../../engine/notices.ts';
import { agentTree } from '../../journal/projections/agent-tree.ts';
import type { AgentOverview } from '../../journal/projections/status.ts';
import { UserMistake } from '../../schema/errors.ts';
import { totalTokens } from '../../schema/usage.ts';
import { purposeOf, shortId } from '../agent-label.ts';
import { dollars, excerpt, table, tokens } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { viewSession } from '../session-view.ts';
import { type BoardAgent, doingOf } from './agent-board.ts';
import type { Chat } from './chat.ts';

/** All agents of the session but the main one: those at work as they are now, the others as the journal has them. */
export function agentsText({ session, board }: Chat, io: CommandIo): string {
  if (session === null) return 'no agents yet';
  using view = viewSession(session.id, io);
  const inBackground = new Set(session.agents.filter((agent) => agent.inBackground).map(({ id }) => id));
  const children = agentTree(view.agents.filter(({ parent }) => parent !== null));
  if (children.length === 0) return 'no agents yet';
  const rows = children.map(({ agent, level }) => {
    const { turns, usage, costUsd } = board.find(agent.id) ?? agent;
    return [
      '  '.repeat(level) + shortId(agent.id),
      excerpt(statusOf(agent, board.find(agent.id)), LONGEST_STATUS),
      `${turns} turn${turns === 1 ? '' : 's'}`,
      tokens(totalTokens(usage)),
      dollars(costUsd),
      `${agent.type} ${purposeOf(agent)}${inBackground.has(agent.id) ? ' (in the background)' : ''}`,
    ];
  });
  return table(rows);
}

/** What follows should stay on a line of 80 columns. */
const LONGEST_STATUS = 20;

function statusOf({ status, cause }: AgentOverview, atWork: BoardAgent | undefined): string {
  if (atWork !== undefined) return doingOf(atWork);
  return cause === null ? status : `${status}: ${cause}`;
}

export function stopAgents(argument: string, chat: Chat): string {
  const { agents } = addressed(argument, chat, '/stop');
  for (const agent of agents) agent.stop(STOPPED);
  return said(agents, 'stopped');
}

export function cancelAgents(argument: string, chat: Chat): string {
  const { agents } = addressed(argument, chat, '/cancel');
  for (const agent of agents) agent.cancel();
  return said(agents, 'asked to end with a summary');
}

export function tellAgents(argument: string, chat: Chat): string {
  const { agents, rest } = addressed(argument, chat, '/tell');
  if (rest === '') throw new UserMistake('no_text', 'say what to tell: /tell <agent> <text>');
  for (const agent of agents) agent.steer(rest);
  return said(agents, 'hears it at its next tool boundary');
}

/** What Tab offers where an agent is to be named. */
export function agentWords({ session }: Chat): string[] {
  const agents = session?.agents ?? [];
  const names = agents.flatMap(({ name }) => (name === null || name.includes(' ') ? [] : [name]));
  return [...names, ...agents.map(({ id }) => shortId(id)), ...(agents.length > 1 ? ['all'] : [])];
}

interface AddressedAgents {
  agents: readonly AgentHandle[];
  rest: string;
}

/** Names may hold spaces: the longest that the text begins with is meant. */
function addressed(argument: string, { session }: Chat, command: string): AddressedAgents {
  const running = session?.agents ?? [];
  const words = running.flatMap((agent) => namesOf(agent).map((word) => ({ word, agents: [agent] })));
  const all = { word: 'all', agents: [...running] };
  const [found] = [...words, all]
    .filter(({ word }) => argument === word || argument.startsWith(`${word} `))
    .toSorted((one, other) => other.word.length - one.word.length);
  if (found !== undefined && found.agents.length > 0) {
    return { agents: found.agents, rest: argument.slice(found.word.length).trim() };
  }
  const known = running.map(({ id, name }) => (name === null ? shortId(id) : `${shortId(id)} (${name})`));
  if (known.length === 0)
    throw new UserMistake('no_agent', 'no agent is at work; /agents lists those that were');
  const wrong = argument === '' ? 'name an agent' : `no agent "${argument.split(' ')[0]}" is at work`;
  throw new UserMistake('no_agent', `${wrong}: ${command} takes ${known.join(', ')} or all`);
}

function namesOf({ id, name }: AgentHandle): string[] {
  return [id, shortId(id), shortId(id).slice(1), ...(name === null ? [] : [name])];
}

function said(agents: readonly AgentHandle[], what: string): string {
  return agents
    .map(({ id, name, description }) => {
      const label = [name, description].filter(Boolean).join(': ');
      return `${shortId(id)}${label === '' ? '' : ` ${label}`}: ${what}`;
    })
    .join('\n');
}
