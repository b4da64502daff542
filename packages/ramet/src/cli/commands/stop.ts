/**
 * `ramet stop`: ends a session that another process runs, or one agent of it, and says what came of it. A session is
 * ended by a signal to its writer, an agent by a request that the writer finds (`journal/stop-requests.ts`).
 */
import { isProcessAlive, type ProcessIdentity, sightOf } from '../../journal/process-identity.ts';
import type { AgentOverview } from '../../journal/projections/status.ts';
import { listSessions } from '../../journal/session-list.ts';
import { livingWriter } from '../../journal/sessions.ts';
import { requestStop } from '../../journal/stop-requests.ts';
import { elapsedOf, systemClock } from '../../schema/clock.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { endOrphans } from '../../sdk/orphans.ts';
import { findPlace } from '../../sdk/place.ts';
import { statusOf } from '../../views/agent-label.ts';
import { parseTarget, type TargetView, viewAgents } from '../../views/session-target.ts';
import { tellDamage } from '../../views/session-view.ts';
import { EXIT, exitCodeOf } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';

const LOOK_AGAIN_MS = 50;
/** Tools that are ended get some seconds; what takes longer needs `--now`. */
const PATIENCE_MS = 20_000;
/** With `--now`: from the second signal to the one that nothing survives. */
const LAST_SIGNAL_AFTER_MS = 1_000;

export interface StopOptions {
  now?: boolean;
}

export async function stop(wanted: string | undefined, options: StopOptions, io: CommandIo): Promise<number> {
  using view = viewAgents(wanted ?? theRunningSession(io), findPlace(io).project);
  try {
    return await stopWhat(view, options, io);
  } finally {
    tellDamage(view, io);
  }
}

async function stopWhat(view: TargetView, options: StopOptions, io: CommandIo): Promise<number> {
  const { project, entry, agent } = view;
  const place = { project, session: entry.session };
  const writer = livingWriter(place);
  if (writer === null) return notRunning(view);
  const number = agent === null ? 1 : (parseTarget(agent).agent ?? 1);
  if (number > 1) return stopAgent(view, writer, number, io);
  const ended = await endWriter(view, writer, options, io);
  if (!ended) return unfinished(io, `session ${entry.session}`, `ramet stop ${entry.session} --now`);
  await endOrphans({ project });
  io.out(`${sessionLine(entry.session, io)}\n`);
  return EXIT.done;
}

/** Where nothing is named there is only one that can be meant. */
function theRunningSession(io: CommandIo): string {
  const running = listSessions(findPlace(io).project).filter(({ live }) => live);
  const [only] = running;
  if (only === undefined) {
    throw new UserMistake('not_running', 'no session of this directory runs: ramet ps lists those that did');
  }
  if (running.length === 1) return only.session;
  const ids = running.map(({ session }) => session).join(', ');
  throw new UserMistake('session_ambiguous', `${running.length} sessions run: say which of ${ids}`);
}

/** What a killed process has left running is ended all the same. */
async function notRunning({ project, entry, agents }: TargetView): Promise<never> {
  const [main] = agents;
  const ended = await endOrphans({ project });
  const state = main === undefined ? 'it never began' : `it is ${statusOf(main, Date.now())}`;
  const left = ended.length === 0 ? '' : `; ended ${ended.length} of its commands that were still running`;
  const next = main?.status === 'interrupted' ? `; resume with: ramet resume ${entry.session}` : '';
  throw new UserMistake('not_running', `session ${entry.session} does not run: ${state}${left}${next}`);
}

async function endWriter(
  { writerAlive }: TargetView,
  writer: ProcessIdentity,
  { now }: StopOptions,
  io: CommandIo,
): Promise<boolean> {
  signal(writer, 'SIGTERM');
  if (!now) return waitFor(() => !writerAlive(), PATIENCE_MS, io);
  // The second is not waited for by whoever got the first.
  if (await waitFor(() => !writerAlive(), LOOK_AGAIN_MS, io)) return true;
  signal(writer, 'SIGTERM');
  if (await waitFor(() => !writerAlive(), LAST_SIGNAL_AFTER_MS, io)) return true;
  signal(writer, 'SIGKILL');
  return waitFor(() => !writerAlive(), PATIENCE_MS, io);
}

/** To that process alone: a pid may be somebody else's by now. */
function signal(writer: ProcessIdentity, name: NodeJS.Signals): void {
  const sight = sightOf(writer);
  if (sight === 'hidden' || sight === 'elsewhere') {
    const where = sight === 'hidden' ? 'in another container or pid namespace' : 'on another machine';
    throw new UserMistake(
      'not_reachable',
      `cannot end process ${writer.pid}: it runs ${where}; end it there`,
    );
  }
  if (writer.started === null) {
    const reason = 'this system does not tell whether it is still the same process';
    throw new UserMistake(
      'not_provable',
      `cannot end process ${writer.pid}: ${reason}; kill ${writer.pid} does`,
    );
  }
  if (!isProcessAlive(writer)) return;
  try {
    process.kill(writer.pid, name);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return;
    throw new UserMistake('not_permitted', `cannot end process ${writer.pid}: it belongs to somebody else`, {
      cause: error,
    });
  }
}

async function stopAgent(
  view: TargetView,
  writer: ProcessIdentity,
  number: number,
  io: CommandIo,
): Promise<number> {
  const { project, entry } = view;
  const before = overviewOf(view);
  if (!isUnderWay(before)) {
    const reason = `agent ${before.id} does not run: it is ${statusOf(before, Date.now())}`;
    throw new UserMistake('not_running', reason);
  }
  const takeBack = requestStop({ project, session: entry.session }, number, writer);
  const now = (): AgentOverview => {
    using current = viewAgents(before.id, findPlace(io).project);
    return overviewOf(current);
  };
  const ended = await waitFor(() => !isUnderWay(now()), PATIENCE_MS, io);
  takeBack();
  if (!ended) return unfinished(io, `agent ${before.id}`, `ramet stop ${entry.session}`);
  io.out(`agent ${before.id} is ${statusOf(now(), Date.now())}\n`);
  return EXIT.done;
}

function overviewOf({ agents, agent }: TargetView): AgentOverview {
  const found = agents.find(({ id }) => id === agent);
  if (found === undefined) throw new UserMistake('agent_unknown', `there is no agent ${agent}`);
  return found;
}

function isUnderWay({ status }: AgentOverview): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting' || status === 'blocked';
}

/** False when it has not come true in that time, or the user does not wait for it. */
async function waitFor(isTrue: () => boolean, withinMs: number, { signal }: CommandIo): Promise<boolean> {
  const until = elapsedOf(systemClock) + withinMs;
  for (;;) {
    if (isTrue()) return true;
    if (elapsedOf(systemClock) >= until || signal.aborted) return false;
    await systemClock.sleep(LOOK_AGAIN_MS, signal);
  }
}

function unfinished(io: CommandIo, what: string, next: string): number {
  if (io.signal.aborted) return exitCodeOf({ status: 'interrupted', cause: String(io.signal.reason) });
  io.note(`${what} was told to end and has not ended yet: wait, or end it with ${next}`);
  return EXIT.failed;
}

/** `session k3v9x2ab has ended: 5 agents, 3 interrupted, 2 done; resume with: ramet resume k3v9x2ab`. */
function sessionLine(session: string, io: CommandIo): string {
  using view = viewAgents(session, findPlace(io).project);
  const { length } = view.agents;
  const counts = Map.groupBy(view.agents, ({ status }) => status);
  const states = Array.from(counts, ([status, { length: count }]) =>
    counts.size === 1 ? status : `${count} ${status}`,
  );
  const agents = [`${length} agent${length === 1 ? '' : 's'}`, ...states].join(', ');
  const resumable = view.agents[0]?.status === 'interrupted' ? `; resume with: ramet resume ${session}` : '';
  return `session ${session} has ended: ${agents}${resumable}`;
}
