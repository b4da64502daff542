/** How an undo looks to people: what it would do, what it did, and why not. */
import type { RestorationStep, UndoPlan } from '../files/undo.ts';
import { localTime } from '../schema/local-time.ts';
import { pathInside } from '../system/landing-path.ts';
import { printable } from './text/format.ts';

const DONE = { restore: 'restored', recreate: 'recreated', remove: 'removed', none: 'already as it was' };

/** `restored  src/a.ts (turn 2)`. */
export function stepLine({ restoration, action, obstacle }: RestorationStep, cwd: string, mood = ''): string {
  const { path, turns } = restoration;
  const shown = printable(pathInside(path, cwd) ?? path);
  const when = turns.length === 0 ? '' : ` (turn ${turns.join(', ')})`;
  if (obstacle !== null) return `not put back  ${shown}${when}: ${reasonOf(obstacle)}\n`;
  return `${action === 'none' ? '' : mood}${DONE[action]}  ${shown}${when}\n`;
}

function reasonOf({ reason, changedAt }: NonNullable<RestorationStep['obstacle']>): string {
  return changedAt === undefined
    ? reason
    : reason.replace(changedAt, localTime(Date.parse(changedAt), Date.now()));
}

/** Why nothing was touched, and what helps. */
export function undoRefusal({ kind, steps }: UndoPlan, blocked: readonly RestorationStep[]): string {
  const advice = blocked.every(({ obstacle }) => obstacle?.final)
    ? blocked.length === steps.length
      ? 'nothing can be done about that here'
      : '--force puts back the others'
    : 'look at it, or use --force, which keeps what is there now for --redo';
  return `${kind} refused, nothing was touched: blocked by ${blocked.length} of ${steps.length} files; ${advice}`;
}

/** Of one that was interrupted and is continued; null for others. */
export function continuationNote({ kind, turn, steps, continues }: UndoPlan): string | null {
  if (!continues) return null;
  const left = steps.filter(({ action, obstacle }) => action !== 'none' || obstacle !== null).length;
  const [back, name] = kind === 'undo' ? ['ramet undo --redo', 'undo'] : ['ramet undo', 'redo'];
  return `the ${name} of turn ${turn} was interrupted: continuing it, ${left} of ${steps.length} files are left (${back} takes it back instead)`;
}

/** How it ended; null where the lines say it all. */
export function endingNote({ kind, turn }: UndoPlan, failed: number): string | null {
  if (failed === 0)
    return kind === 'undo' ? `files are as before turn ${turn}; ramet undo --redo takes this back` : null;
  const again = kind === 'undo' ? 'ramet undo' : 'ramet undo --redo';
  return `${failed === 1 ? 'one file was' : `${failed} files were`} not put back: ${again} tries again`;
}

/** What Bash did is not known; null where it did not run. */
export function commandsNote({ commands }: UndoPlan): string | null {
  if (commands === 0) return null;
  const calls = commands === 1 ? 'one Bash call' : `${commands} Bash calls`;
  return `${calls} ran in these turns; what Bash changed is not put back`;
}
