/**
 * What a terminal may show of what was written to it: the last output, and the live rows below it. A terminal wraps what is in
 * sight in its own way when its size changes, and shows what had scrolled away when it grows. It writes nothing.
 */
import type { Block } from '../markdown/blocks.ts';
import { brokenRows, type Row } from '../markdown/wrapped-rows.ts';

export interface LiveRow {
  /** May hold colours. */
  readonly text: string;
  /** Columns it takes. */
  readonly width: number;
}

export interface LiveRows {
  readonly rows: readonly LiveRow[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Rows of output that are kept to be drawn again: more than any screen has. */
const KEPT_ROWS = 600;
const NO_ROWS: LiveRows = { rows: [], cursorRow: 0, cursorColumn: 0 };

interface Kept {
  readonly block: Block;
  readonly height: number;
}

export class InSight {
  #size: ScreenSize;
  #kept: Kept[] = [];
  #keptRows = 0;
  #live = NO_ROWS;
  /** How many rows are free below the live ones, at most; exactly, once it has been none. */
  #below: number;

  constructor(size: ScreenSize) {
    this.#size = size;
    this.#below = size.rows - 1;
  }

  /** What all was written for. */
  get size(): ScreenSize {
    return this.#size;
  }

  get live(): LiveRows {
    return this.#live;
  }

  get below(): number {
    return this.#below;
  }

  rowsOf({ rows }: Block): readonly Row[] {
    return rows(textColumns(this.#size.columns));
  }

  /** Output that is being written. Returns the rows that it takes. */
  keep(block: Block): number {
    const height = heightOfAll(this.rowsOf(block), this.#size.columns);
    this.#kept.push({ block, height });
    this.#keptRows += height;
    let old = 0;
    while (this.#keptRows - (this.#kept[old]?.height ?? 0) > KEPT_ROWS)
      this.#keptRows -= this.#kept[old++]?.height ?? 0;
    if (old > 0) this.#kept = this.#kept.slice(old);
    return height;
  }

  /** The live rows are these, below `added` new rows of output. */
  shows(live: LiveRows, added: number): void {
    const grown = liveHeight(live) - liveHeight(this.#live);
    this.#below = Math.min(this.#size.rows - 1, Math.max(0, this.#below - added - grown));
    this.#live = live;
  }

  /** From now on all is written for this size. How much room is left below is no longer known. */
  resize(size: ScreenSize): void {
    if (!isSameSize(size, this.#size)) this.#below = 0;
    this.#size = size;
  }

  /** The live rows are gone. */
  clearLive(): void {
    this.#live = NO_ROWS;
  }

  /** The last rows of the output, as many as there are, up to `most`. */
  tail(most: number): Row[] {
    const { columns } = this.#size;
    const found: Row[] = [];
    let left = most;
    for (const { block } of this.#kept.toReversed()) {
      if (left <= 0) break;
      for (const row of this.rowsOf(block).toReversed()) {
        if (left <= 0) break;
        const height = heightOf(row, columns);
        const parts = height <= left ? [row] : brokenRows(row, columns).slice(-left);
        found.push(...parts.reverse());
        left -= Math.min(left, height);
      }
    }
    return found.reverse();
  }

  /**
   * How many rows the output in sight takes at a new width. A terminal has broken the rows that stood there; from the first of
   * them on all must be written again, or scroll away: what is written over is nowhere else. `lowest`: the terminal may have
   * been as low as that in between.
   */
  rowsAt(size: ScreenSize, lowest: number = size.rows): number {
    const { rows, cursorRow } = this.#live;
    const standing = heightOfAll(rows, size.columns);
    // A terminal that gets lower first gives up what stands below the cursor.
    const givenUp = Math.max(0, Math.min(this.#size.rows - lowest, rows.length - 1 - cursorRow));
    let room = size.rows - (isSameSize(size, this.#size) ? this.#below : 0) - standing + givenUp;
    let taken = 0;
    for (const { block } of this.#kept.toReversed()) {
      if (room <= 0) break;
      const stood = heightOfAll(this.rowsOf(block), size.columns);
      const written = heightOfAll(block.rows(textColumns(size.columns)), size.columns);
      taken += stood <= room ? written : stood === written ? room : partOf(written, room / stood);
      room -= stood;
    }
    return taken;
  }

  /** How far above the cursor the output began, by how terminals wrap rows of another width. */
  aboveCursor(size: ScreenSize): number {
    const { rows, cursorRow, cursorColumn } = this.#live;
    const above = [...this.#kept.flatMap(({ block }) => this.rowsOf(block)), ...rows.slice(0, cursorRow)];
    const height = heightOfAll(above, size.columns) + Math.floor(cursorColumn / size.columns);
    return Math.min(size.rows - 1, height);
  }
}

/** The last column stays free: a terminal that has written there is between two rows. */
export function textColumns(columns: number): number {
  return Math.max(1, columns - 1);
}

export function isSameSize(one: ScreenSize, other: ScreenSize): boolean {
  return one.columns === other.columns && one.rows === other.rows;
}

/** Rows that the terminal makes of them. */
export function heightOfAll(rows: readonly Row[], columns: number): number {
  return rows.reduce((sum, row) => sum + heightOf(row, columns), 0);
}

function heightOf(row: Row, columns: number): number {
  return row.width <= columns ? 1 : brokenRows(row, columns).length;
}

/** Of a block that begins above the screen; rather a row twice than none. */
function partOf(rows: number, share: number): number {
  return Math.min(rows, Math.ceil(rows * share) + 1);
}

function liveHeight({ rows }: LiveRows): number {
  return Math.max(1, rows.length);
}
