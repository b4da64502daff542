/** `ramet ps`: sessions of this repository, newest first, each with its agents as a tree. */
import { agentTree } from '../../journal/projections/agent-tree.ts';
import { agentTable } from '../agent-table.ts';
import type { CommandIo } from '../io.ts';
import { foldSessions, noteUnreadable } from '../session-view.ts';

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const sessions = foldSessions(options.limit, io, noteUnreadable(io), ({ agents }) => agentTree(agents));
  const places = sessions.flat();
  if (options.json) {
    io.out(`${JSON.stringify(places.map(({ agent }) => agent))}\n`);
    return;
  }
  if (places.length === 0) io.out('no sessions of this directory yet: start one with ramet -p PROMPT\n');
  else io.out(agentTable(places, io.columns, Date.now()));
}
