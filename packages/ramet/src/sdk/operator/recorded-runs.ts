/** Runs of task files that journals of this repository hold. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { latestSession, listSessions } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import { foldOperator, OPERATOR_EVENTS } from '../../operator/run/apply-operator-event.ts';
import type { OperatorState } from '../../operator/run/operator-state.ts';
import { UserMistake } from '../../schema/errors.ts';
import { landingPath } from '../../system/landing-path.ts';
import { operatorDirectory, type Place } from '../place.ts';

/** Older ones are not read: nobody waits for them. */
const MOST_RUNS = 20;

export function latestRun({ project }: Pick<Place, 'project'>): string {
  // Most sessions hold no run: those are not opened.
  const isRun = (session: string): boolean => existsSync(operatorDirectory({ project, session }));
  const entry = latestSession(
    project,
    ({ session }) => isRun(session) && recordedRun(project, session).run !== null,
  );
  if (entry === null)
    throw new UserMistake('no_run', 'there is no run of tasks to resume here: ramet operate FILE starts one');
  return entry.session;
}

export function recordedRun(project: string, session: string): OperatorState {
  const reader = openReader({ project, session, forgiving: true });
  try {
    return foldOperator(reader.events({ types: OPERATOR_EVENTS }));
  } finally {
    reader.close();
  }
}

/** Also of a file that is named through a link. */
function placeOf(cwd: string, file: string): string {
  const path = resolve(cwd, file);
  return landingPath(path) ?? path;
}

/** Refuses to do everything twice: the latest run of this file is under way, or was cut off before its end. */
export function refuseSecondRun(file: string, { project, cwd }: Pick<Place, 'project' | 'cwd'>): void {
  const path = placeOf(cwd, file);
  const runs = listSessions(project)
    .filter(({ session }) => existsSync(operatorDirectory({ project, session })))
    .slice(0, MOST_RUNS);
  for (const { session, cwd: at, live } of runs) {
    const { run, status } = recordedRun(project, session);
    if (run === null || run.file === null || placeOf(at, run.file) !== path) continue;
    if (status === 'ended') return;
    const next = live
      ? `runs already, in session ${session}: see ramet operate status --session ${session}`
      : `has a run that is not over: resume it with ramet operate --resume ${session}`;
    throw new UserMistake(
      'run_open',
      `${file} ${next}; to start another one, add --again (in the library, again: true)`,
    );
  }
}
