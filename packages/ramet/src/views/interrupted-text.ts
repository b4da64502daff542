/** What an interruption left undone, for a person who opens the session again. */
import type { JournalReader } from '../journal/journal.ts';
import { type AgentOverview, agentStatuses, statusBoardOf } from '../journal/projections/status.ts';
import type { AgentId } from '../schema/ids.ts';
import { purposeOf, shortId } from './agent-label.ts';
import { lastExchanges } from './exchanges.ts';
import { excerpt } from './text/format.ts';

const MOST_NAMED = 4;
const PROMPT_LENGTH = 60;

/** One line each; empty when no agent was at work. `isMain`: the main agent's own turn is open. */
export function interruptedLines(reader: JournalReader, main: AgentId, isMain: boolean): string[] {
  const board = statusBoardOf(reader.events());
  const running = [...(board.tools.get(main)?.values() ?? [])];
  // Whoever was at work in an earlier process is not any more.
  const children = agentStatuses(board, { writerAlive: false }).filter(
    ({ id, status }) => id !== main && status === 'interrupted',
  );
  if (!isMain && children.length === 0) return [];
  const prompt = lastExchanges(reader, main, 1)[0]?.prompt;
  return [
    ...(isMain ? [`interrupted: ${prompt === undefined ? 'its turn' : `"${excerpt(prompt, PROMPT_LENGTH)}"`} was not finished`] : []),
    ...(isMain && running.length > 0 ? [`  ${list(running)} ${running.length === 1 ? 'was' : 'were'} running and may have had an effect`] : []),
    ...(children.length === 0 ? [] : [`${isMain ? '  ' : 'interrupted: '}${childrenText(children)}`]),
  ];
}

function childrenText(children: readonly AgentOverview[]): string {
  const names = children.map((agent) => [shortId(agent.id), purposeOf(agent)].filter(Boolean).join(' '));
  return `${children.length === 1 ? '1 agent was' : `${children.length} agents were`} at work: ${list(names)}`;
}

function list(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
