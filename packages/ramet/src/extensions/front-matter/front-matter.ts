/**
 * The front matter of a Markdown file that a user brings: an agent, a skill, a command, a rule. Its text is untrusted:
 * nothing in it is executed, and what is wrong with it is a problem with its line.
 */
import type { FieldProblem, FieldReading } from './field-problem.ts';
import { type FieldMap, plainFields } from './plain-fields.ts';
import type { yamlFields } from './yaml-fields.ts';

/** The lines between two lines of three dashes at the beginning of a file. */
interface FrontMatter {
  text: string;
  /** The line of the file on which `text` begins, from 1. */
  line: number;
  body: string;
  closed: boolean;
}

/** Searched for, not split into lines: most of a file is its body. */
const BEGINNING = /^\s*?---[ \t]*(?:\n|$)/;

const END = /^---[ \t]*$/m;

const LONGEST_FRONT = 64 << 10;

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

/** What keeps front matter from being read; null when nothing does. */
export function frontProblem({ closed, line, text }: FrontMatter): FieldProblem | null {
  if (!closed) return mistake(line - 1, 'the front matter has no end: add a line ---');
  if (text.length > LONGEST_FRONT)
    return mistake(line, `the front matter has more than ${LONGEST_FRONT} bytes`);
  return null;
}

function mistake(line: number, message: string): FieldProblem {
  return { line, field: null, level: 'error', message };
}

/** Null when it takes YAML to read it, and `readYaml` is null. */
export function readFields(
  { text, line }: Pick<FrontMatter, 'text' | 'line'>,
  known: ReadonlySet<string>,
  readYaml: typeof yamlFields | null,
  needed?: string | null,
): FieldReading | null {
  const plain = plainFields(text, line);
  if (plain !== null) return { fields: plain, problems: bareColons(plain) };
  return readYaml === null ? null : readYaml(text, line, known, needed);
}

function bareColons(fields: FieldMap): FieldProblem[] {
  const { recovered, line = null } = fields.get('description') ?? {};
  if (recovered !== true) return [];
  const message =
    'this is not valid YAML (a text with colons in it); it was read as one text: put it in quotes, or below "description: |-"';
  return [{ line, field: 'description', level: 'warning', message }];
}
