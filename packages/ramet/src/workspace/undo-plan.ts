/** Which turns an undo is about, and what it would do: the history of a session and what is on disk, no more. */
import type { FileHistory } from '../journal/projections/file-history.ts';
import { UserMistake } from '../schema/errors.ts';
import {
  planRestoration,
  type Restoration,
  type RestorationSources,
  type RestorationStep,
  restorationsFrom,
  restorationsOf,
} from './restoration.ts';

export interface UndoPlan {
  kind: 'undo' | 'redo';
  /** The first turn concerned. */
  turn: number;
  steps: RestorationStep[];
  /** How many Bash calls ran in the turns concerned: what they changed nobody knows. */
  commands: number;
}

/** `wanted` is a turn; without one it is all that the last prompt to change anything changed. */
export async function planUndo(
  history: FileHistory,
  sources: RestorationSources,
  wanted?: number,
): Promise<UndoPlan> {
  const { changes, commands } = history;
  const prompt = changes.at(-1)?.prompt;
  const turn = wanted ?? changes.find((change) => change.prompt === prompt)?.turn;
  const restorations = turn === undefined ? [] : restorationsFrom(history, turn);
  if (turn === undefined || restorations.length === 0) throw nothingToUndo(history, wanted);
  return {
    kind: 'undo',
    turn,
    steps: await planAll(restorations, sources),
    commands: commands.filter((at) => at >= turn).length,
  };
}

/** Takes the last undo back. */
export async function planRedo({ undone }: FileHistory, sources: RestorationSources): Promise<UndoPlan> {
  const last = undone.at(-1);
  if (last !== undefined) {
    const steps = await planAll(restorationsOf(last), sources);
    return { kind: 'redo', turn: last.restored.turn, steps, commands: 0 };
  }
  throw new UserMistake(
    'nothing_to_redo',
    'there is no undo to take back: none was made since the last change',
  );
}

function planAll(
  restorations: readonly Restoration[],
  sources: RestorationSources,
): Promise<RestorationStep[]> {
  return Promise.all(restorations.map((one) => planRestoration(one, sources)));
}

function nothingToUndo({ turn, commands }: FileHistory, wanted: number | undefined): UserMistake {
  const where = wanted === undefined ? 'in this session' : `from turn ${wanted} on (it has ${turn})`;
  const bash = commands.length > 0 ? '; what Bash changed is not known here, git diff may show it' : '';
  return new UserMistake(
    'nothing_to_undo',
    `nothing to undo: Write and Edit changed no file ${where}${bash}`,
  );
}
