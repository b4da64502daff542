/** `ramet ps` as a table: every column where there is room, else what matters most, so that no line breaks. */
import type { TreePlace } from '../journal/projections/agent-tree.ts';
import type { AgentActivity, AgentOverview } from '../journal/projections/status.ts';
import { totalTokens } from '../schema/usage.ts';
import { purposeOf, shortId, statusOf } from './agent-label.ts';
import { dollars, duration, excerpt, table, tokens } from './format.ts';
import { displayWidth, fitText } from './interactive/display-width.ts';

type PlacedAgent = TreePlace<AgentOverview>;

const PURPOSE_LENGTH = 32;
const STATUS_LENGTH = 18;

/** `columns` is the width of the screen, null where there is none. */
export function agentTable(places: readonly PlacedAgent[], columns: number | null, now: number): string {
  const whole = table([WHOLE, ...places.map((place) => wholeRow(place, now))]);
  if (columns === null || whole.split('\n').every((line) => displayWidth(line) <= columns)) return whole;
  const rows = table([SHORT, ...places.map((place) => shortRow(place, now))]);
  return rows
    .split('\n')
    .map((line) => fitText(line, columns))
    .join('\n');
}

const WHOLE = ['AGENT', 'TYPE', 'STATUS', 'TURNS', 'TOKENS', 'COST', 'LAST EVENT', 'MODEL', 'FOR', 'DOING'];

function wholeRow({ agent, level }: PlacedAgent, now: number): string[] {
  return [
    '  '.repeat(level) + agent.id,
    agent.type,
    statusText(agent, now),
    String(agent.turns),
    tokens(totalTokens(agent.usage)),
    dollars(agent.costUsd),
    `${duration(now - agent.lastEventAt)} ago`,
    agent.model,
    excerpt(purposeOf(agent), PURPOSE_LENGTH),
    doing(agent, now),
  ];
}

const SHORT = ['AGENT', 'TYPE', 'STATUS', 'COST', 'LAST', 'DOING, FOR'];

function shortRow({ agent, level }: PlacedAgent, now: number): string[] {
  return [
    '  '.repeat(level) + (level === 0 ? agent.id : shortId(agent.id)),
    agent.type,
    excerpt(statusText(agent, now), STATUS_LENGTH),
    dollars(agent.costUsd),
    duration(now - agent.lastEventAt),
    [describeActivity(agent.activity, now), purposeOf(agent)].filter(Boolean).join('; '),
  ];
}

function statusText(agent: AgentOverview, now: number): string {
  return `${statusOf(agent, now)}${agent.stalledMs === null ? '' : ' (stalled)'}`;
}

function doing({ background, activity }: AgentOverview, now: number): string {
  return [background ? 'in the background' : '', describeActivity(activity, now)].filter(Boolean).join(', ');
}

function describeActivity(activity: AgentActivity | null, now: number): string {
  switch (activity?.kind) {
    case 'requesting':
      return `waiting for ${activity.model}, ${duration(now - activity.since)}`;
    case 'retrying':
      return `retrying after ${activity.code}`;
    case 'tools':
      return `running ${activity.names.join(', ')}, ${duration(now - activity.since)}`;
    case undefined:
      return '';
  }
}
