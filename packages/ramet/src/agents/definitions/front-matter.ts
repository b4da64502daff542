/** Finds the front matter of a Markdown file: the lines between two lines of three dashes at its beginning. */

export interface FrontMatter {
  text: string;
  /** The line of the file on which `text` begins, from 1. */
  line: number;
  body: string;
  closed: boolean;
}

/** Searched for, not split into lines: most of a file is its body. */
const BEGINNING = /^\s*?---[ \t]*(?:\n|$)/;
const END = /^---[ \t]*$/m;

/** Null for a file that does not begin with one. `text` has line feeds alone: see `plainText`. */
export function splitFrontMatter(text: string): FrontMatter | null {
  const [beginning] = BEGINNING.exec(text) ?? [];
  if (beginning === undefined) return null;
  const line = beginning.trimEnd().split('\n').length + 1;
  const rest = text.slice(beginning.length);
  const end = END.exec(rest);
  if (end === null) return { text: rest, line, body: '', closed: false };
  return {
    text: rest.slice(0, Math.max(0, end.index - 1)),
    line,
    body: rest.slice(end.index + end[0].length).trim(),
    closed: true,
  };
}

/** Without a byte order mark, and with one kind of line end. */
export function plainText(text: string): string {
  const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
  return unmarked.includes('\r') ? unmarked.replace(/\r\n?/g, '\n') : unmarked;
}
