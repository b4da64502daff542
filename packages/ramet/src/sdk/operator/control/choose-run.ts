/**
 * Which run of this repository is meant. Task ids are the same in many runs, so what is asked without a session is carried out
 * only if one run alone can be meant; otherwise the refusal has the exact command for each.
 */
import { existsSync } from 'node:fs';
import { findSession, listSessions } from '../../../journal/session-list.ts';
import { allowedActions } from '../../../operator/run/actions.ts';
import { answerCommands, operateCommand } from '../../../operator/run/operate-command.ts';
import { type OperatorState, taskOf, tasksOf } from '../../../operator/run/operator-state.ts';
import { actorsOf } from '../../../operator/run/task-actors.ts';
import { UserMistake } from '../../../schema/errors.ts';
import type { OperatorAction } from '../../../schema/operator-events.ts';
import { isRunWhole, summaryOf } from '../../../views/operator/run-summary.ts';
import { operatorDirectory } from '../../place.ts';
import { recordedRun } from '../recorded-runs.ts';

/** What is wanted of a run: an action; to look at it, if that is null. */
export type WantedOfRun =
  | Exclude<OperatorAction, { kind: 'add' | 'approve' }>
  | { kind: 'add'; what: string }
  | { kind: 'approve'; task: string }
  | null;

export function chooseRun(project: string, wanted: string | undefined, action: WantedOfRun): string {
  const isRun = (session: string): boolean => existsSync(operatorDirectory({ project, session }));
  if (wanted !== undefined) {
    const { session } = findSession(project, wanted);
    if (!isRun(session)) throw noRun(session);
    return session;
  }
  const runs = listSessions(project).filter(({ session }) => isRun(session));
  const live = runs.filter((entry) => entry.live);
  const usual = live[0] ?? runs[0];
  if (usual === undefined)
    throw new UserMistake('no_run', 'no operator has run in this repository: ramet operate FILE starts one');
  if (runs.length === 1) return usual.session;
  const found = (isOfAll(action) ? live : runs)
    .map(({ session, live }) => ({ session, live, state: recordedRun(project, session) }))
    .filter(({ session, state }) => isMeant(state, action, session === usual.session));
  if (found.length > 1) throw ambiguous(found, action);
  return found[0]?.session ?? usual.session;
}

type OfAll = null | { kind: 'pause' | 'resume' | 'stop' };

/** It is about a run as a whole, and about one that runs now, if there is one. */
function isOfAll(action: WantedOfRun): action is OfAll {
  return action === null || action.kind === 'pause' || action.kind === 'resume' || action.kind === 'stop';
}

function isMeant(state: OperatorState, action: WantedOfRun, isUsual: boolean): boolean {
  if (state.run === null) return false;
  if (isOfAll(action)) return true;
  if (action.kind === 'add') return isUsual || !isRunWhole(state);
  if (action.kind === 'answer')
    return tasksOf(state).some(({ question }) => question?.id === action.question);
  const task = taskOf(state, action.task);
  if (task === undefined) return false;
  return allowedActions(state, actorsOf(state, [task]), action.task).includes(action.kind);
}

interface Candidate {
  session: string;
  live: boolean;
  state: OperatorState;
}

const MOST_SHOWN = 10;

function ambiguous(candidates: readonly Candidate[], action: WantedOfRun): UserMistake {
  const shown = candidates.slice(0, MOST_SHOWN).map(({ state, live }) => {
    const { done, total } = summaryOf(state);
    const facts = `${state.run?.file ?? 'tasks'} into ${state.run?.target}, ${done} of ${total} done${live ? ', runs now' : ''}`;
    return `${commandFor(state, action)} (${facts})`;
  });
  const more = candidates.length - shown.length;
  const rest = more > 0 ? [`${more} older ones (ramet sessions)`] : [];
  const head = `${candidates.length} runs of this repository could be meant: name one with --session`;
  return new UserMistake('session_ambiguous', `${head}: ${[...shown, ...rest].join('; ')}`);
}

function commandFor({ run }: OperatorState, action: WantedOfRun): string {
  if (action === null) return operateCommand(run, 'status');
  switch (action.kind) {
    case 'add':
      return operateCommand(run, 'add', action.what);
    case 'stop':
      return operateCommand(run, 'pause');
    case 'answer':
      return answerCommands(run, action.question).find((one) => one.includes(` ${action.answer} `)) ?? '';
    case 'pause':
    case 'resume':
      return operateCommand(run, action.kind);
    default:
      return operateCommand(run, action.kind, action.task);
  }
}

export function noRun(session: string): UserMistake {
  return new UserMistake(
    'no_run',
    `session ${session} is no run of an operator: ramet operate status shows the latest`,
  );
}
