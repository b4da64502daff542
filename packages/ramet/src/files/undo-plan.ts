/** Which turns an undo is about, and what it would do: the history of a session and what is on disk, no more. */
import type { FileHistory, UnfinishedRestoration } from '../journal/projections/file-history.ts';
import { UserMistake } from '../schema/errors.ts';
import {
  planRestoration,
  type Restoration,
  type RestorationSources,
  type RestorationStep,
  restorationsFrom,
  restorationsLeft,
  restorationsOf,
} from './restoration.ts';

export interface UndoPlan {
  kind: 'undo' | 'redo';
  /** The first turn concerned. */
  turn: number;
  steps: RestorationStep[];
  /** The rest of one that was interrupted. */
  continues: boolean;
  /** How many Bash calls ran in the turns concerned: what they changed nobody knows. */
  commands: number;
}

/**
 * `wanted` is a turn; without one it is the rest of an undo that was interrupted, else all that the last prompt to
 * change anything changed. A redo that was interrupted is taken back whole. What was interrupted comes before any other
 * turn: a second one would forget what is left of it.
 */
export async function planUndo(
  history: FileHistory,
  sources: RestorationSources,
  wanted?: number,
): Promise<UndoPlan> {
  const { changes, commands, unfinished } = history;
  const open = unfinished?.restored;
  const isOpen = open?.kind === 'undo' && (wanted === undefined || wanted === open.turn);
  if (unfinished !== null && isOpen) return planRest(unfinished, sources);
  if (open !== undefined && wanted !== undefined) throw unfinishedFirst(open);
  const prompt = changes.at(-1)?.prompt;
  const last = open?.turn ?? changes.find((change) => change.prompt === prompt)?.turn;
  const turn = wanted ?? last;
  const restorations = turn === undefined ? [] : restorationsFrom(history, turn);
  if (turn === undefined || restorations.length === 0) throw nothingToUndo(history, wanted);
  return {
    kind: 'undo',
    turn,
    steps: await planAll(restorations, sources),
    continues: false,
    commands: commands.filter((at) => at >= turn).length,
  };
}

/** Takes the last undo back, also one that was interrupted; or the rest of a redo that was. */
export async function planRedo(
  { undone, unfinished }: FileHistory,
  sources: RestorationSources,
): Promise<UndoPlan> {
  if (unfinished?.restored.kind === 'redo') return planRest(unfinished, sources);
  const last = undone.at(-1);
  if (last !== undefined) {
    const steps = await planAll(restorationsOf(last), sources);
    return { kind: 'redo', turn: last.restored.turn, steps, continues: false, commands: 0 };
  }
  throw new UserMistake(
    'nothing_to_redo',
    'there is no undo to take back: none was made since the last change',
  );
}

async function planRest(unfinished: UnfinishedRestoration, sources: RestorationSources): Promise<UndoPlan> {
  const { kind, turn } = unfinished.restored;
  const steps = await planAll(restorationsLeft(unfinished), sources);
  return { kind, turn, steps, continues: true, commands: 0 };
}

function planAll(
  restorations: readonly Restoration[],
  sources: RestorationSources,
): Promise<RestorationStep[]> {
  return Promise.all(restorations.map((one) => planRestoration(one, sources)));
}

function unfinishedFirst({ kind, turn }: UnfinishedRestoration['restored']): UserMistake {
  const [rest, back] =
    kind === 'undo' ? ['ramet undo', 'ramet undo --redo'] : ['ramet undo --redo', 'ramet undo'];
  return new UserMistake(
    'undo_unfinished',
    `the ${kind} of turn ${turn} was interrupted: continue it first with ${rest}, or take it back with ${back}`,
  );
}

function nothingToUndo({ turn, commands }: FileHistory, wanted: number | undefined): UserMistake {
  const where = wanted === undefined ? 'in this session' : `from turn ${wanted} on (it has ${turn})`;
  const bash = commands.length > 0 ? '; what Bash changed is not known here, git diff may show it' : '';
  return new UserMistake(
    'nothing_to_undo',
    `nothing to undo: Write and Edit changed no file ${where}${bash}`,
  );
}
