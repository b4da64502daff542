/**
 * One definition file (TYPE-3): Markdown with front matter, its body the system prompt; or YAML with the same fields and
 * `prompt`. Its text is untrusted: nothing in it is executed, and what is wrong with it is a problem with its line.
 */

import type { FieldProblem, FieldReading } from '../../extensions/front-matter/field-problem.ts';
import {
  frontProblem,
  plainText,
  readFields,
  splitFrontMatter,
} from '../../extensions/front-matter/front-matter.ts';
import type { FieldMap, FieldValue } from '../../extensions/front-matter/plain-fields.ts';
import type { yamlFields } from '../../extensions/front-matter/yaml-fields.ts';
import { THREAD_NOTES } from '../prompts/main-prompt.ts';
import type { AgentDefinition, DefinitionProblem, DefinitionSource } from './definition.ts';
import { KNOWN_FIELDS, readTraits } from './definition-fields.ts';

export { KNOWN_FIELDS };

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
  /** The plugin it belongs to: its name comes before that of the type. */
  namespace?: string | undefined;
}

/** A plugin is not the user's own: what it may do is not for it to say. */
const IGNORED_IN_PLUGINS = ['hooks', 'mcpServers', 'permissionMode'];
const LONGEST_NAME = 100;

/** Null when it takes YAML to read it, and `readYaml` is null. */
export function parseDefinition(
  written: string,
  context: FileContext,
  readYaml: typeof yamlFields | null,
): DefinitionFile | null {
  const text = plainText(written);
  const isMarkdown = context.path.toLowerCase().endsWith('.md');
  if (!isMarkdown) return readYaml === null ? null : fileOf(readYaml(text, 1, KNOWN_FIELDS), '', context);
  const front = splitFrontMatter(text);
  if (front === null) return unusedFile(context.path, note('no front matter: not a definition, ignored'));
  const problem = frontProblem(front);
  if (problem !== null) return unusedFile(context.path, problem);
  const reading = readFields(front, KNOWN_FIELDS, readYaml);
  return reading === null ? null : fileOf(reading, front.body, context);
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
  { fields: stated, problems: reading }: FieldReading,
  body: string,
  { path, source, toolNames, namespace }: FileContext,
): DefinitionFile {
  const found: FieldProblem[] = [...reading];
  const declared = Object.fromEntries([...stated].map(([field, { value }]) => [field, value]));
  const failed = reading.some(({ level }) => level === 'error');
  if (!stated.has('name') || stated.get('name')?.value === null) {
    if (!failed) found.push(note('no name: not a definition, ignored'));
    return { ...unusedFile(path, ...found), declared };
  }
  const fields = source === 'plugin' ? withoutIgnored(stated, found) : stated;
  const own = readName(fields, found);
  const name = namespace === undefined || own === '' ? own : `${namespace}:${own}`;
  const description = readDescription(fields, found);
  const { traits, problems } = readTraits(fields, toolNames);
  found.push(...problems);
  const system = readPrompt(fields, body, description, found);
  const usable = !found.some(({ level }) => level === 'error');
  const aliases = name !== own && { aliases: [own] };
  const definition = {
    name,
    ...aliases,
    description,
    system: [system],
    notes: FILE_NOTES,
    ...traits,
    source,
    path,
  };
  return {
    path,
    definition: usable ? definition : null,
    name: name === '' ? null : name,
    declared,
    problems: found.map((one) => ({ path, ...one })),
  };
}

/** A type whose fields are values already; what its problems name as a file is where the caller has it. */
export function definitionOf(
  stated: Readonly<Record<string, unknown>>,
  { path, toolNames }: Pick<FileContext, 'path' | 'toolNames'>,
): Pick<DefinitionFile, 'definition' | 'problems'> {
  const given = Object.entries(stated).filter(([, value]) => value !== undefined);
  const fields = new Map(given.map(([field, value]): [string, FieldValue] => [field, { value, line: 1 }]));
  const file = fileOf({ fields, problems: [] }, '', { path, source: 'user', toolNames });
  const problems = file.problems.map((problem) => ({ ...problem, line: null }));
  const { definition } = file;
  if (definition === null) return { definition, problems };
  const { source: _, path: __, ...own } = definition;
  return { definition: own, problems };
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
