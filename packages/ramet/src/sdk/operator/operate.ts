/** `ramet operate`: opens a session for a run of tasks, or the one whose run is resumed, and runs it. */
import { resolve } from 'node:path';
import { findSession } from '../../journal/session-list.ts';
import { Cancelled, UserMistake } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import type { SessionMode } from '../../schema/status.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import type { SessionOptions } from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { openSession } from '../session/session.ts';
import { TaskQuestions } from './attempts/task-questions.ts';
import type { OperateOrder, OperateOutcome } from './operate-order.ts';
import { latestRun, recordedRun } from './recorded-runs.ts';

export interface OperateOptions
  extends CallOptions,
    Omit<OperateOrder, 'file' | 'signal' | 'note' | 'questions'>,
    Pick<SessionOptions, 'onRecord' | 'launch'> {
  /** `acceptEdits` unless another one is asked for: each task has a worktree of its own. */
  permissionMode?: SessionMode | undefined;
  /** Rules for what agents may do without a question, and may not. */
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
  /** A session whose run is resumed; `latest` for the last one here that has a run. */
  resume?: string | undefined;
}

export async function operateTasks(
  file: string | undefined,
  options: OperateOptions = {},
): Promise<OperateOutcome> {
  const { cwd, env, signal, note } = callerOf(options);
  const { permissionMode, allow = [], deny = [], onRecord, launch, ...given } = options;
  const { cwd: _, env: __, signal: ___, note: ____, progress: _____, ...asked } = given;
  const { resume, report, ...order } = asked;
  const place = findPlace({ cwd, env });
  const past = resume === undefined ? null : pastRun(resume, place);
  const budgetUsd = order.maxBudgetUsd ?? past?.budgetUsd;
  const questions = new TaskQuestions();
  let opened: SessionId | null = null;
  try {
    await using session = await openSession({
      ...{
        cwd,
        env,
        team: past === null && order.isolation === 'team',
        broker: questions,
        permissions: { allow: [...allow], deny: [...deny] },
      },
      ...(past === null
        ? { permissionMode: permissionMode ?? 'acceptEdits', title: `operate ${file ?? ''}` }
        : { resume: past.session, ...(permissionMode && { permissionMode }) }),
      ...(order.model !== undefined && { model: order.model }),
      ...(budgetUsd !== undefined && { budget: { usd: budgetUsd } }),
      ...(onRecord !== undefined && { onRecord }),
      ...(launch !== undefined && { launch }),
    });
    opened = session.id;
    for (const notice of session.notices) note(notice);
    return await session.operate({
      ...{ ...order, file, signal, note, questions },
      ...(report !== undefined && { report: resolve(cwd, report) }),
    });
  } catch (error) {
    const isRefused = error instanceof UserMistake || error instanceof Cancelled;
    if (past === null && opened !== null && isRefused) await forgetRefused(place.project, opened);
    throw error;
  }
}

/** A start that was refused leaves no session and no team behind: nothing has happened in it. */
async function forgetRefused(project: string, session: SessionId): Promise<void> {
  if (recordedRun(project, session).run !== null) return;
  const { removeSession } = await import('../retention/remove-session.ts');
  removeSession(project, session);
  const { forgetTeam } = await import('../session/session-team.ts');
  forgetTeam(project, session);
}

/** What must be known before its session is opened. */
function pastRun(wanted: string, place: Place): { session: string; budgetUsd: number | undefined } {
  const session = wanted === 'latest' ? latestRun(place) : findSession(place.project, wanted).session;
  return { session, budgetUsd: recordedRun(place.project, session).run?.budget.usd };
}
