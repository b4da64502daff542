/** `ramet operate`: opens a session for a run of tasks, or the one whose run is resumed, and runs it. */
import { latestSession } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SessionMode } from '../../schema/status.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import type { SessionOptions } from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { openSession } from '../session/session.ts';
import { TaskQuestions } from './attempts/task-questions.ts';
import type { OperateOrder, OperateOutcome } from './operate-order.ts';

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
  const { permissionMode, allow = [], deny = [], resume, onRecord, launch, ...order } = options;
  const questions = new TaskQuestions();
  await using session = await openSession({
    ...{ cwd, env, broker: questions, permissions: { allow: [...allow], deny: [...deny] } },
    ...(resume === undefined
      ? { permissionMode: permissionMode ?? 'acceptEdits', title: `operate ${file ?? ''}` }
      : {
          resume: resume === 'latest' ? latestRun(findPlace({ cwd, env })) : resume,
          ...(permissionMode && { permissionMode }),
        }),
    ...(order.model !== undefined && { model: order.model }),
    ...(order.maxBudgetUsd !== undefined && { budget: { usd: order.maxBudgetUsd } }),
    ...(onRecord !== undefined && { onRecord }),
    ...(launch !== undefined && { launch }),
  });
  for (const notice of session.notices) note(notice);
  return await session.operate({ ...order, file, signal, note, questions });
}

function latestRun({ project }: Place): string {
  const entry = latestSession(project, ({ session }) => hasRun(project, session));
  if (entry === null)
    throw new UserMistake('no_run', 'there is no run of tasks to resume here: ramet operate FILE starts one');
  return entry.session;
}

function hasRun(project: string, session: string): boolean {
  const reader = openReader({ project, session });
  try {
    return Iterator.from(reader.events({ type: 'operator.started' })).some(() => true);
  } finally {
    reader.close();
  }
}
