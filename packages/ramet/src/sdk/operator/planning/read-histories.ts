/** What earlier runs of the operator in this repository took, from the journals of their sessions. */
import { listSessions } from '../../../journal/session-list.ts';
import { openReader } from '../../../journal/sessions.ts';
import { foldHistory, HISTORY_EVENTS } from '../../../operator/plan/fold-history.ts';
import type { RunHistory } from '../../../operator/plan/run-history.ts';
import type { SessionId } from '../../../schema/ids.ts';
import { type NoteListener, tellUnreadable } from '../../../views/session-view.ts';
import { SessionsWithoutRuns } from '../control/sessions-without-runs.ts';

/** Newest first, and no more than `most`. A session that cannot be read is told and left out. */
export function readHistories(project: string, most: number, listener: NoteListener): RunHistory[] {
  const runs: RunHistory[] = [];
  const sessions = listSessions(project);
  const without = new SessionsWithoutRuns(project);
  for (const entry of sessions) {
    if (runs.length >= most) break;
    if (without.has(entry)) continue;
    try {
      const found = historiesOf(project, entry.session);
      if (found.length === 0) without.add(entry);
      runs.push(...found);
    } catch (error) {
      tellUnreadable(entry, error, listener);
    }
  }
  without.save(sessions);
  return runs.sort((one, other) => other.startedAt - one.startedAt).slice(0, most);
}

function historiesOf(project: string, session: SessionId): RunHistory[] {
  const reader = openReader({ project, session, forgiving: true });
  try {
    // Most sessions have no run: they are not read any further.
    for (const { seq } of reader.events({ type: 'operator.started' }))
      return foldHistory(reader.events({ after: seq - 1, types: HISTORY_EVENTS }));
    return [];
  } finally {
    reader.close();
  }
}
