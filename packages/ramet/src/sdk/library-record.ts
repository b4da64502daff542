/** What the library can say about what is on record: sessions, their events and conversations, runs; and what may go. */
import type { OperatorStatistics } from '../operator/plan/statistics.ts';
import type { RecordedEvent } from '../schema/events.ts';
import type { SessionSummary } from '../views/session-rows.ts';
import type { SessionTranscript } from '../views/transcript.ts';
import { AMOUNT, checkArgument, checkOptions, FLAG, NAME, NAMES, oneOf } from './calls/argument-kinds.ts';
import type { CallOptions } from './calls/caller.ts';
import { CALL, STATUS } from './calls/check-arguments.ts';
import type { CacheReport } from './calls/explain-cache.ts';
import type { DeletedSession } from './calls/sessions.ts';
import type { PlanQuestion, TaskPlan } from './operator/planning/plan-tasks.ts';
import type { CollectedGarbage, GarbageQuestion } from './retention/gc.ts';

/** The newest first. */
export async function listSessions(options?: CallOptions & { limit?: number }): Promise<SessionSummary[]> {
  checkOptions('listSessions', options, STATUS);
  return (await import('./calls/sessions.ts')).listSessions(options);
}

/** Returns the title as it is kept. */
export async function renameSession(
  session: string,
  title: string,
  options?: CallOptions,
): Promise<{ session: string; title: string }> {
  checkArgument('renameSession', 'the session', session, NAME);
  checkArgument('renameSession', 'the title', title, NAME);
  checkOptions('renameSession', options, CALL);
  return (await import('./calls/sessions.ts')).renameSession(session, title, options);
}

/** Removes sessions for good. One that is needed stays and says why; `force` also removes one that could be resumed. */
export async function deleteSessions(
  sessions: readonly string[],
  options?: CallOptions & { force?: boolean },
): Promise<DeletedSession[]> {
  checkArgument('deleteSessions', 'the argument for sessions', sessions, NAMES);
  checkOptions('deleteSessions', options, { ...CALL, force: FLAG });
  return (await import('./calls/sessions.ts')).deleteSessions(sessions, options);
}

/** The conversations of a session, or of one agent of it; of the latest session when none is named. */
export async function transcript(
  target?: string,
  options?: CallOptions & { full?: boolean },
): Promise<SessionTranscript> {
  if (target !== undefined) checkArgument('transcript', 'the session or agent', target, NAME);
  checkOptions('transcript', options, { ...CALL, full: FLAG });
  return (await import('./calls/transcripts.ts')).transcript(target, options);
}

/** The same as a text for people or for programs. */
export async function exportSession(
  target?: string,
  options?: CallOptions & { format?: 'markdown' | 'json' },
): Promise<string> {
  if (target !== undefined) checkArgument('exportSession', 'the session or agent', target, NAME);
  checkOptions('exportSession', options, { ...CALL, format: oneOf(['markdown', 'json']) });
  return (await import('./calls/transcripts.ts')).exportSession(target, options);
}

/** What is on record of a session, or of one agent of it, in order. */
export async function* readEvents(
  target?: string,
  options?: CallOptions,
): AsyncGenerator<RecordedEvent, void> {
  if (target !== undefined) checkArgument('readEvents', 'the session or agent', target, NAME);
  checkOptions('readEvents', options, CALL);
  yield* (await import('./calls/transcripts.ts')).readEvents(target, options);
}

/** What requests of a session, an agent or one request read from the cache, and why no more. */
export async function explainCache(target?: string, options?: CallOptions): Promise<CacheReport> {
  if (target !== undefined) checkArgument('explainCache', 'the session, agent or request', target, NAME);
  checkOptions('explainCache', options, CALL);
  return (await import('./calls/explain-cache.ts')).explainCache(target, options);
}

/** What the tasks of a file would take, from earlier runs if there are any. Nothing runs. */
export async function planTasks(file: string, options?: Omit<PlanQuestion, 'elsewhere'>): Promise<TaskPlan> {
  checkArgument('planTasks', 'the file', file, NAME);
  const own = { bullets: FLAG, tag: NAME, model: NAME, optional: FLAG };
  checkOptions('planTasks', options, { ...CALL, ...own });
  return (await import('./operator/planning/plan-tasks.ts')).planTasks(file, options);
}

/** What earlier runs of tasks say about working in parallel. */
export async function runStatistics(options?: CallOptions): Promise<OperatorStatistics> {
  checkOptions('runStatistics', options, CALL);
  return (await import('./operator/planning/run-statistics.ts')).runStatistics(options);
}

/** Removes what Ramet keeps for this repository and nobody needs any more; with `dryRun` it only lists it. */
export async function collectGarbage(
  options?: GarbageQuestion & { dryRun?: boolean },
): Promise<CollectedGarbage> {
  const own = { olderThan: AMOUNT, interrupted: FLAG, work: FLAG, dryRun: FLAG };
  checkOptions('collectGarbage', options, { ...CALL, ...own });
  return (await import('./retention/gc.ts')).collectGarbage(options);
}
