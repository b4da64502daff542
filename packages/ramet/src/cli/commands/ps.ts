/** `ramet ps`: sessions of this repository, newest first, each with its agents as a tree. */
import { status, whyNone } from '../../sdk/calls/status.ts';
import { agentTable } from '../../views/agent-table.ts';
import { type CommandIo, callFrom } from '../io.ts';

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const sessions = status({ ...callFrom(io), limit: options.limit });
  const places = sessions.flatMap(({ agents }) => agents);
  if (options.json) {
    io.out(`${JSON.stringify(places.map(({ agent }) => agent))}\n`);
    return;
  }
  if (places.length === 0) io.out(`${whyNone(callFrom(io), sessions.length)}\n`);
  else io.out(agentTable(places, io.columns, Date.now()));
}
