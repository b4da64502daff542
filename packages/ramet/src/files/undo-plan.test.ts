import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { agentStarted, messageAppended, responseCompleted } from '../../test/recorded-events.ts';
import { type FileHistory, fileHistoryOf } from '../journal/projections/file-history.ts';
import type { JournalEvent } from '../schema/events.ts';
import { createOriginalFiles } from './original-files.ts';
import { planUndo, type RestorationSources } from './restoration.ts';

/** Two turns that each made a file, and an undo or redo of the second that was killed. */
function interrupted(kind: 'undo' | 'redo', directory: string): FileHistory {
  const made = (name: string): JournalEvent => ({
    ...{ type: 'file.changed', call: name, path: `${directory}/${name}` },
    ...{ before: null, after: 'v' },
  });
  const restored = (what: 'undo' | 'redo'): JournalEvent => {
    const file = { path: `${directory}/second`, before: null, after: null, mode: null };
    return { type: 'files.restored', kind: what, turn: 2, files: [file], settles: true };
  };
  const undone: JournalEvent[] = [restored('undo'), { type: 'files.settled', failed: [] }, restored('redo')];
  const events = [
    ...[agentStarted(), messageAppended(), responseCompleted(), made('first'), responseCompleted()],
    ...[made('second'), ...(kind === 'undo' ? [restored('undo')] : undone)],
  ];
  return fileHistoryOf(events.map((event, seq) => ({ seq, time: 0, agent: 's.1', event })));
}

function sourcesIn(directory: string): RestorationSources {
  return { originals: createOriginalFiles(directory), writerOf: () => null };
}

describe('LOG-1: while an undo is unfinished', () => {
  test('the undo of another turn is refused in one line, so that nothing of it is forgotten', async () => {
    const directory = temporaryDirectory();
    await expect(planUndo(interrupted('undo', directory), sourcesIn(directory), 1)).rejects.toThrow(
      /^the undo of turn 2 was interrupted: continue it first with ramet undo, or take it back with ramet undo --redo$/,
    );
    await expect(planUndo(interrupted('redo', directory), sourcesIn(directory), 1)).rejects.toThrow(
      /^the redo of turn 2 was interrupted: continue it first with ramet undo --redo, or take it back with ramet undo$/,
    );
  });

  test('the undo of its own turn continues it, named or not', async () => {
    const directory = temporaryDirectory();
    for (const turn of [undefined, 2]) {
      const plan = await planUndo(interrupted('undo', directory), sourcesIn(directory), turn);
      expect(plan).toMatchObject({ kind: 'undo', turn: 2, continues: true });
    }
  });
});
