/** `ramet ps`: sessions of this repository, newest first, each with its agents as a tree. */
import { agentTree } from '../../journal/projections/agent-tree.ts';
import type { AgentActivity, AgentOverview } from '../../journal/projections/status.ts';
import { totalTokens } from '../../schema/usage.ts';
import { purposeOf } from '../agent-label.ts';
import { dollars, duration, excerpt, table, tokens } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { foldSessions, noteUnreadable } from '../session-view.ts';

const HEADINGS = [
  'AGENT',
  'TYPE',
  'STATUS',
  'TURNS',
  'TOKENS',
  'COST',
  'LAST EVENT',
  'MODEL',
  'FOR',
  'DOING',
];
const PURPOSE_LENGTH = 32;

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const sessions = foldSessions(options.limit, io, noteUnreadable(io), ({ agents }) => agentTree(agents));
  const places = sessions.flat();
  if (options.json) {
    io.out(`${JSON.stringify(places.map(({ agent }) => agent))}\n`);
    return;
  }
  if (places.length === 0) io.out('no sessions of this directory yet: start one with ramet -p PROMPT\n');
  else io.out(table([HEADINGS, ...places.map(({ agent, level }) => row(agent, level, Date.now()))]));
}

function row(agent: AgentOverview, level: number, now: number): string[] {
  return [
    '  '.repeat(level) + agent.id,
    agent.type,
    statusText(agent),
    String(agent.turns),
    tokens(totalTokens(agent.usage)),
    dollars(agent.costUsd),
    `${duration(now - agent.lastEventAt)} ago`,
    agent.model,
    excerpt(purposeOf(agent), PURPOSE_LENGTH),
    [agent.background ? 'in the background' : '', describeActivity(agent.activity, now)]
      .filter(Boolean)
      .join(', '),
  ];
}

function statusText({ status, cause, stalledMs }: AgentOverview): string {
  const stalled = stalledMs === null ? '' : ' (stalled)';
  return `${cause === null ? status : `${status}: ${cause}`}${stalled}`;
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
