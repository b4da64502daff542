/** How figures and text look to people. Unknown is shown as such, never as 0. */

import { eastAsianWidth } from 'get-east-asian-width';
import { isUncertain, totalTokens, type Usage } from '../../schema/usage.ts';
import { stripAnsi } from '../../system/text/visible-text.ts';

export { visibleLine, visibleName, visibleText } from '../../system/text/visible-text.ts';

export function dollars(usd: number | null): string {
  if (usd === null) return 'unknown';
  if (usd > 0 && usd < 0.00005) return '<$0.0001';
  return `$${usd.toFixed(usd > 0 && usd < 1 ? 4 : 2)}`;
}

export function tokens(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(2)}M`;
}

/** A sum of which a part is unknown ends in `+`: it is at least that. */
export function atLeastDollars(usd: number | null, atLeastUsd: number): string {
  return usd === null && atLeastUsd > 0 ? `${dollars(atLeastUsd)}+` : dollars(usd);
}

export function atLeastTokens(count: number, isPart: boolean): string {
  if (!isPart) return tokens(count);
  return count === 0 ? '?' : `${tokens(count)}+`;
}

export function usageTokens(usage: Usage): string {
  const about = usage.estimated === true ? '~' : '';
  return about + atLeastTokens(totalTokens(usage), isUncertain(usage));
}

export function percent(share: number | null): string {
  return share === null ? '-' : `${Math.round(share * 100)}%`;
}

/** Times of one journal may run backwards, where a clock was set: no time is less than none. */
export function duration(difference: number): string {
  const ms = Math.max(0, difference);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/**
 * Text that others wrote, made fit for a terminal: no escape sequences, no control characters, nothing that
 * turns the direction of writing and so could make a command read differently from what it does.
 */
export function safeText(text: string): string {
  return printable(stripAnsi(text));
}

/** The same on one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ').trim();
}

/** One line of at most `length` characters, control characters taken out: the text may come from a model. */
export function excerpt(text: string, length: number): string {
  const line = safeLine(text);
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** The same with its indentation, and the spaces inside, as they are: a line of code. */
export function codeLine(text: string, length: number): string {
  const line = safeText(text).trimEnd();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/**
 * Text without the control characters that could move a terminal's cursor or rewrite its screen, and without those that
 * turn the direction of writing, so that a line could read differently from what it says.
 */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '').replace(DIRECTION_MARKS, '');
}

const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Columns as wide as their widest cell, two spaces apart unless `gap` says otherwise; the last is left as it is. */
export function table(rows: readonly (readonly string[])[], gap = '  '): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const padded = (cell: string, width: number): string =>
    cell + ' '.repeat(Math.max(0, width - displayWidth(cell)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column] ?? 0)))
        .join(gap)
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** ASCII, and the signs that our own rows have: none of them is part of a longer character by itself. */
const PLAIN =
  /^[\x20-\x7e\xb7\xbb\u2013\u2014\u2022\u2026\u2190\u2192\u2500\u2502\u2713\u2717\u2800-\u28ff]*$/;

const NO_WIDTH = /^[\p{Mark}\p{Control}\p{Format}\p{Surrogate}]+$/u;

const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

let segmenter: Intl.Segmenter | undefined;

/** Every code unit is a character of one column. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** What a reader takes for single characters. */
export function graphemesOf(text: string): string[] {
  if (isPlain(text)) return text.split('');
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/**
 * Columns on a terminal, by Unicode's own table. Terminals disagree about some emoji; this follows what most of them do,
 * and a wrong guess shifts a line by a column and breaks nothing.
 */
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

/** As much of the text as fits into `columns`, with an ellipsis where something was left out. */
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

/** All of the text in rows of at most `columns`; one empty row for an empty text. */
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
