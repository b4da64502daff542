/** How far a session has been looked through for what should be remembered: by its notes, or by what else was found. */
import { join } from 'node:path';
import type { SessionId } from '../../schema/ids.ts';
import { readStart } from '../files/memory-file.ts';
import { lookInto, MemoryHistory } from '../files/memory-history.ts';
import { type MemoryPlace, storeOf } from '../files/memory-places.ts';
import { NOTES_OF_SESSION, notesFile } from './session-notes.ts';

/** Up to which prompt; 0 where nothing was found. */
export function notedPrompts(place: MemoryPlace, session: SessionId): number {
  const store = storeOf(place, 'project');
  try {
    const text = readStart(join(store, notesFile(session)), 1_000)?.text ?? '';
    const noted = Number(NOTES_OF_SESSION.exec(text)?.[1] ?? 0);
    return noted > 0 ? noted : foundBy(store, session);
  } catch {
    // A file that is no text, or a damaged history, says nothing.
    return 0;
  }
}

function foundBy(store: string, session: SessionId): number {
  const open = (): MemoryHistory => new MemoryHistory(store);
  return (
    lookInto(store, open, (history) => {
      using found = history;
      return found.lastExtraction(session);
    }) ?? 0
  );
}
