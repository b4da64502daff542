/** `ramet stop`: ends a session that another process runs, or one agent of it, and says what came of it. */
import { type StopOutcome, stop as stopWork } from '../../sdk/calls/stop.ts';
import { statusOf } from '../../views/agent-label.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { type CommandIo, callFrom, EXIT, exitCodeOf } from '../io.ts';

export async function stop(
  wanted: string | undefined,
  { json, ...flags }: { now?: boolean; json?: boolean },
  io: CommandIo,
): Promise<number> {
  const outcome = await stopWork(wanted, { ...flags, ...callFrom(io) });
  if (json) io.out(jsonLine(outcome));
  if (!outcome.ended) return unfinished(outcome, io);
  if (!json) io.out(`${outcome.agent === null ? sessionLine(outcome) : agentLine(outcome)}\n`);
  return EXIT.done;
}

function unfinished({ session, agent }: StopOutcome, io: CommandIo): number {
  if (io.signal.aborted) return exitCodeOf({ status: 'interrupted', cause: String(io.signal.reason) });
  const what = agent === null ? `session ${session}` : `agent ${agent}`;
  const next = agent === null ? `ramet stop ${session} --now` : `ramet stop ${session}`;
  io.note(`${what} was told to end and has not ended yet: wait, or end it with ${next}`);
  return EXIT.failed;
}

function agentLine({ agent, agents }: StopOutcome): string {
  return `agent ${agent} is ${agents.map((one) => statusOf(one, Date.now())).join()}`;
}

/** `session k3v9x2ab has ended: 5 agents, 3 interrupted, 2 done; resume with: ramet resume k3v9x2ab`. */
function sessionLine({ session, agents, resume }: StopOutcome): string {
  const { length } = agents;
  const counts = Map.groupBy(agents, ({ status }) => status);
  const states = Array.from(counts, ([status, { length: count }]) =>
    counts.size === 1 ? status : `${count} ${status}`,
  );
  const counted = [`${length} agent${length === 1 ? '' : 's'}`, ...states].join(', ');
  const resumable = resume === null ? '' : `; resume with: ${resume}`;
  return `session ${session} has ended: ${counted}${resumable}`;
}
