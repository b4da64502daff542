/** The block that is being read, with what is known of it. */
import type { BlockPlace } from './blocks.ts';
import type { OpenText } from './code-colours.ts';
import type { CellAlign } from './table-rows.ts';

export interface Paragraph {
  readonly kind: 'paragraph';
  text: string;
  place: BlockPlace;
  /** Its beginning has been given out. */
  isCut: boolean;
}

export interface Fence {
  readonly kind: 'fence';
  readonly mark: string;
  readonly indent: number;
  readonly language: string;
  place: BlockPlace;
  /** The words behind the fence; null once the beginning has been given out. */
  opening: string | null;
  /** Coloured. */
  lines: string[];
  /** How long they are together. */
  size: number;
  open: OpenText | null;
}

export interface Table {
  readonly kind: 'table';
  readonly header: readonly string[] | null;
  readonly align: readonly CellAlign[];
  readonly rows: (readonly string[])[];
  readonly place: BlockPlace;
}

export type Leaf = Paragraph | Fence | Table;
