import { headOf } from '../../system/text/cut-text.ts';

const SNIPPET_LINE_LENGTH = 500;

/** Lines as `cat -n` shows them: what Read prints and what every other tool that shows file text prints too. */
export function numberedLine(number: number, text: string): string {
  return `${String(number).padStart(6)}\t${text}`;
}

/** A few lines to show a place in a file; of a long line its beginning. */
export function numberedSnippet(lines: readonly string[], first: number): string {
  const cut = (line: string): string =>
    line.length > SNIPPET_LINE_LENGTH ? `${headOf(line, SNIPPET_LINE_LENGTH)}...` : line;
  return lines.map((line, index) => numberedLine(first + index, cut(line))).join('\n');
}

/** The lines of a text; a final line end closes the last line and opens no new one. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
