/**
 * An immutable list that grows at its end, as plain data. Adding an item copies at most one tail and shares the rest, so
 * an older value stays as it was.
 */

const WIDTH = 32;

export interface PersistentList<Item> {
  readonly length: number;
  /** The first items, in blocks of chunks of `WIDTH` items. */
  readonly blocks: readonly (readonly (readonly Item[])[])[];
  readonly chunks: readonly (readonly Item[])[];
  /** The last items: at least one, unless the list is empty. */
  readonly tail: readonly Item[];
}

export function listOf<Item>(items: Iterable<Item> = []): PersistentList<Item> {
  let list: PersistentList<Item> = { length: 0, blocks: [], chunks: [], tail: [] };
  for (const item of items) list = appended(list, item);
  return list;
}

export function appended<Item>(list: PersistentList<Item>, item: Item): PersistentList<Item> {
  const { blocks, chunks, tail } = list;
  const length = list.length + 1;
  if (tail.length < WIDTH) return { length, blocks, chunks, tail: [...tail, item] };
  if (chunks.length < WIDTH) return { length, blocks, chunks: [...chunks, tail], tail: [item] };
  return { length, blocks: [...blocks, chunks], chunks: [tail], tail: [item] };
}

export function itemsOf<Item>({ blocks, chunks, tail }: PersistentList<Item>): Item[] {
  return [...blocks.flat(2), ...chunks.flat(), ...tail];
}

/** The items from a position on; those at the end without looking at the others. */
export function itemsFrom<Item>(list: PersistentList<Item>, start: number): readonly Item[] {
  const fromTail = start - (list.length - list.tail.length);
  return fromTail >= 0 ? list.tail.slice(fromTail) : itemsOf(list).slice(start);
}
