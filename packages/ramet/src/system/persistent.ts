/**
 * An immutable map and an immutable list as plain data. The map is a tree over the hashes of its keys: setting a key copies
 * the few nodes on the way to it and shares all others. Its entries are in the order in which they were last set.
 */

export interface PersistentMap<Value> {
  readonly root: Node<Value>;
  /** How often a key was set: orders the entries. */
  readonly changes: number;
}

interface Leaf<Value> {
  readonly key: string;
  readonly value: Value;
  readonly change: number;
  /** Another key of the same hash. */
  readonly next: Leaf<Value> | null;
}

type Slot<Value> = Leaf<Value> | Node<Value> | null;
type Node<Value> = readonly Slot<Value>[];

/** Bits of the hash for each level of the tree. */
const BITS = 4;
const HASH_BITS = 32;
const EMPTY_NODE: Node<never> = new Array(1 << BITS).fill(null);

export function mapOf<Value>(entries: Iterable<readonly [string, Value]> = []): PersistentMap<Value> {
  let map: PersistentMap<Value> = { root: EMPTY_NODE, changes: 0 };
  for (const [key, value] of entries) map = withKey(map, key, value);
  return map;
}

export function valueAt<Value>({ root, changes }: PersistentMap<Value>, key: string): Value | undefined {
  if (changes === 0) return undefined;
  let slot: Slot<Value> = root;
  for (let rest = hashOf(key); isNode(slot); rest >>>= BITS) slot = slot[rest & MASK] ?? null;
  for (let leaf = slot; leaf !== null; leaf = leaf.next) if (leaf.key === key) return leaf.value;
  return undefined;
}

export function hasKey<Value>(map: PersistentMap<Value>, key: string): boolean {
  return valueAt(map, key) !== undefined;
}

/** With null the key is removed. */
export function withKey<Value>(
  { root, changes }: PersistentMap<Value>,
  key: string,
  value: Value | null,
): PersistentMap<Value> {
  const leaf = value === null ? null : { key, value, change: changes, next: null };
  return { root: nodeWith(root, { key, leaf, hash: hashOf(key) }, 0), changes: changes + 1 };
}

interface Change<Value> {
  readonly key: string;
  readonly leaf: Leaf<Value> | null;
  readonly hash: number;
}

function nodeWith<Value>(node: Node<Value>, change: Change<Value>, shift: number): Node<Value> {
  const index = (change.hash >>> shift) & MASK;
  const copy = node.slice();
  copy[index] = slotWith(node[index] ?? null, change, shift + BITS);
  return copy;
}

function slotWith<Value>(slot: Slot<Value>, change: Change<Value>, shift: number): Slot<Value> {
  if (slot === null) return change.leaf;
  if (isNode(slot)) return nodeWith(slot, change, shift);
  if (slot.key === change.key && slot.next === null) return change.leaf;
  if (shift >= HASH_BITS) return chained(slot, change);
  // Two keys in one place: they part on a level below.
  const moved = nodeWith<Value>(EMPTY_NODE, { key: slot.key, leaf: slot, hash: hashOf(slot.key) }, shift);
  return nodeWith(moved, change, shift);
}

/** Keys whose hashes are the same, but for the one that is changed. */
function chained<Value>(first: Leaf<Value>, { key, leaf }: Change<Value>): Leaf<Value> | null {
  let chain = leaf;
  for (let each: Leaf<Value> | null = first; each !== null; each = each.next) {
    if (each.key !== key) chain = { ...each, next: chain };
  }
  return chain;
}

/** The key that was set last is the last one. */
export function entriesOf<Value>({ root }: PersistentMap<Value>): Map<string, Value> {
  const leaves: Leaf<Value>[] = [];
  collect(root, leaves);
  leaves.sort((one, other) => one.change - other.change);
  return new Map(leaves.map(({ key, value }) => [key, value]));
}

function collect<Value>(slot: Slot<Value>, into: Leaf<Value>[]): void {
  if (isNode(slot)) for (const each of slot) collect(each, into);
  else for (let leaf = slot; leaf !== null; leaf = leaf.next) into.push(leaf);
}

const MASK = (1 << BITS) - 1;

function isNode<Value>(slot: Slot<Value>): slot is Node<Value> {
  return Array.isArray(slot);
}

/** FNV-1a, with its bits mixed once more: paths differ at their ends. */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

const WIDTH = 32;

export interface PersistentList<Item> {
  readonly length: number;
  /** The first items, in blocks of chunks of `WIDTH` items. */
  readonly blocks: readonly (readonly (readonly Item[])[])[];
  readonly chunks: readonly (readonly Item[])[];
  /** The last items: at least one, unless the list is empty. */
  readonly tail: readonly Item[];
}

/**
 * An immutable list that grows at its end, as plain data. Adding an item copies at most one tail and shares the rest, so
 * an older value stays as it was.
 */
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
