/** How long models took to begin their latest answers: how long a silent one is believed (LAUNCH-1). */
const REMEMBERED = 8;
const UNKNOWN_PATIENCE_MS = 5_000;
const LEAST_PATIENCE_MS = 1_000;
const MOST_PATIENCE_MS = 5_000;

export class FirstTokenTimes {
  readonly #recent = new Map<string, number[]>();

  note(model: string, ms: number): void {
    const times = this.#recent.get(model) ?? [];
    times.push(ms);
    if (times.length > REMEMBERED) times.shift();
    this.#recent.set(model, times);
  }

  /** The longest of the latest; null when nothing has been measured. */
  expected(model: string): number | null {
    const times = this.#recent.get(model);
    return times === undefined ? null : Math.max(...times);
  }

  /** After how long without a sign of life nobody waits any more: twice what is expected, within bounds. */
  patience(model: string): number {
    const expected = this.expected(model);
    if (expected === null) return UNKNOWN_PATIENCE_MS;
    return Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, 2 * expected));
  }
}
