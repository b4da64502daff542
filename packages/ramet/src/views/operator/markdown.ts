/** Text of others inside Markdown: nothing of it becomes a heading, a link, a row or HTML. */
import { visibleLine } from '../../system/text/visible-text.ts';

export function markdownLine(text: string, length: number): string {
  const line = visibleLine(text);
  const cut = line.length > length ? `${line.slice(0, length - 1)}…` : line;
  return cut.replace(/[\\`*_[\]<>~&]/g, '\\$&');
}

/** As code on one line, with more backticks around it than it holds in a row. */
export function code(text: string): string {
  const line = visibleLine(text);
  const ticks = '`'.repeat(longestRun(line) + 1);
  const gap = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${gap}${line}${gap}${ticks}`;
}

export function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}
