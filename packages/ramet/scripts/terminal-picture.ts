/**
 * An SVG film of a terminal: what was on its screen, moment by moment. Rows that look alike are drawn once and used again.
 * Every piece of text is stretched to its columns, so the picture is right whatever font a viewer has. Where films are not
 * shown (a viewer without CSS, or one that asked for less motion), the last screen is.
 */
import type { StyledText } from '../test/fixtures/virtual-terminal.ts';

const COLUMN = 8.4;
const LINE = 19;
const MARGIN = 16;
const BAR = 34;

const COLOURS: Readonly<Record<string, string>> = {
  red: '#ff7b72',
  green: '#7ee787',
  yellow: '#e3b341',
  blue: '#79c0ff',
  magenta: '#d2a8ff',
  cyan: '#76e3ea',
};
const PLAIN = '#e6edf3';

export interface Screenshot {
  rows: readonly (readonly StyledText[])[];
  /** How long it is shown, in seconds. */
  seconds: number;
}

export interface PictureOptions {
  columns: number;
  rows: number;
  title: string;
  /** For readers who do not see it. */
  description: string;
}

export function terminalPicture(shots: readonly Screenshot[], options: PictureOptions): string {
  const width = round(options.columns * COLUMN + 2 * MARGIN);
  const height = BAR + options.rows * LINE + MARGIN;
  const known = new Map<string, number>();
  const screens = shots.map(({ rows }) => rows.map((row) => numberOf(rowText(row), known)));
  const definitions = [...known].map(([text, number]) => `<g id="r${number}">${text}</g>`);
  const film = screens.map(
    (screen, shot) =>
      `<g transform="translate(${shot * width} 0)">${screen
        .map((number, row) => (number === null ? '' : `<use href="#r${number}" y="${row * LINE}"/>`))
        .join('')}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(options.title)}</title>
<desc>${escaped(options.description)}</desc>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:${PLAIN};white-space:pre}
.bold{font-weight:700}.dim{opacity:.6}.italic{font-style:italic}
${Object.entries(COLOURS)
  .map(([name, colour]) => `.${name}{fill:${colour}}`)
  .join('')}
${motion(shots, width)}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g fill="#484f58"><circle cx="20" cy="17" r="6"/><circle cx="40" cy="17" r="6"/><circle cx="60" cy="17" r="6"/></g>
<text class="dim" x="${width / 2}" y="22" text-anchor="middle">${escaped(options.title)}</text>
<defs>
${definitions.join('\n')}
</defs>
<svg aria-hidden="true" y="${BAR}" width="${width}" height="${height - BAR}" viewBox="0 0 ${width} ${height - BAR}"><g class="film" transform="translate(${-(shots.length - 1) * width} 0)">
${film.join('\n')}
</g></svg>
</svg>
`;
}

/** The film moves by whole screens, each at its moment, for ever. */
function motion(shots: readonly Screenshot[], width: number): string {
  const whole = shots.reduce((sum, { seconds }) => sum + seconds, 0);
  let passed = 0;
  const steps = shots.map(({ seconds }, shot) => {
    const at = round((passed / whole) * 100);
    passed += seconds;
    return `${at}%{transform:translateX(${-shot * width}px)}`;
  });
  const last = -(shots.length - 1) * width;
  return `@keyframes film{${steps.join('')}100%{transform:translateX(${last}px)}}
.film{animation:film ${round(whole)}s step-end infinite}
@media (prefers-reduced-motion:reduce){.film{animation:none}}`;
}

/** Null for an empty row. */
function numberOf(text: string, known: Map<string, number>): number | null {
  if (text === '') return null;
  const number = known.get(text) ?? known.size;
  known.set(text, number);
  return number;
}

function rowText(row: readonly StyledText[]): string {
  return row
    .flatMap(({ text, look, column }) => (text.trim() === '' ? [] : [piece(text, look, column)]))
    .join('');
}

function piece(text: string, look: string, column: number): string {
  const shown = text.trimEnd();
  const begins = shown.length - shown.trimStart().length;
  const columns = shown.length - begins;
  const x = round(MARGIN + (column + begins) * COLUMN);
  const style = look === '' ? '' : ` class="${look}"`;
  const stretch = ` textLength="${round(columns * COLUMN)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text${style} x="${x}" y="14"${columns > 1 ? stretch : ''}>${escaped(shown.trimStart())}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
