/**
 * Runs of the operator, seen from another process: which one is meant, what it is now, and asking it for something. Where
 * nobody runs it, what is asked for waits until it is resumed.
 */
import { runGit } from '../../../git/run-git.ts';
import { agentStatuses, statusBoardOf } from '../../../journal/projections/status.ts';
import { livingWriter, openReader } from '../../../journal/sessions.ts';
import { allowedActions, permitted, refusalOf } from '../../../operator/run/actions.ts';
import { foldOperator, OPERATOR_EVENTS } from '../../../operator/run/apply-operator-event.ts';
import { type OperatorState, type TaskState, taskOf, tasksOf } from '../../../operator/run/operator-state.ts';
import { actorsOf } from '../../../operator/run/task-actors.ts';
import { elapsedOf, systemClock } from '../../../schema/clock.ts';
import { UserMistake } from '../../../schema/errors.ts';
import type { OperatorAction, OperatorRun } from '../../../schema/operator-events.ts';
import { childEnvironment } from '../../../system/child-environment.ts';
import type { ProcessIdentity } from '../../../system/processes/process-identity.ts';
import { type CallOptions, callerOf } from '../../calls/caller.ts';
import { refuseAgents } from '../../calls/calling-agent.ts';
import { findPlace, type OperatorPlace } from '../../place.ts';
import { withOpenCosts } from '../open-costs.ts';
import { chooseRun, noRun, type WantedOfRun } from './choose-run.ts';
import { type Asker, putRequest, takeAnswer, waitingActions, withdrawRequest } from './operator-requests.ts';

const LOOK_AGAIN_MS = 50;
const PATIENCE_MS = 15_000;

export interface FoundRun {
  place: OperatorPlace;
  run: OperatorRun;
  state: OperatorState;
  /** Null where nobody runs it. */
  writer: ProcessIdentity | null;
}

export interface RunCallOptions extends CallOptions {
  /** A session or the beginning of its id; absent for the only run that can be meant. */
  session?: string | undefined;
}

/** The run that is meant. */
export function findRun(options: RunCallOptions = {}, wanted: WantedOfRun = null): FoundRun {
  const { project } = findPlace(callerOf(options));
  const session = chooseRun(project, options.session, wanted);
  const place = { project, session };
  const writer = livingWriter(place);
  const reader = openReader({ ...place, forgiving: true });
  try {
    const state = foldOperator(reader.events({ types: OPERATOR_EVENTS }));
    if (state.run === null) throw noRun(session);
    return { place, run: state.run, state, writer };
  } finally {
    reader.close();
  }
}

/** The same for a view: with what agents have cost that have not ended. */
function findBilledRun(options: RunCallOptions): FoundRun {
  const found = findRun(options);
  const { place, writer, state } = found;
  const agents = (): ReturnType<typeof agentStatuses> => {
    const reader = openReader({ ...place, forgiving: true });
    try {
      return agentStatuses(statusBoardOf(reader.events()), { writerAlive: writer !== null });
    } finally {
      reader.close();
    }
  };
  return { ...found, state: withOpenCosts(state, agents) };
}

/** Also with what has happened to the target since: a person may have taken a result that waited. */
export async function currentRun(options: RunCallOptions = {}): Promise<FoundRun> {
  const found = findBilledRun(options);
  const { landing } = found.state;
  if (landing === null || landing.state === 'moved') return found;
  const { cwd, env } = callerOf(options);
  const ref = `refs/heads/${found.run.target}`;
  const call = { cwd, env: childEnvironment(env) };
  const { code } = await runGit(['merge-base', '--is-ancestor', landing.commit, ref], call);
  if (code !== 0) return found;
  const moved = { ...landing, state: 'moved', after: landing.commit, message: null } as const;
  return { ...found, state: { ...found.state, landing: moved } };
}

/** A run for programs: plain values. */
export interface RunOverview extends Pick<OperatorState, 'status' | 'cause' | 'message' | 'landing'> {
  session: string;
  /** Whether a process runs it now. */
  isRunning: boolean;
  run: OperatorRun;
  /** In the order of the file. */
  tasks: readonly TaskState[];
}

export function runOverview(options: RunCallOptions = {}): RunOverview {
  const { place, run, state, writer } = findBilledRun(options);
  const { status, cause, message, landing } = state;
  const known = { status, cause, message, landing, tasks: tasksOf(state) };
  return { session: place.session, isRunning: writer !== null, run, ...known };
}

export interface AskedOutcome {
  session: string;
  /** Why it was refused, and what is possible; null when it was carried out, or waits. */
  refused: string | null;
  /** Nobody runs it: it is done when the run is resumed. */
  isPending: boolean;
}

/** Waits for the answer of the process that runs it. */
export async function askOperator(
  action: OperatorAction,
  options: RunCallOptions = {},
  by: Asker = 'person',
): Promise<AskedOutcome> {
  const { signal, env } = callerOf(options);
  if (by === 'person') refuseAgents(`ramet operate ${action.kind}`, env);
  const { place, state, writer } = findRun(options, wantedOf(action));
  const { session } = place;
  // A session may outlive its run: nobody takes requests any more.
  if (writer === null || state.status === 'ended') return leaveRequest(action, place, state, by);
  const name = putRequest(place, action, { writer, now: systemClock.now(), by });
  const until = elapsedOf(systemClock) + PATIENCE_MS;
  for (;;) {
    const answer = takeAnswer(place, name);
    if (answer !== null) return { session, ...answer, isPending: false };
    if (livingWriter(place) === null || elapsedOf(systemClock) >= until || signal.aborted) break;
    await systemClock.sleep(LOOK_AGAIN_MS, signal);
  }
  const answer = takeAnswer(place, name);
  if (answer !== null) return { session, ...answer, isPending: false };
  const wasTaken = !withdrawRequest(place, name);
  const what = wasTaken ? 'took the request and has not answered' : 'did not take the request';
  const ended = livingWriter(place) === null ? ' before it ended' : ` in ${PATIENCE_MS / 1_000} seconds`;
  throw new UserMistake(
    'no_answer',
    `the operator of session ${session} ${what}${ended}: see ramet operate status --session ${session}`,
  );
}

function wantedOf(action: OperatorAction): WantedOfRun {
  return action.kind === 'add' ? { kind: 'add', what: action.tasks[0]?.title ?? '' } : action;
}

/** Approval of the commit that a task has now, by the user that git knows here. */
export async function approval(task: string, options: RunCallOptions = {}): Promise<OperatorAction> {
  const { state } = findRun(options, { kind: 'approve', task });
  const { cwd, env } = callerOf(options);
  const call = { cwd, env: childEnvironment(env) };
  const asked = ['user.name', 'user.email'].map((key) => runGit(['config', '--get', key], call));
  const [name = '', email = ''] = (await Promise.all(asked)).map(({ stdout }) => stdout.trim());
  const who = [name, email === '' ? '' : `<${email}>`].filter(Boolean).join(' ');
  const commit = taskOf(state, task)?.attempts.at(-1)?.commit ?? '';
  return { kind: 'approve', task, commit, who: (who || (env.USER ?? 'a person')).slice(0, 200) };
}

function leaveRequest(
  action: OperatorAction,
  place: OperatorPlace,
  state: OperatorState,
  by: Asker,
): AskedOutcome {
  const { session } = place;
  const { kind } = action;
  if (kind === 'pause' || kind === 'stop' || kind === 'resume')
    throw new UserMistake(
      'not_running',
      `no operator runs in session ${session}: there is nothing to ${kind}; run what is left with: ramet operate --resume ${session}`,
    );
  const refused =
    refusalOf(action, state, actorsOf(state, tasksOf(state)), by) ?? answeredBefore(action, place);
  if (refused === null) putRequest(place, action, { writer: null, now: systemClock.now(), by });
  return { session, refused, isPending: refused === null };
}

/** One answer is enough, and the second might say the contrary. */
function answeredBefore(action: OperatorAction, place: OperatorPlace): string | null {
  if (action.kind !== 'answer') return null;
  const isSame = (one: OperatorAction): one is typeof action =>
    one.kind === 'answer' && one.question === action.question;
  const given = waitingActions(place).find(isSame);
  return given === undefined
    ? null
    : `${action.question} was answered with ${given.answer}, which counts when the run is resumed: ramet operate --resume ${place.session}`;
}

/** What a model may ask of it now, about one task or about the run. */
export function allowedToModel({ state, writer }: FoundRun, task?: TaskState): readonly string[] {
  if (task === undefined)
    return writer === null ? [] : permitted(allowedActions(state, actorsOf(state, [])), 'model');
  return permitted(allowedActions(state, actorsOf(state, [task]), task.task.id), 'model');
}
