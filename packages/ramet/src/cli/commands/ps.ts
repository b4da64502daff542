/** `ramet ps`: sessions of this repository, newest first, each with its agents as a tree. */
import { status, whyNone } from '../../sdk/calls/status.ts';
import { agentTable } from '../../views/agent-table.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintTable, styleFor } from '../output/painted.ts';

export function ps(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const sessions = status({ ...callFrom(io), limit: options.limit });
  const places = sessions.flatMap(({ agents }) => agents);
  if (options.json) {
    io.out(jsonLine(places.map(({ agent }) => agent)));
    return;
  }
  if (places.length === 0) io.out(`${whyNone(callFrom(io), sessions.length)}\n`);
  else io.out(paintTable(agentTable(places, io.columns, Date.now()), styleFor(io)));
}
