/**
 * `ramet ps` as a table: one line for each agent where there is room, else a second one below it, so that no line
 * breaks.
 */
import type { AgentActivity, AgentOverview } from '../journal/projections/status.ts';
import { purposeOf, shortId, statusOf, type TreePlace, thinkingText } from './agent-label.ts';
import {
  displayWidth,
  dollars,
  duration,
  excerpt,
  fitText,
  printable,
  table,
  usageTokens,
} from './text/format.ts';
import { stackedTable, wrapWords } from './text/narrow-table.ts';

type PlacedAgent = TreePlace<AgentOverview>;

const PURPOSE_LENGTH = 32;
const PROGRESS_LENGTH = 60;
const ENDED: ReadonlySet<AgentOverview['status']> = new Set(['done', 'failed', 'cancelled', 'timed_out']);
const TYPE_WIDTH = 11;
const STATUS_WIDTH = 19;

/** `columns` is the width of the screen, null without one. */
export function agentTable(places: readonly PlacedAgent[], columns: number | null, now: number): string {
  const whole = table([WHOLE, ...places.map((place) => wholeRow(place, now))]);
  if (columns === null || fits(whole, columns)) return whole;
  const rows = [NARROW, ...places.map((place) => narrowRow(place, now))];
  const [airy, dense] = [table(rows), table(rows, ' ')];
  if (!fits(dense, columns)) return stacked(places, columns, now);
  const [headings = '', ...lines] = (fits(airy, columns) ? airy : dense).split('\n');
  const shown = places.flatMap((place, index) => [lines[index] ?? '', ...detailLine(place, now)]);
  return [headings, ...shown].map((line) => `${fitText(line, columns)}\n`).join('');
}

/** Too narrow for the columns: the figures of an agent on as many rows as they need. */
function stacked(places: readonly PlacedAgent[], columns: number, now: number): string {
  const shown = places.map((place) => {
    const details = detailLine(place, now).flatMap((line) => wrapWords(line, columns, indentOf(line)));
    return stackedTable([narrowRow(place, now)], columns) + details.map((line) => `${line}\n`).join('');
  });
  return stackedTable([NARROW], columns) + shown.join('');
}

function indentOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? '';
}

function fits(text: string, columns: number): boolean {
  return text.split('\n').every((line) => displayWidth(line) <= columns);
}

const WHOLE = ['AGENT', 'TYPE', 'STATUS', 'TURNS', 'TOKENS', 'COST', 'LAST EVENT', 'MODEL', 'FOR', 'DOING'];

function wholeRow({ agent, level }: PlacedAgent, now: number): string[] {
  return [
    '  '.repeat(level) + agent.id,
    agent.type,
    statusText(agent, now),
    String(agent.turns),
    usageTokens(agent.usage),
    dollars(agent.costUsd),
    `${duration(now - agent.lastEventAt)} ago`,
    modelOf(agent),
    excerpt(purposeOf(agent), PURPOSE_LENGTH),
    doing(agent, now),
  ];
}

const NARROW = ['AGENT', 'TYPE', 'STATUS', 'TURNS', 'TOKENS', 'COST', 'LAST', 'MODEL'];

function narrowRow({ agent, level }: PlacedAgent, now: number): string[] {
  return [
    '  '.repeat(level) + (level === 0 ? agent.id : shortId(agent.id)),
    fitText(agent.type, TYPE_WIDTH),
    narrowStatus(agent),
    String(agent.turns),
    usageTokens(agent.usage),
    dollars(agent.costUsd),
    duration(now - agent.lastEventAt),
    modelOf(agent).replace(/^claude-/, ''),
  ];
}

function modelOf({ model, thinking }: AgentOverview): string {
  const chosen = thinkingText(thinking).replace(/^\w+ /, '');
  return chosen === '' ? model : `${model} (${chosen})`;
}

function narrowStatus({ status, cause }: AgentOverview): string {
  return fitText(cause === null ? status : `${status}: ${cause}`, STATUS_WIDTH);
}

/** What has no room in the columns, below them: the rest of the status, what it does and what it is for. */
function detailLine({ agent, level }: PlacedAgent, now: number): string[] {
  const shown = narrowStatus(agent);
  const status = statusText(agent, now);
  const parts = [
    // Only what the column lacks, where it has the rest.
    status.startsWith(shown) ? status.slice(shown.length).trim() : status,
    phaseOf(agent),
    activityOf(agent, now),
    progressOf(agent),
    worktreeOf(agent),
    checkoutOf(agent),
    purposeOf(agent),
  ].filter(Boolean);
  return parts.length === 0 ? [] : [`${'  '.repeat(level + 2)}${parts.join('; ')}`];
}

function statusText(agent: AgentOverview, now: number): string {
  return `${statusOf(agent, now)}${agent.stalledMs === null ? '' : ' (stalled)'}`;
}

function doing(agent: AgentOverview, now: number): string {
  const parts = [
    agent.background ? 'in the background' : '',
    phaseOf(agent),
    worktreeOf(agent),
    checkoutOf(agent),
    activityOf(agent, now),
    progressOf(agent),
  ];
  return parts.filter(Boolean).join(', ');
}

/** Its progress: its own line, else the current item of its to-do list; and how far it is with the list. */
function progressOf({ todos, progress, status }: AgentOverview): string {
  if (ENDED.has(status)) return '';
  const current = todos.find((todo) => todo.status === 'in_progress');
  const line = progress ?? (current && (current.activeForm || current.content)) ?? '';
  const done = todos.filter((todo) => todo.status === 'completed').length;
  const far = current === undefined ? '' : ` (${done} of ${todos.length})`;
  return line === '' ? '' : `${excerpt(line, PROGRESS_LENGTH)}${far}`;
}

/** What a coordinator's session is at. */
function phaseOf({ phase }: AgentOverview): string {
  return phase === null ? '' : `phase ${phase}`;
}

function worktreeOf({ worktree }: AgentOverview): string {
  return worktree === null ? '' : `on ${printable(worktree.branch ?? worktree.path)}`;
}

/** What nobody known did to the checkout while it worked. */
function checkoutOf({ checkoutChanges }: AgentOverview): string {
  return checkoutChanges.length === 0 ? '' : `CHECKOUT CHANGED: ${printable(checkoutChanges.join('; '))}`;
}

/** Why it waits says more than the failure that made it wait. */
function activityOf({ status, activity }: AgentOverview, now: number): string {
  return status === 'waiting' && activity?.kind === 'retrying' ? '' : describeActivity(activity, now);
}

/** `Agent x5, Bash`. */
function countedNames(names: readonly string[]): string {
  const counts = Map.groupBy(names, (name) => name);
  return Array.from(counts, ([name, { length }]) => (length === 1 ? name : `${name} x${length}`)).join(', ');
}

function describeActivity(activity: AgentActivity | null, now: number): string {
  switch (activity?.kind) {
    case 'requesting':
      return `waiting for ${activity.model}, ${duration(now - activity.since)}`;
    case 'retrying':
      return `retrying after ${activity.code}`;
    case 'tools':
      return `running ${countedNames(activity.names)}, ${duration(now - activity.since)}`;
    case undefined:
      return '';
  }
}
