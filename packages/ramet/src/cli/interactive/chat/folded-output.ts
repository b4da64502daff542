/** What was shown in part, to be shown in full when a person asks: outputs of calls and thoughts, the latest of them. */
interface Folded {
  readonly title: string;
  readonly text: string;
}

const MOST_ENTRIES = 50;
const MOST_TEXT = 2_000_000;

export class FoldedOutput {
  #entries: Folded[] = [];
  #size = 0;
  /** How many of the latest have been shown since something was added. */
  #shown = 0;

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  add(title: string, text: string): void {
    if (text === '') return;
    this.#shown = 0;
    this.#entries.push({ title, text });
    this.#size += text.length;
    while (this.#entries.length > MOST_ENTRIES || (this.#size > MOST_TEXT && this.#entries.length > 1))
      this.#size -= this.#entries.shift()?.text.length ?? 0;
  }

  /** The latest, then the one before; null when all have been shown. */
  next(): Folded | null {
    const found = this.#entries.at(-1 - this.#shown) ?? null;
    if (found !== null) this.#shown += 1;
    return found;
  }
}
