/**
 * Remembers the digests seen of late, in bounded memory: two generations, of which the older is dropped when the
 * younger is full. Forgetting one costs a superfluous write, never a wrong one.
 */
export class RecentDigests {
  readonly #limit: number;
  #young: Set<string> = new Set();
  #old: Set<string> = new Set();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True when it was not known; it is from now on. */
  add(digest: string): boolean {
    if (this.#young.has(digest)) return false;
    const known = this.#old.has(digest);
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(digest);
    return !known;
  }
}
