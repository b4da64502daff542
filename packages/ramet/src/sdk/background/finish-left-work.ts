/**
 * Finishes what killed sessions were adopting (BG-2) with the next start: the same that resuming them does. A session that
 * still runs, or that another process finishes at this moment, has its lock and is left alone.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finishedLine, finishLeftAdoption, unmarkAdoption } from '../../engine/later.ts';
import { createFileLedger } from '../../files/file-ledger.ts';
import { SharedWrites } from '../../files/shared-writes.ts';
import { sessionPath } from '../../journal/session-file.ts';
import { resumeSession } from '../../journal/sessions.ts';
import { agentId, isSessionId, type SessionId } from '../../schema/ids.ts';

/** One line for each that had files to move in. */
export async function finishLeftWork(project: string, sessions: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const session of sessions.filter(isSessionId)) {
    try {
      const line = await finishOne(project, session);
      if (line !== null) lines.push(line);
    } catch {
      // In use, or not to be read: the mark stays for the next one, and resuming that session says why.
    }
  }
  return lines;
}

async function finishOne(project: string, session: SessionId): Promise<string | null> {
  const outputs = join(project, session);
  if (!existsSync(sessionPath(project, session))) {
    unmarkAdoption(outputs);
    return null;
  }
  const { journal, reader } = await resumeSession({ project, session });
  const ledger = createFileLedger({ openShared: () => SharedWrites.open(project) });
  try {
    const finished = await finishLeftAdoption(reader, { ledger, outputs });
    if (finished !== null) {
      journal.append(agentId(session, 1), { type: 'files.settled', failed: finished.failed });
      await journal.commit('synced');
    }
    unmarkAdoption(outputs);
    return finished && finishedLine(session, finished);
  } finally {
    ledger.close();
    reader.close();
    await journal.close();
  }
}
