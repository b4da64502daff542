/** What an interruption left undone, for a person who opens the session again. */
import type { JournalReader } from '../journal/journal.ts';
import { type AgentOverview, agentStatuses, statusBoardOf } from '../journal/projections/status.ts';
import type { AgentId } from '../schema/ids.ts';
import { purposeOf, shortId } from './agent-label.ts';
import { lastExchanges } from './exchanges.ts';
import { excerpt } from './text/format.ts';

const MOST_NAMED = 4;
const PROMPT_LENGTH = 60;

/** One line each; empty for nothing. `isOpen`: the main agent has something left to do, be it only to read reports. */
export function interruptedLines(reader: JournalReader, main: AgentId, isOpen: boolean): string[] {
  const board = statusBoardOf(reader.events());
  // An agent of an earlier process is no longer at work.
  const interrupted = agentStatuses(board, { writerAlive: false }).filter(
    ({ status, source }) => status === 'interrupted' && source === null,
  );
  const children = interrupted.filter(({ id }) => id !== main);
  const isMain = isOpen && interrupted.length > children.length;
  const lines = isMain ? turnLines(reader, main, board.tools.get(main) ?? new Map()) : [];
  if (children.length > 0) lines.push(`${isMain ? '  ' : 'interrupted: '}${childrenText(children)}`);
  return lines.length === 0 && isOpen ? ['interrupted: reports of agents were not read yet'] : lines;
}

/** What to do about these lines. What a person interrupted waits for Enter; agents of a killed process do not. */
export function continuationHint(lines: readonly string[]): string {
  const areAgents = lines.some((line) => /^(?:interrupted:| ) \d+ agents? (?:was|were) at work: /.test(line));
  const also = areAgents ? ' (agents of a killed process continue too)' : '';
  return `Enter continues it; or write what to do instead${also}`;
}

function turnLines(reader: JournalReader, main: AgentId, calls: ReadonlyMap<string, string>): string[] {
  const prompt = lastExchanges(reader, main, 1)[0]?.prompt;
  const what = prompt === undefined ? 'its turn' : `"${excerpt(prompt, PROMPT_LENGTH)}"`;
  const open = openQuestions(reader, main);
  const asked = [...calls].flatMap(([call, name]) => (open.has(call) ? [name] : []));
  const running = [...calls].flatMap(([call, name]) => (open.has(call) ? [] : [name]));
  const were = (names: readonly string[]): string =>
    `  ${list(names)} ${names.length === 1 ? 'was' : 'were'}`;
  return [
    `interrupted: ${what} was not finished`,
    ...(running.length > 0 ? [`${were(running)} running and may have had an effect`] : []),
    ...(asked.length > 0 ? [`${were(asked)} not run: you are asked again`] : []),
  ];
}

/** Calls whose question nobody has answered. */
function openQuestions(reader: JournalReader, agent: AgentId): Set<string> {
  const open = new Set<string>();
  for (const { event } of reader.events({ agent, types: ['permission.asked', 'permission.answered'] })) {
    if (event.type === 'permission.asked') open.add(event.call);
    else if (event.type === 'permission.answered' && event.answer !== 'denied') open.delete(event.call);
  }
  return open;
}

function childrenText(children: readonly AgentOverview[]): string {
  const names = children.map((agent) => [shortId(agent.id), purposeOf(agent)].filter(Boolean).join(' '));
  return `${children.length === 1 ? '1 agent was' : `${children.length} agents were`} at work: ${list(names)}`;
}

function list(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
