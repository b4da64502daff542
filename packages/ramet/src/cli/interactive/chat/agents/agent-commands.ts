/** `/agents`, `/open`, `/stop`, `/cancel`, `/tell`: a person looks at the agents of the session and speaks to those at work. */
import { STOPPED } from '../../../../engine/agent/notices.ts';
import { UserMistake } from '../../../../schema/errors.ts';
import type { AgentHandle, AgentOverview } from '../../../../sdk/index.ts';
import { findPlace } from '../../../../sdk/place.ts';
import type { Session } from '../../../../sdk/session/session.ts';
import { agentTree, purposeOf, shortId } from '../../../../views/agent-label.ts';
import { viewSession } from '../../../../views/session-view.ts';
import { dollars, excerpt, table, usageTokens } from '../../../../views/text/format.ts';
import type { CommandIo } from '../../../io.ts';
import type { TextStyle } from '../../screen/text-style.ts';
import type { Chat } from '../chat.ts';
import type { CommandAnswer } from '../input/menus.ts';
import { type BoardAgent, doingOf, inBackgroundLine } from './agent-board.ts';

const NO_AGENTS = 'no agents yet';

/** All agents of the session but the main one: those at work as they are now, the others as the journal has them. */
export function agentsText({ session, board }: Chat, io: CommandIo): string {
  if (session === null) return NO_AGENTS;
  using view = viewSession(session.id, findPlace(io).project);
  const inBackground = new Set(session.agents.filter((agent) => agent.inBackground).map(({ id }) => id));
  const children = agentTree(view.agents.filter(({ parent }) => parent !== null));
  if (children.length === 0) return NO_AGENTS;
  const rows = children.map(({ agent, level }) => {
    const { turns, usage, costUsd } = board.find(agent.id) ?? agent;
    return [
      '  '.repeat(level) + shortId(agent.id),
      excerpt(statusOf(agent, board.find(agent.id)), LONGEST_STATUS),
      `${turns} turn${turns === 1 ? '' : 's'}`,
      usageTokens(usage),
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
  const agents = atWork(argument, chat, '/stop');
  for (const agent of agents) agent.stop(STOPPED);
  return said(agents, 'stopped');
}

export function cancelAgents(argument: string, chat: Chat): string {
  const agents = atWork(argument, chat, '/cancel');
  for (const agent of agents) agent.cancel();
  return said(agents, 'asked to end with a summary');
}

/** An agent that has ended resumes with the message. */
export async function tellAgents(argument: string, { session }: Chat, io: CommandIo): Promise<string> {
  if (session === null) throw noneKnown();
  using view = viewSession(session.id, findPlace(io).project);
  const ended = view.agents.filter(({ id, parent }) => parent !== null && !isAtWork(session, id));
  // Names may be given again: the last who had one is meant.
  const known = [...session.agents, ...ended.reverse()];
  const { found, rest } = named(argument, known, session.agents);
  if (found.length === 0) throw unknown(argument, known, '/tell');
  if (rest === '') throw new UserMistake('no_text', 'say what to tell: /tell <agent> <text>');
  const lines = found.map(async ({ id }) => {
    const goesOn = !isAtWork(session, id);
    const agent = await session.tell(id, rest);
    return said([agent], goesOn ? 'resumes with it' : 'gets it at its next tool boundary');
  });
  return (await Promise.all(lines)).join('\n');
}

/** The agent whose conversation is shown: the one that is named, the only one, or one of a list, those at work first. */
export function openAgent(argument: string, { session, board }: Chat, io: CommandIo): CommandAnswer {
  if (session === null) return { text: NO_AGENTS };
  using view = viewSession(session.id, findPlace(io).project);
  const children = agentTree(view.agents.filter(({ parent }) => parent !== null)).map(({ agent }) => agent);
  const agents = children.toSorted((one, other) => rankOf(session, one) - rankOf(session, other));
  const [first, ...others] = agents;
  if (first === undefined) return { text: NO_AGENTS };
  if (argument !== '') {
    // Names may be given again: the last who had one is meant.
    const [found] = named(argument, agents.toReversed(), []).found;
    if (found === undefined) throw unknown(argument, agents, '/open');
    return { text: '', open: found.id };
  }
  if (others.length === 0) return { text: '', open: first.id };
  const items = agents.map((agent) => ({
    id: shortId(agent.id),
    label: `${shortId(agent.id)} ${purposeOf(agent) || agent.type}`,
    detail: () => statusOf(agent, board.find(agent.id)),
  }));
  const title = 'show which agent? type to search, Esc: none';
  return { text: '', pick: { title, items, linesOf: (id) => [`/open ${id}`] } };
}

function rankOf(session: Session, { id }: AgentOverview): number {
  return isAtWork(session, id) ? 0 : 1;
}

/** The children that the main agent waits for. */
export function waitedFor({ session }: Chat): AgentHandle[] {
  if (session === null) return [];
  const { id } = session.agent;
  return session.agents.filter(({ parent, inBackground }) => parent === id && !inBackground);
}

/** Nobody waits for them any more; a line for each. */
export function sendToBackground(chat: Chat, style: TextStyle): string[] {
  return waitedFor(chat).map((agent) => {
    agent.detach();
    return inBackgroundLine(agent, style);
  });
}

/** What leaving would end; null for nothing. */
export function agentsAtWork({ session }: Chat): string | null {
  const agents = session?.agents ?? [];
  if (agents.length === 0) return null;
  const still = agents.length === 1 ? '1 agent is' : `${agents.length} agents are`;
  const where = agents.every(({ inBackground }) => inBackground) ? ' in the background' : '';
  return `${still} still at work${where}`;
}

/** Ends all agents of a session that is left, and waits until that is recorded. */
export async function stopAll({ session }: Chat, say: (line: string) => void): Promise<void> {
  const agents = session?.agents ?? [];
  const which = agents.length === 1 ? '1 agent' : `${agents.length} agents`;
  if (agents.length > 0) say(`stopping ${which}; what was done is kept`);
  for (const agent of agents) agent.stop('parent_ended');
  await Promise.all(agents.map(({ result }) => result));
}

/** What Tab offers where an agent is to be named; nothing for other commands. */
export function agentWordsFor(command: string, { session }: Chat): string[] {
  if (!['tell', 'cancel', 'stop', 'open'].includes(command)) return [];
  const agents = session?.agents ?? [];
  const names = agents.flatMap(({ name }) => (name === null || name.includes(' ') ? [] : [name]));
  return [
    ...names,
    ...agents.map(({ id }) => shortId(id)),
    ...(agents.length > 1 && command !== 'open' ? ['all'] : []),
  ];
}

type NamedAgent = Pick<AgentHandle, 'id' | 'name'>;

function isAtWork({ agents }: Session, id: string): boolean {
  return agents.some((agent) => agent.id === id);
}

function atWork(argument: string, { session }: Chat, command: string): readonly AgentHandle[] {
  const running = session?.agents ?? [];
  if (running.length === 0) throw noneKnown();
  const { found } = named(argument, running, running);
  if (found.length === 0) throw unknown(argument, running, command);
  return found;
}

/** Names may hold spaces: the longest that the text begins with is meant. */
function named<Agent extends NamedAgent>(
  argument: string,
  agents: readonly Agent[],
  all: readonly Agent[],
): { found: readonly Agent[]; rest: string } {
  const words = agents.flatMap((agent) => namesOf(agent).map((word) => ({ word, found: [agent] })));
  const [best] = [...words, { word: 'all', found: all }]
    .filter(({ word }) => argument === word || argument.startsWith(`${word} `))
    .toSorted((one, other) => other.word.length - one.word.length);
  return { found: best?.found ?? [], rest: argument.slice(best?.word.length ?? 0).trim() };
}

function noneKnown(): UserMistake {
  return new UserMistake('no_agent', 'no agent is at work; /agents lists those that were');
}

function unknown(argument: string, agents: readonly NamedAgent[], command: string): UserMistake {
  const known = agents.map(({ id, name }) => (name === null ? shortId(id) : `${shortId(id)} (${name})`));
  const wrong =
    argument === ''
      ? 'name an agent'
      : `no agent "${argument.split(' ')[0]}" is ${command === '/tell' || command === '/open' ? 'known' : 'at work'}`;
  const some = [...known.slice(0, MOST_NAMED), ...(known.length > MOST_NAMED ? ['...'] : [])];
  return new UserMistake(
    'no_agent',
    `${wrong}: ${command} takes ${[...some, ...(command === '/open' ? [] : ['all'])].join(', ')}`,
  );
}

const MOST_NAMED = 20;

function namesOf({ id, name }: NamedAgent): string[] {
  return [id, shortId(id), shortId(id).slice(1), ...(name === null ? [] : [name])];
}

function said(agents: readonly AgentHandle[], what: string): string {
  const lines = agents.map((agent) => {
    const purpose = purposeOf(agent);
    return `${shortId(agent.id)}${purpose && ` ${purpose}`}: ${what}`;
  });
  return lines.join('\n');
}
