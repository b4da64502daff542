/**
 * One definition file (TYPE-3): Markdown with front matter, its body the system prompt; or YAML with the same fields and
 * `prompt`. Its text is untrusted: nothing in it is executed, and what is wrong with it is a problem with its line.
 */

import { THREAD_NOTES } from '../prompts/main-prompt.ts';
import type { AgentDefinition, DefinitionProblem, DefinitionSource, FieldProblem } from './definition.ts';
import { KNOWN_FIELDS, readTraits } from './definition-fields.ts';
import { type FieldMap, type FieldValue, plainFields } from './plain-fields.ts';
import type { yamlFields } from './yaml-fields.ts';

/** Searched for, not split into lines: most of a file is its body. */
const BEGINNING = /^\s*?---[ \t]*(?:\n|$)/;

const END = /^---[ \t]*$/m;

/**
 * Sent with the task to every agent that a definition file describes (PROMPT-1): the file's own prompt knows nothing
 * about the harness. It comes after what agents share, so it costs no cache.
 */
export const FILE_NOTES: string = `<sub-agent>
- Another agent gave you the task below. You cannot ask it anything. It sees only your last message, so that message is your report.
- Every command starts in your working directory.
${THREAD_NOTES}
</sub-agent>`;

export interface DefinitionFile {
  path: string;
  /** Null when it is not used: see the problems. */
  definition: AgentDefinition | null;
  /** As far as it could be read. */
  name: string | null;
  /** Every field as written, also those that are unknown or have no effect. */
  declared: Readonly<Record<string, unknown>>;
  problems: readonly DefinitionProblem[];
}

export interface FileContext {
  path: string;
  source: DefinitionSource;
  /** The tools there are. */
  toolNames: readonly string[];
}

/** A plugin is not the user's own: what it may do is not for it to say. */
const IGNORED_IN_PLUGINS = ['hooks', 'mcpServers', 'permissionMode'];
const LONGEST_NAME = 100;
const LONGEST_FRONT = 64 << 10;

/** Null when it takes YAML to read it, and `readYaml` is null. */
export function parseDefinition(
  written: string,
  context: FileContext,
  readYaml: typeof yamlFields | null,
): DefinitionFile | null {
  const text = plainText(written);
  const isMarkdown = context.path.toLowerCase().endsWith('.md');
  const front = isMarkdown ? splitFrontMatter(text) : { text, line: 1, body: '', closed: true };
  if (front === null) return unusedFile(context.path, note('no front matter: not a definition, ignored'));
  if (!front.closed)
    return unusedFile(context.path, mistake(front.line - 1, 'the front matter has no end: add a line ---'));
  if (isMarkdown && front.text.length > LONGEST_FRONT)
    return unusedFile(
      context.path,
      mistake(front.line, `the front matter has more than ${LONGEST_FRONT} bytes`),
    );
  const plain = isMarkdown ? plainFields(front.text, front.line) : null;
  if (plain === null && readYaml === null) return null;
  const { fields, problems } =
    plain === null && readYaml !== null
      ? readYaml(front.text, front.line, KNOWN_FIELDS)
      : { fields: plain ?? new Map<string, FieldValue>(), problems: bareColons(plain) };
  return fileOf(fields, front.body, context, problems);
}

function bareColons(fields: FieldMap | null): FieldProblem[] {
  const { recovered, line = null } = fields?.get('description') ?? {};
  if (recovered !== true) return [];
  const message =
    'this is not valid YAML (a text with colons in it); it was read as one text: put it in quotes, or below "description: |-"';
  return [{ line, field: 'description', level: 'warning', message }];
}

/** A file of which nothing can be used. */
export function unusedFile(path: string, ...problems: FieldProblem[]): DefinitionFile {
  return {
    path,
    definition: null,
    name: null,
    declared: {},
    problems: problems.map((one) => ({ path, ...one })),
  };
}

function fileOf(
  stated: FieldMap,
  body: string,
  { path, source, toolNames }: FileContext,
  reading: readonly FieldProblem[],
): DefinitionFile {
  const found: FieldProblem[] = [...reading];
  const declared = Object.fromEntries([...stated].map(([field, { value }]) => [field, value]));
  const failed = reading.some(({ level }) => level === 'error');
  if (!stated.has('name') || stated.get('name')?.value === null) {
    if (!failed) found.push(note('no name: not a definition, ignored'));
    return { ...unusedFile(path, ...found), declared };
  }
  const fields = source === 'plugin' ? withoutIgnored(stated, found) : stated;
  const name = readName(fields, found);
  const description = readDescription(fields, found);
  const { traits, problems } = readTraits(fields, toolNames);
  found.push(...problems);
  const system = readPrompt(fields, body, description, found);
  const usable = !found.some(({ level }) => level === 'error');
  const definition = { name, description, system: [system], notes: FILE_NOTES, ...traits, source, path };
  return {
    path,
    definition: usable ? definition : null,
    name: name === '' ? null : name,
    declared,
    problems: found.map((one) => ({ path, ...one })),
  };
}

function withoutIgnored(fields: FieldMap, found: FieldProblem[]): FieldMap {
  const ignored = IGNORED_IN_PLUGINS.filter((field) => fields.has(field));
  for (const field of ignored)
    found.push({ ...note('ignored in a plugin'), line: fields.get(field)?.line ?? null, field });
  return new Map([...fields].filter(([field]) => !ignored.includes(field)));
}

function readName(fields: FieldMap, found: FieldProblem[]): string {
  const { value, line = null } = fields.get('name') ?? {};
  const name = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  const reason = nameProblem(name);
  if (reason !== null) found.push({ ...mistake(line, reason), field: 'name' });
  return name;
}

function nameProblem(name: string): string | null {
  if (name === '') return 'it is empty, or not a text';
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name))
    return 'it has control characters in it: use letters and dashes';
  const [wrong] = /[/\\:]/.exec(name) ?? [];
  if (wrong !== undefined) return `it has a ${wrong} in it: use letters, digits and dashes`;
  if (name.startsWith('-')) return 'it begins with a dash: begin it with a letter';
  if (name.length > LONGEST_NAME) return `it is longer than ${LONGEST_NAME} characters`;
  return name.toLowerCase() === 'fork' ? 'fork is no type: choose another name' : null;
}

/** Generators of such files write line ends as backslash and n, outside of quotes. */
function readDescription(fields: FieldMap, found: FieldProblem[]): string {
  const { value, line = null } = fields.get('description') ?? {};
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const description = text.replaceAll('\\n', '\n').trim();
  if (description === '')
    found.push({
      ...mistake(line, 'it is missing or empty: say when to use this agent'),
      field: 'description',
    });
  return description;
}

function readPrompt(fields: FieldMap, body: string, description: string, found: FieldProblem[]): string {
  const { value, line = null } = fields.get('prompt') ?? {};
  const prompt = typeof value === 'string' ? value.trim() : '';
  const say = (level: FieldProblem['level'], message: string): number =>
    found.push({ line, field: 'prompt', level, message });
  if (value !== undefined && value !== null && typeof value !== 'string') say('error', 'it is not a text');
  if (body !== '' && prompt !== '') say('warning', 'the text below the front matter counts, not this');
  if (body === '' && prompt === '') say('warning', 'missing: its agents get the description instead');
  return (body || prompt || description).toWellFormed();
}

function mistake(line: number | null, message: string): FieldProblem {
  return { line, field: null, level: 'error', message };
}

function note(message: string): FieldProblem {
  return { line: null, field: null, level: 'note', message };
}

/** Finds the front matter of a Markdown file: the lines between two lines of three dashes at its beginning. */
interface FrontMatter {
  text: string;
  /** The line of the file on which `text` begins, from 1. */
  line: number;
  body: string;
  closed: boolean;
}

/** Null for a file that does not begin with one. `text` has line feeds alone: see `plainText`. */
function splitFrontMatter(text: string): FrontMatter | null {
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
function plainText(text: string): string {
  const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
  return unmarked.includes('\r') ? unmarked.replace(/\r\n?/g, '\n') : unmarked;
}
