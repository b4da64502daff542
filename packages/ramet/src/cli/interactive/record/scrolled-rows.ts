/** Blocks as rows of one width, of which a screen shows a part: the end, or where a person has scrolled to. */
import type { Block } from '../markdown/blocks.ts';
import { brokenRows, type Row } from '../markdown/wrapped-rows.ts';

/** More than anybody scrolls back; the journal has the rest. */
const MOST_ROWS = 20_000;

export class ScrolledRows {
  #blocks: Block[] = [];
  #rows: Row[] = [];
  #columns = 0;
  /** The first row in sight; null for the end, whatever is added. */
  #top: number | null = null;
  #seen = { rows: 0, height: 1 };

  add(blocks: readonly Block[]): void {
    this.#blocks.push(...blocks);
    for (const block of blocks) this.#rows.push(...rowsOf(block, this.#columns));
    const old = this.#rows.length - MOST_ROWS;
    // By half, so that this is seldom.
    if (old > MOST_ROWS / 2) {
      this.#blocks = this.#blocks.slice(-MOST_ROWS);
      this.#rows = this.#rows.slice(old);
      if (this.#top !== null) this.#top = Math.max(0, this.#top - old);
    }
  }

  /** Exactly `height` rows: those above `unfinished`, which is the end, and how many are below what is shown. */
  shown(
    { columns, height }: { readonly columns: number; readonly height: number },
    unfinished: readonly Row[],
  ): { readonly rows: readonly Row[]; readonly below: number } {
    if (columns !== this.#columns) this.#rewrap(columns);
    const count = this.#rows.length + unfinished.length;
    this.#seen = { rows: count, height };
    const last = Math.max(0, count - height);
    if (this.#top !== null && this.#top >= last) this.#top = null;
    const top = this.#top ?? last;
    const own = this.#rows.slice(top, top + height);
    const rest = unfinished.slice(Math.max(0, top - this.#rows.length), top + height - this.#rows.length);
    const rows = [...own, ...(top + height > this.#rows.length ? rest : [])];
    const empty = Array.from({ length: height - rows.length }, () => ({ text: '', width: 0 }));
    return { rows: [...rows, ...empty], below: Math.max(0, count - top - height) };
  }

  /** Up for fewer than none. */
  scroll(by: number): void {
    const { rows, height } = this.#seen;
    const last = Math.max(0, rows - height);
    this.#top = Math.max(0, Math.min(last, (this.#top ?? last) + by));
  }

  /** By all but one row of what is in sight. */
  page(direction: 1 | -1): void {
    this.scroll(direction * Math.max(1, this.#seen.height - 1));
  }

  toStart(): void {
    this.#top = 0;
  }

  toEnd(): void {
    this.#top = null;
  }

  #rewrap(columns: number): void {
    const share = this.#top === null ? null : this.#top / Math.max(1, this.#rows.length);
    this.#columns = columns;
    this.#rows = this.#blocks.flatMap((block) => rowsOf(block, columns));
    if (share !== null) this.#top = Math.floor(share * this.#rows.length);
  }
}

export function rowsOf(block: Block, columns: number): Row[] {
  return columns === 0 ? [] : block.rows(columns).flatMap((row) => brokenRows(row, columns));
}
