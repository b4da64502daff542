/** `ramet ps`: sessions and agents of this repository, newest first. */
import type { AgentActivity, AgentOverview } from '../../journal/projections/status.ts';
import { describeError } from '../../schema/errors.ts';
import { totalTokens } from '../../schema/usage.ts';
import { dollars, duration, table, tokens } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { viewSessions } from '../session-view.ts';

const HEADINGS = ['AGENT', 'TYPE', 'STATUS', 'TURNS', 'TOKENS', 'COST', 'LAST EVENT', 'MODEL', 'DOING'];

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const views = viewSessions(options.limit, io, ({ session }, error) => {
    io.note(`session ${session} cannot be read: ${describeError(error)}`);
  });
  const agents = views.flatMap((view) => view.agents);
  for (const view of views) view[Symbol.dispose]();
  if (options.json) {
    io.out(`${JSON.stringify(agents)}\n`);
    return;
  }
  if (agents.length === 0) io.out('no sessions of this directory yet: start one with ramet -p PROMPT\n');
  else io.out(table([HEADINGS, ...agents.map((agent) => row(agent, Date.now()))]));
}

function row(agent: AgentOverview, now: number): string[] {
  return [
    agent.id,
    agent.type,
    agent.cause === null ? agent.status : `${agent.status}: ${agent.cause}`,
    String(agent.turns),
    tokens(totalTokens(agent.usage)),
    dollars(agent.costUsd),
    `${duration(now - agent.lastEventAt)} ago`,
    agent.model,
    describeActivity(agent.activity, now),
  ];
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
