/**
 * Ends a session, or one agent of it, and says what came of it. A session of this process is closed from within, one of
 * another process by a signal to its writer, an agent by a request that the writer finds (`sdk/stop-requests.ts`).
 */
import type { AgentOverview } from '../../journal/projections/status.ts';
import { sessionPath } from '../../journal/session-file.ts';
import { listSessions } from '../../journal/session-list.ts';
import { livingWriter, stateOfWriter } from '../../journal/sessions.ts';
import { elapsedOf, systemClock } from '../../schema/clock.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import type { AgentId, SessionId } from '../../schema/ids.ts';
import { isUnderWay } from '../../schema/status.ts';
import {
  isProcessAlive,
  type ProcessIdentity,
  sightOf,
  thisProcess,
} from '../../system/processes/process-identity.ts';
import { statusOf } from '../../views/agent-label.ts';
import { parseTarget, type TargetView, viewAgents } from '../../views/session-target.ts';
import { tellDamage } from '../../views/session-view.ts';
import { endOrphans } from '../leftovers.ts';
import { findPlace, resumeCommand } from '../place.ts';
import { ownSessions, requestStop } from '../stop-requests.ts';
import { type Caller, type CallOptions, callerOf } from './caller.ts';

const LOOK_AGAIN_MS = 50;
/** Tools that are ended get some seconds; what takes longer needs `now`. */
const PATIENCE_MS = 20_000;
/** With `now`: from the second signal to the one that nothing survives. */
const LAST_SIGNAL_AFTER_MS = 1_000;

export interface StopOptions extends CallOptions {
  /** Do not wait for tools: a second signal, then one that nothing survives. */
  now?: boolean;
}

export interface StopOutcome {
  session: SessionId;
  /** Null when all of the session was meant. */
  agent: AgentId | null;
  /** False when it was told to end and has not yet, or the caller's signal ended the wait. */
  ended: boolean;
  /** All agents of the session, or the one that was meant, as they are now. */
  agents: readonly AgentOverview[];
  /** The command that resumes it; null if nothing of it was interrupted. */
  resume: string | null;
}

/** `wanted` is a session or an agent of it; the one that runs here when absent. */
export async function stop(wanted?: string, options: StopOptions = {}): Promise<StopOutcome> {
  const caller = callerOf(options);
  const { project } = findPlace(caller);
  using view = viewAgents(wanted ?? theRunningSession(project), project);
  try {
    return await stopWhat(view, options.now ?? false, caller);
  } finally {
    tellDamage(view, caller);
  }
}

async function stopWhat(view: TargetView, now: boolean, caller: Caller): Promise<StopOutcome> {
  const { project, entry, agent } = view;
  const { session } = entry;
  const writer = livingWriter({ project, session });
  if (writer === null) return notRunning(view);
  if (stateOfWriter(sessionPath(project, session), writer) === 'copied') throw isCopy(session, writer);
  const number = agent === null ? 1 : (parseTarget(agent).agent ?? 1);
  if (number > 1) return stopAgent(view, writer, number, caller);
  const ended = isThisProcess(writer)
    ? await endOwn(view, now, caller)
    : await endWriter(view, writer, now, caller);
  if (!ended) return { session, agent: null, ended, agents: view.agents, resume: null };
  await endOrphans({ project });
  using after = viewAgents(session, project);
  return {
    session,
    agent: null,
    ended,
    agents: after.agents,
    resume: resumeOf(project, session, after.agents),
  };
}

/** Who asks here means this session, and that process writes the original. */
function isCopy(session: SessionId, { pid }: ProcessIdentity): UserMistake {
  return new UserMistake(
    'not_running',
    `session ${session} is a copy of one that process ${pid} is writing, and does not run here: use ramet stop with the RAMET_HOME of the original`,
  );
}

/** Where nothing is named there is only one that can be meant. */
function theRunningSession(project: string): string {
  const running = listSessions(project).filter(({ live }) => live);
  const [only] = running;
  if (only === undefined) {
    throw new UserMistake('not_running', 'no session of this directory runs: ramet ps lists those that did');
  }
  if (running.length === 1) return only.session;
  const ids = running.map(({ session }) => session).join(', ');
  throw new UserMistake('session_ambiguous', `${running.length} sessions run: say which of ${ids}`);
}

/** What a killed process has left running is still ended. */
async function notRunning({ project, entry, agents }: TargetView): Promise<never> {
  const [main] = agents;
  const ended = await endOrphans({ project });
  const state = main === undefined ? 'it never began' : `it is ${statusOf(main, Date.now())}`;
  const left = ended.length === 0 ? '' : `; ended ${ended.length} of its commands that were still running`;
  const command = resumeOf(project, entry.session, agents);
  const next = command === null ? '' : `; resume with: ${command}`;
  throw new UserMistake('not_running', `session ${entry.session} does not run: ${state}${left}${next}`);
}

function resumeOf(project: string, session: SessionId, [main]: readonly AgentOverview[]): string | null {
  return main?.status === 'interrupted' ? resumeCommand({ project, session }) : null;
}

function isThisProcess({ pid, started }: ProcessIdentity): boolean {
  const own = thisProcess();
  return pid === own.pid && started === own.started;
}

/** Never by a signal: it would end the caller, and every session that it has besides. */
async function endOwn(
  { project, entry: { session } }: TargetView,
  now: boolean,
  caller: Caller,
): Promise<boolean> {
  const own = ownSessions.find(sessionPath(project, session));
  if (own === undefined) {
    const reason = 'this process writes it, and it is not open as a session';
    throw new UserMistake(
      'not_stoppable',
      `cannot stop session ${session}: ${reason}; wait until that is done`,
    );
  }
  const hurry = now ? systemClock.sleep(LAST_SIGNAL_AFTER_MS, caller.signal) : new Promise(() => {});
  let isOver = false;
  const ending = own.stop(hurry).finally(() => {
    isOver = true;
  });
  ending.catch(() => {}); // told below, unless nobody waits for it any more
  if (!(await waitFor(() => isOver, PATIENCE_MS, caller))) return false;
  await ending;
  return true;
}

async function endWriter(
  { writerAlive }: TargetView,
  writer: ProcessIdentity,
  now: boolean,
  caller: Caller,
): Promise<boolean> {
  signal(writer, 'SIGTERM');
  if (!now) return waitFor(() => !writerAlive(), PATIENCE_MS, caller);
  // A process that got the first signal does not wait for the second.
  if (await waitFor(() => !writerAlive(), LOOK_AGAIN_MS, caller)) return true;
  signal(writer, 'SIGTERM');
  if (await waitFor(() => !writerAlive(), LAST_SIGNAL_AFTER_MS, caller)) return true;
  signal(writer, 'SIGKILL');
  return waitFor(() => !writerAlive(), PATIENCE_MS, caller);
}

/** To that process alone: the pid may belong to another by now. */
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
    throw new UserMistake('not_permitted', `cannot end process ${writer.pid}: it belongs to another user`, {
      cause: error,
    });
  }
}

async function stopAgent(
  view: TargetView,
  writer: ProcessIdentity,
  number: number,
  caller: Caller,
): Promise<StopOutcome> {
  const { project, entry } = view;
  const before = overviewOf(view);
  if (!isUnderWay(before.status)) {
    const reason = `agent ${before.id} does not run: it is ${statusOf(before, Date.now())}`;
    throw new UserMistake('not_running', reason);
  }
  const takeBack = requestStop({ project, session: entry.session }, number, writer);
  const now = (): AgentOverview => {
    using current = viewAgents(before.id, project);
    return overviewOf(current);
  };
  const ended = await waitFor(() => !isUnderWay(now().status), PATIENCE_MS, caller);
  takeBack();
  return { session: entry.session, agent: before.id, ended, agents: [now()], resume: null };
}

function overviewOf({ agents, agent }: TargetView): AgentOverview {
  const found = agents.find(({ id }) => id === agent);
  if (found === undefined) throw new UserMistake('agent_unknown', `there is no agent ${agent}`);
  return found;
}

/** False when it has not come true in that time, or the user does not wait for it. */
async function waitFor(
  isTrue: () => boolean,
  withinMs: number,
  { signal: stopped }: Caller,
): Promise<boolean> {
  const until = elapsedOf(systemClock) + withinMs;
  for (;;) {
    if (isTrue()) return true;
    if (elapsedOf(systemClock) >= until || stopped.aborted) return false;
    await systemClock.sleep(LOOK_AGAIN_MS, stopped);
  }
}
