/**
 * What a session changed in files through Write and Edit, turn by turn, less what was undone. Turns are those of the
 * main agent, counted over the whole session; what its children change belongs to the turn it is in.
 */
import type { AdoptedWork, EventOf, RecordedEvent } from '../../schema/events.ts';

export interface RecordedChange {
  turn: number;
  /** The prompt it was made for, counted from 1. */
  prompt: number;
  path: string;
  before: string | null;
  after: string | null;
  /** The file's mode before; null where that is not known. */
  mode: number | null;
}

export interface UndoneChanges {
  restored: EventOf<'files.restored'>;
  changes: RecordedChange[];
}

/** An undo or redo that was recorded and not carried out to its end. */
export interface UnfinishedRestoration {
  restored: EventOf<'files.restored'>;
  /** Paths that may not have been put back: all of a killed one, those that failed of another. */
  left: ReadonlySet<string>;
}

export interface FileHistory {
  turn: number;
  prompt: number;
  mainAgent: string | null;
  /** In order, without those that were undone. */
  changes: RecordedChange[];
  /** The last is the one to be done again first; a new change forgets them all. */
  undone: UndoneChanges[];
  unfinished: UnfinishedRestoration | null;
  /** Work that was adopted and whose files may not all be in place: its process was killed. */
  adopting: AdoptedWork | null;
  /** Agents that try something out: what they change is nobody's until it is adopted. */
  readonly trying: Set<string>;
  /** The turn of every Bash call: what those changed is not known. */
  commands: number[];
}

export function fileHistoryOf(events: Iterable<RecordedEvent>): FileHistory {
  const history: FileHistory = {
    turn: 0,
    prompt: 0,
    mainAgent: null,
    changes: [],
    undone: [],
    unfinished: null,
    adopting: null,
    trying: new Set(),
    commands: [],
  };
  for (const recorded of events) extendHistory(history, recorded);
  return history;
}

function extendHistory(history: FileHistory, { agent, event }: RecordedEvent): void {
  if (agent !== null && history.trying.has(agent)) return;
  const main = agent !== null && agent === history.mainAgent;
  switch (event.type) {
    case 'agent.started':
      if (event.parent === null) history.mainAgent ??= agent;
      if (event.origin?.source === 'speculation' && agent !== null) history.trying.add(agent);
      break;
    case 'message.appended':
      if (main && event.cause === 'prompt') history.prompt += 1;
      if (event.adopted !== undefined) adopt(history, event.adopted);
      break;
    case 'response.completed':
      if (main) history.turn += 1;
      break;
    case 'tool.started':
      if (event.name === 'Bash') history.commands.push(history.turn);
      break;
    case 'file.changed':
      takeChange(history, event);
      break;
    case 'files.restored':
      takeRestoration(history, event);
      break;
    case 'files.settled':
      settle(history, event);
      break;
  }
}

function takeChange(history: FileHistory, { path, before, after, mode }: EventOf<'file.changed'>): void {
  const { turn, prompt } = history;
  history.changes.push({ turn, prompt, path, before, after, mode: mode ?? null });
  history.undone = [];
}

/** The adopted answer is a turn of the main agent: undoing it leaves the turn before as it is. */
function adopt(history: FileHistory, work: AdoptedWork): void {
  history.turn += 1;
  history.adopting = work;
  for (const { path, before, after, mode } of work.files) {
    const { turn, prompt } = history;
    history.changes.push({ turn, prompt, path, before, after, mode });
  }
  if (work.files.length > 0) history.undone = [];
}

function takeRestoration(history: FileHistory, restored: EventOf<'files.restored'>): void {
  // What is undone is not carried out any more.
  history.adopting = null;
  if (restored.continues === true) {
    takeRest(history, restored);
    return;
  }
  const left = new Set(restored.files.map(({ path }) => path));
  history.unfinished = restored.settles === true ? { restored, left } : null;
  if (restored.kind === 'redo') {
    history.changes.push(...(history.undone.pop()?.changes ?? []));
    return;
  }
  const changes = history.changes.filter(({ turn }) => turn >= restored.turn);
  history.changes = history.changes.filter(({ turn }) => turn < restored.turn);
  history.undone.push({ restored, changes });
}

/**
 * What the rest replaces is what taking it back brings again; a file that it found put back already is brought back to
 * what the part before replaced.
 */
function takeRest(history: FileHistory, { files }: EventOf<'files.restored'>): void {
  const { unfinished, undone } = history;
  if (unfinished === null) return;
  const before = unfinished.restored;
  const touched = files.filter((file) => file.before !== file.after);
  const rest = new Map(touched.map((file) => [file.path, file]));
  const merged = { ...before, files: before.files.map((file) => rest.get(file.path) ?? file) };
  history.unfinished = { restored: merged, left: unfinished.left };
  history.undone = undone.map((one) => (one.restored === before ? { ...one, restored: merged } : one));
}

function settle(history: FileHistory, { failed }: EventOf<'files.settled'>): void {
  const { unfinished, adopting } = history;
  const left = new Set(failed.map(({ path }) => path));
  history.adopting = null;
  if (adopting !== null) {
    // What did not move in is not the session's to put back.
    history.changes = history.changes.filter(({ turn, path }) => turn !== history.turn || !left.has(path));
    return;
  }
  if (unfinished === null) return;
  history.unfinished = left.size === 0 ? null : { ...unfinished, left };
}
