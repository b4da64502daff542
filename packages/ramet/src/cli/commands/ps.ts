/** `ramet ps`: sessions of this repository, newest first, each with its agents as a tree. */

import type { AgentOverview } from '../../journal/projections/status.ts';
import { findPlace } from '../../sdk/place.ts';
import { agentTable } from '../../views/agent-table.ts';
import { agentTree } from '../../views/agent-tree.ts';
import { foldSessions } from '../../views/session-view.ts';
import type { CommandIo } from '../io.ts';

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const sessions = foldSessions(findPlace(io).project, options.limit, io, ({ agents, entry }) =>
    agentTree(agents.map((agent) => titled(agent, entry.title))),
  );
  const places = sessions.flat();
  if (options.json) {
    io.out(`${JSON.stringify(places.map(({ agent }) => agent))}\n`);
    return;
  }
  if (places.length === 0) io.out('no sessions of this directory yet: start one with ramet -p PROMPT\n');
  else io.out(agentTable(places, io.columns, Date.now()));
}

/** The main agent is for what the session is for. */
function titled(agent: AgentOverview, title: string | null): AgentOverview {
  return agent.parent === null && agent.description === null ? { ...agent, description: title } : agent;
}
