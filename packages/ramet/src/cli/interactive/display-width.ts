/**
 * How many columns text takes on a terminal: graphemes of 0, 1 or 2. Terminals disagree about some emoji; this
 * follows what most of them do, and a wrong guess shifts a line by a column and breaks nothing.
 */

/** First and last code points that are two columns wide besides those that look like emoji by default. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd],
];

const PLAIN = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mark}\p{Control}\p{Format}\p{Surrogate}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

let segmenter: Intl.Segmenter | undefined;

/** Printable ASCII: every code unit is a character of one column. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** What a reader takes for single characters. */
export function graphemesOf(text: string): string[] {
  if (isPlain(text)) return text.split('');
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

export function graphemeWidth(grapheme: string): 0 | 1 | 2 {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  if (NO_WIDTH.test(grapheme)) return 0;
  const point = grapheme.codePointAt(0) ?? 0;
  return EMOJI.test(grapheme) || WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}

export function displayWidth(text: string): number {
  if (isPlain(text)) return text.length;
  return graphemesOf(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** As much of the text as fits into so many columns, with an ellipsis where something was left out. */
export function fitText(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let fitted = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += graphemeWidth(grapheme);
    if (width > columns - 1) break;
    fitted += grapheme;
  }
  return columns > 0 ? `${fitted}…` : '';
}

/** All of the text in rows of at most so many columns; one empty row for an empty text. */
export function wrapText(text: string, columns: number): string[] {
  if (displayWidth(text) <= columns) return [text];
  const rows: string[] = [];
  let row = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    const cells = graphemeWidth(grapheme);
    if (width + cells > columns && row !== '') {
      rows.push(row);
      row = '';
      width = 0;
    }
    row += grapheme;
    width += cells;
  }
  return [...rows, row];
}
