/** Changes of memory as a person names them, over both stores of a checkout. */
import type { MemoryChange } from '../../memory/files/memory-history.ts';
import { type MemoryPlace, type StoreName, storeOf } from '../../memory/files/memory-places.ts';
import { canBeLast, MemoryStore } from '../../memory/files/memory-store.ts';
import { UserMistake } from '../../schema/errors.ts';

export const STORES: readonly StoreName[] = ['project', 'user'];

/** Without the texts of files. */
export interface ShownMemoryChange extends Omit<MemoryChange, 'id' | 'at' | 'files' | 'undoes'> {
  /** `p12`: change 12 of the repository's memory; `u3`: change 3 of the user's. */
  id: string;
  /** In UTC. */
  at: string;
  undoes: string | null;
  files: string[];
}

/** The newest first. Clocks decide between the stores, and ties go to the repository's; within one, numbers do: a clock may jump back. */
export function changesOf(place: MemoryPlace): ShownMemoryChange[] {
  return STORES.flatMap((name) => {
    using store = new MemoryStore(storeOf(place, name));
    let latest = 0;
    const timed = store.changes().map((change) => {
      latest = Math.max(latest, change.at);
      return { time: latest, shown: shownChange(name, change) };
    });
    return timed.reverse();
  })
    .sort((a, b) => b.time - a.time)
    .map(({ shown }) => shown);
}

export function shownChange(
  name: StoreName,
  { id, at, files, undoes, ...change }: MemoryChange,
): ShownMemoryChange {
  return {
    ...change,
    id: idOf(name, id),
    at: new Date(at).toISOString(),
    undoes: undoes === null ? null : idOf(name, undoes),
    files: files.map(({ path }) => path),
  };
}

export function idOf(name: StoreName, id: number): string {
  return `${name[0]}${id}`;
}

export function parseId(wanted: string): { name: StoreName; id: number } {
  const [, letter, number] = /^([pu])(\d+)$/.exec(wanted) ?? [];
  if (number === undefined)
    throw new UserMistake(
      'bad_change',
      `${JSON.stringify(wanted)} is no change of memory: give one such as p12; ramet memory show --changes lists them`,
    );
  return { name: letter === 'u' ? 'user' : 'project', id: Number(number) };
}

export function lastUndoable(place: MemoryPlace): { name: StoreName; id: number } {
  const [last] = undoable(place);
  if (last !== undefined) return parseId(last);
  throw new UserMistake(
    'no_change',
    changesOf(place).length === 0
      ? 'there is nothing to undo: memory has no changes yet'
      : 'nothing is left to undo; name a change to take back that one: ramet memory show --changes lists them',
  );
}

/** The newest first. */
export function undoable(place: MemoryPlace): string[] {
  const all = changesOf(place);
  const gone = new Set(all.flatMap(({ undoes }) => undoes ?? []));
  return all.filter(({ id, kind }) => canBeLast(kind) && !gone.has(id)).map(({ id }) => id);
}
