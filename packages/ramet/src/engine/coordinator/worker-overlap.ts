/** Whether to continue a worker or to begin with a fresh one, by the files that each knows (COORD-2). Pure. */
import type { CoordinatorPhase } from '../../schema/status.ts';

export interface KnowingWorker {
  readonly id: string;
  readonly name: string | null;
  readonly readOnly: boolean;
  /** Paths as they were recorded. */
  readonly read: ReadonlySet<string>;
  readonly changed: ReadonlySet<string>;
}

interface Overlap {
  readonly worker: KnowingWorker;
  readonly known: readonly string[];
}

/** The share of the named files that makes it worth to continue. */
const HIGH = 0.5;
const MOST_NAMED = 4;

/** A line for the result of a delegation to a fresh worker; null when nothing can be said. */
export function spawnAdvice(
  named: readonly string[],
  workers: readonly KnowingWorker[],
  phase: CoordinatorPhase,
): string | null {
  if (named.length === 0 || workers.length === 0) return null;
  // Who has made it does not see what is wrong with it.
  if (phase === 'verification') return null;
  const able = workers.filter(({ readOnly }) => phase !== 'implementation' || !readOnly);
  const best = able
    .map((worker): Overlap => ({ worker, known: named.filter((file) => knows(worker, file)) }))
    .reduce<Overlap | null>((most, one) => (one.known.length > (most?.known.length ?? 0) ? one : most), null);
  if (best === null || best.known.length / named.length < HIGH)
    return 'A fresh worker is right: no ended worker knows most of the files that you name.';
  const who = label(best.worker);
  return `${who} ${whatItKnows(best)}, which you name here. To use what it knows, stop this one with TaskStop and send the task to ${best.worker.name ?? best.worker.id} with SendMessage.`;
}

/** A line for the result of a message to an ended worker; null when it knows what it needs. */
export function continueAdvice(named: readonly string[], worker: KnowingWorker): string | null {
  if (named.length === 0 || named.some((file) => knows(worker, file))) return null;
  return `${label(worker)} has read none of the files that you name: a fresh worker would have had a clean context.`;
}

function whatItKnows({ worker, known }: Overlap): string {
  const changed = known.filter((file) => worker.changed.size > 0 && isAmong(worker.changed, file));
  const read = known.filter((file) => !changed.includes(file));
  const parts = [
    ...(read.length === 0 ? [] : [`has read ${listed(read)}`]),
    ...(changed.length === 0 ? [] : [`has changed ${listed(changed)}`]),
  ];
  return parts.join(' and ');
}

function listed(files: readonly string[]): string {
  const rest = files.length - MOST_NAMED;
  return `${files.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function knows({ read, changed }: KnowingWorker, file: string): boolean {
  return isAmong(read, file) || isAmong(changed, file);
}

/** A name stands for every path that ends with it: worktrees have other roots. */
function isAmong(paths: ReadonlySet<string>, file: string): boolean {
  const end = file.replace(/^(?:\.\/)+/, '').replace(/^\/+/, '');
  for (const path of paths) if (path === file || path.endsWith(`/${end}`)) return true;
  return false;
}

function label({ id, name }: Pick<KnowingWorker, 'id' | 'name'>): string {
  return name === null ? `Worker ${id}` : `Worker ${name} (${id})`;
}
