/** `ramet ps`: sessions of this repository, newest first, each with its agents as a tree. */
import { status } from '../../sdk/calls/status.ts';
import { agentTable } from '../../views/agent-table.ts';
import { type CommandIo, callFrom } from '../io.ts';

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const places = status({ ...callFrom(io), limit: options.limit }).flatMap(({ agents }) => agents);
  if (options.json) {
    io.out(`${JSON.stringify(places.map(({ agent }) => agent))}\n`);
    return;
  }
  if (places.length === 0) io.out('no sessions of this directory yet: start one with ramet -p PROMPT\n');
  else io.out(agentTable(places, io.columns, Date.now()));
}
