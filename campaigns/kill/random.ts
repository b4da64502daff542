/** Chance that can be repeated: the same seed gives the same campaign. */
export interface Chance {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  holds(probability: number): boolean;
}

/** The generator is mulberry32: short, and good enough for choosing moments. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
    holds: (probability) => next() < probability,
  };
}
