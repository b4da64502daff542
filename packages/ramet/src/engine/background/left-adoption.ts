/**
 * What a killed process leaves of work that it was adopting (BG-2). While files move in, a mark lies beside the journals: the next start
 * knows by it which journal to look into, and the journal says what is left to do.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SessionLedger } from '../../files/file-ledger.ts';
import { createOriginalFiles, finishAdoption } from '../../files/undo.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { fileHistoryOf } from '../../journal/projections/file-history.ts';
import { counterpart } from '../../sandbox/write-fence.ts';
import { adoptingDirectory } from '../../system/home.ts';
import { realPath } from '../../system/landing-path.ts';
import { removeLeftovers } from '../../system/replace-file.ts';

/** `outputs` is the session's directory in its project. */
export function markAdoption(outputs: string): Disposable {
  const mark = markOf(outputs);
  mkdirSync(dirname(mark), { recursive: true, mode: 0o700 });
  writeFileSync(mark, '', { mode: 0o600 });
  return { [Symbol.dispose]: () => unmarkAdoption(outputs) };
}

export function unmarkAdoption(outputs: string): void {
  rmSync(markOf(outputs), { force: true });
}

export function isMarked(outputs: string): boolean {
  return existsSync(markOf(outputs));
}

function markOf(outputs: string): string {
  return join(adoptingDirectory(dirname(outputs)), basename(outputs));
}

export interface FinishedAdoption {
  /** How many files its work has. */
  readonly files: number;
  readonly failed: { path: string; reason: string }[];
}

/**
 * Moves in what was adopted, or removes what was laid beside the files for it: then the result is null. Only for who writes
 * that session's journal; `reader` has all that was recorded.
 */
export async function finishLeftAdoption(
  reader: JournalReader,
  { ledger, outputs }: { ledger: SessionLedger; outputs: string },
): Promise<FinishedAdoption | null> {
  const { adopting } = fileHistoryOf(reader.events());
  if (adopting === null) {
    removeStaged(reader);
    return null;
  }
  const { agent, files } = adopting;
  const originals = createOriginalFiles(outputs);
  const failed = await finishAdoption({ ledger, originals, agent, task: 'work in advance' }, adopting);
  return { files: files.length, failed };
}

/** For the person whose checkout it is. */
export function finishedLine(session: string, { files, failed }: FinishedAdoption): string {
  const missing = failed.map(({ path, reason }) => `${path} (${reason})`).join(', ');
  return (
    `session ${session} was killed while the files of its work in advance moved in: ` +
    `${files - failed.length} of ${files} are in place now (ramet undo ${session} takes them back)` +
    (missing === '' ? '' : `; not in place: ${missing}`)
  );
}

/** The fork's files, where they would have been in the checkout. */
function removeStaged(reader: JournalReader): void {
  const last = [...reader.events({ type: 'agent.started' })].findLast(
    ({ event }) => event.type === 'agent.started' && event.origin?.source === 'speculation',
  );
  if (last?.event.type !== 'agent.started' || last.agent === null) return;
  const { worktree } = last.event.origin ?? {};
  if (worktree === undefined) return;
  const root = realPath(worktree.path);
  for (const { event } of reader.events({ agent: last.agent, type: 'file.changed' })) {
    const place = event.type === 'file.changed' ? counterpart(event.path, root, worktree.from) : null;
    if (place !== null) removeLeftovers(place, last.agent);
  }
}
