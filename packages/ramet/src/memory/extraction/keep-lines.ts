/**
 * Writes what a fork has found to memory: through the store alone, so that its guard, its history and its locks hold. It is
 * also the program of the thread that `keep-aside.ts` starts.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { AgentId, SessionId } from '../../schema/ids.ts';
import type { MemoryChange, MemorySource } from '../files/memory-history.ts';
import { withFacts } from '../files/memory-index.ts';
import { INDEX_FILE, type MemoryPlace, storeOf } from '../files/memory-places.ts';
import { MemoryStore } from '../files/memory-store.ts';
import { forgeryIn, ownWords, withOwnNote } from '../files/refuse-forged-notes.ts';
import { isReserved } from '../files/reserved-heading.ts';
import { secretsIn } from '../secrets/secret-guard.ts';
import { type FoundLines, judgeLines, type KnownTexts, readAnswer } from './found-lines.ts';
import { notesFile, oldNotes, withNotes } from './session-notes.ts';

/** Plain data: it goes to a thread. */
export interface ExtractionOrder extends KnownTexts {
  readonly kind: 'keep-lines';
  readonly answer: string;
  readonly place: MemoryPlace;
  readonly session: SessionId;
  readonly agent: AgentId;
  /** Prompts of the session so far. */
  readonly prompts: number;
  /** `2026-11-17`. */
  readonly today: string;
  readonly keeps: { readonly facts: boolean; readonly notes: boolean };
}

/** Rejects with the first problem after everything else has been written. */
export async function keepLines(order: ExtractionOrder): Promise<MemoryChange[]> {
  const lines = onlyFit(judgeLines(readAnswer(order.answer), order));
  const outcomes = await Promise.allSettled([
    order.keeps.facts ? keepFacts(order, lines) : null,
    order.keeps.notes ? keepNotes(order, lines) : null,
  ]);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value !== null ? [outcome.value] : [],
  );
}

/** One line with a secret, or one that reads like the heading of the user's notes, must not keep the others out. */
function onlyFit({ facts, wishes, notes }: FoundLines): FoundLines {
  const isClean = (text: string): boolean => !isReserved({ text, level: 1 }) && secretsIn(text).length === 0;
  return {
    // The colon between them may be one of an address or a password.
    facts: facts.filter(({ topic, text }) =>
      [topic, text, `${topic}:${text}`, `${topic}: ${text}`].every(isClean),
    ),
    wishes: wishes.filter(isClean),
    notes: notes.filter(isClean),
  };
}

function sourceOf({ session, agent, prompts }: ExtractionOrder, kind: MemorySource['kind']): MemorySource {
  return { kind, session, agent, turn: prompts };
}

async function keepFacts(
  order: ExtractionOrder,
  { facts, wishes }: FoundLines,
): Promise<MemoryChange | null> {
  const dated = facts.map(({ topic, text }) => ({ topic, text: `${text} (${order.today})` }));
  using store = new MemoryStore(storeOf(order.place, 'project'));
  return await store.change(
    sourceOf(order, 'extraction'),
    (read) => {
      const noted = wishes.reduce<string | null>(withOwnNote, read(INDEX_FILE));
      const all = withFacts(noted, dated, read);
      // Where it is not clear what is the user's, facts have a file of their own.
      const isClear = forgeryIn({ before: noted, after: all.index }) === null;
      const { index, topics } = isClear ? all : withFacts(noted, dated, read, true);
      return new Map([...(index === '' ? [] : [[INDEX_FILE, index] as const]), ...topics]);
    },
    { words: (path) => (path === INDEX_FILE ? ownWords(wishes) : null) },
  );
}

async function keepNotes(order: ExtractionOrder, { notes }: FoundLines): Promise<MemoryChange | null> {
  const { session, prompts, today } = order;
  const file = notesFile(session);
  using store = new MemoryStore(storeOf(order.place, 'project'));
  const change = await store.change(
    sourceOf(order, 'session-notes'),
    (read) => new Map([[file, withNotes(read(file), { session, prompts, today, notes })]]),
  );
  // A change of its own: undo of the notes brings back no others.
  for (const path of oldNotes(store, session))
    await store.change(sourceOf(order, 'pruning'), () => new Map([[path, null]]));
  return change;
}

function isOrder(data: unknown): data is ExtractionOrder {
  return typeof data === 'object' && data !== null && 'kind' in data && data.kind === 'keep-lines';
}

// A rejection that nobody handles ends the thread, and its starter learns of it.
if (isOrder(workerData)) void keepLines(workerData).then((kept) => parentPort?.postMessage(kept));
