/**
 * How many columns text takes on a terminal: graphemes of 0, 1 or 2, by Unicode's own table. Terminals disagree about
 * some emoji; this follows what most of them do, and a wrong guess shifts a line by a column and breaks nothing.
 */
import { eastAsianWidth } from 'get-east-asian-width';

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
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(point);
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
