/**
 * What a session changed in files through Write and Edit, turn by turn, less what was undone. Turns are those of the
 * main agent, counted over the whole session; what its children change belongs to the turn it is in.
 */
import type { EventOf, RecordedEvent } from '../../schema/events.ts';

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

export interface FileHistory {
  turn: number;
  prompt: number;
  mainAgent: string | null;
  /** In order, without those that were undone. */
  changes: RecordedChange[];
  /** The last is the one to be done again first; a new change forgets them all. */
  undone: UndoneChanges[];
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
    commands: [],
  };
  for (const recorded of events) extendHistory(history, recorded);
  return history;
}

function extendHistory(history: FileHistory, { agent, event }: RecordedEvent): void {
  const main = agent !== null && agent === history.mainAgent;
  switch (event.type) {
    case 'agent.started':
      if (event.parent === null) history.mainAgent ??= agent;
      break;
    case 'message.appended':
      if (main && event.cause === 'prompt') history.prompt += 1;
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
  }
}

function takeChange(history: FileHistory, { path, before, after, mode }: EventOf<'file.changed'>): void {
  const { turn, prompt } = history;
  history.changes.push({ turn, prompt, path, before, after, mode: mode ?? null });
  history.undone = [];
}

function takeRestoration(history: FileHistory, restored: EventOf<'files.restored'>): void {
  if (restored.kind === 'redo') {
    history.changes.push(...(history.undone.pop()?.changes ?? []));
    return;
  }
  const changes = history.changes.filter(({ turn }) => turn >= restored.turn);
  history.changes = history.changes.filter(({ turn }) => turn < restored.turn);
  history.undone.push({ restored, changes });
}
