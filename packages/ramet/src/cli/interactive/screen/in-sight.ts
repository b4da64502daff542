/**
 * What a terminal may show of what was written to it: the end of the output, and the live rows below it. It writes nothing.
 */
import type { Block } from '../markdown/blocks.ts';
import type { Row } from '../markdown/wrapped-rows.ts';
import { heightOfAll, KeptOutput, textColumns, type UnsureOutput } from './kept-output.ts';

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

/** A terminal on which all is to be written again. */
export interface StandingScreen {
  /** The row of its cursor; null if it has its last size and only that is to be counted. */
  readonly cursorRow: number | null;
  /** How wide it is. */
  readonly columns: number;
  /** The live rows may have been cut at its width, where it would else have broken them. */
  readonly isCut: boolean;
}

/** What stands from this many rows above the cursor on, to be written again. */
export interface OutputInSight {
  readonly above: number;
  readonly rows: readonly Row[];
  /** What is above it and is written over too in a terminal that has become wider meanwhile. */
  readonly unsure: UnsureOutput;
  /** Rows of the terminal above it. */
  readonly top: number;
}

const NO_ROWS: LiveRows = { rows: [], cursorRow: 0, cursorColumn: 0 };

export class InSight {
  readonly #output = new KeptOutput();
  #size: ScreenSize;
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
  keep(block: Block, rows: readonly Row[]): number {
    return this.#output.keep(block, rows, this.#size.columns);
  }

  /** The live rows are these, below `added` new rows of output. */
  shows(live: LiveRows, added: number): void {
    const grown = liveHeight(live) - liveHeight(this.#live);
    this.#below = Math.min(this.#size.rows - 1, Math.max(0, this.#below - added - grown));
    this.#live = live;
  }

  /** The live rows are these, and this many are free below them. */
  leaves(below: number, live: LiveRows): void {
    this.#below = Math.max(0, below);
    this.#live = live;
  }

  /** From now on all is written for this size. How much room is left below is no longer known. */
  resize(size: ScreenSize): void {
    if (!isSameSize(size, this.#size)) this.#below = 0;
    this.#size = size;
  }

  /** Something else was written to the terminal, which has this size. */
  reopen(size: ScreenSize): void {
    this.#output.forget();
    this.resize(size);
  }

  /** The live rows are gone. */
  clearLive(): void {
    this.#live = NO_ROWS;
  }

  /** Live rows above the cursor, as they stand. */
  liveAbove({ columns, isCut }: Pick<StandingScreen, 'columns' | 'isCut'>): number {
    const { rows, cursorRow, cursorColumn } = this.#live;
    if (isCut) return cursorRow;
    return heightOfAll(rows.slice(0, cursorRow), columns) + Math.floor(cursorColumn / columns);
  }

  /** From now on all is written for this size; the output that stands on the terminal too, and what may be gone from it. */
  again(standing: StandingScreen, size: ScreenSize, unsure: UnsureOutput): OutputInSight {
    const { rows, cursorRow } = this.#live;
    const counted = this.#size.rows - this.#below - Math.max(1, rows.length) + cursorRow;
    const row = Math.max(0, standing.cursorRow ?? counted);
    const live = Math.min(row, this.liveAbove(standing));
    this.resize(size);
    const { columns } = size;
    const output = this.#output.again({
      rows: row - live,
      broken: live - Math.min(row, cursorRow),
      stoodAt: standing.columns,
      columns,
      unsure,
    });
    const above = live + output.height;
    return { ...output, above, top: row - above };
  }
}

export function isSameSize(one: ScreenSize, other: ScreenSize): boolean {
  return one.columns === other.columns && one.rows === other.rows;
}

function liveHeight({ rows }: LiveRows): number {
  return Math.max(1, rows.length);
}
