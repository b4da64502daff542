/**
 * A skill (a folder with SKILL.md) or a custom command (a Markdown file): a text that a person or a model asks for by
 * name (EXT-3). This reads what the file says about itself; `expand-prompt.ts` makes a prompt of its body. The text is
 * untrusted: reading it executes nothing, and what is wrong with it is a problem with its line.
 */
import { basename, dirname, extname, relative, sep } from 'node:path';
import type { ExtensionFolder, ExtensionSource, PluginFolder } from '../extension-places.ts';
import type { FieldProblem, FileProblem } from '../front-matter/field-problem.ts';
import { frontProblem, plainText, readFields, splitFrontMatter } from '../front-matter/front-matter.ts';
import type { FieldMap } from '../front-matter/plain-fields.ts';
import type { yamlFields } from '../front-matter/yaml-fields.ts';
import { PROMPT_FIELDS, type PromptKind, type PromptTraits, promptTraits } from './prompt-fields.ts';

export interface PromptFile extends PromptTraits {
  readonly kind: PromptKind;
  /** `review`, `git:commit` in a sub-folder, `plugin:review` of a plugin. */
  readonly name: string;
  readonly description: string;
  readonly source: ExtensionSource;
  readonly path: string;
  /** What to open: links are followed. */
  readonly real: string;
  /** Files that it names lie here. */
  readonly folder: string;
  readonly plugin?: PluginFolder | undefined;
}

export interface ReadPrompt {
  path: string;
  /** Null when it is not used: see the problems. */
  file: PromptFile | null;
  /** Every field as written, also those that are unknown or have no effect. */
  declared: Readonly<Record<string, unknown>>;
  problems: readonly FileProblem[];
}

export interface PromptContext {
  kind: PromptKind;
  path: string;
  real: string;
  folder: ExtensionFolder;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const LOOKED_AT = 2_000;

/** Null when it takes YAML to read it, and `readYaml` is null. */
export function parsePrompt(
  written: string,
  context: PromptContext,
  readYaml: typeof yamlFields | null,
): ReadPrompt | null {
  const text = plainText(written);
  const front = splitFrontMatter(text);
  if (front === null) return promptOf(new Map(), text, context, missingFront(context));
  const problem = frontProblem(front);
  if (problem !== null) return unusedPrompt(context.path, problem);
  // Neither needs a name in its fields.
  const reading = readFields(front, PROMPT_FIELDS, readYaml, null);
  if (reading === null) return null;
  return promptOf(reading.fields, front.body, context, reading.problems);
}

/** The text below the front matter. */
export function bodyOf(written: string): string {
  const text = plainText(written);
  return (splitFrontMatter(text)?.body ?? text).trim().toWellFormed();
}

export function unusedPrompt(path: string, ...problems: readonly FieldProblem[]): ReadPrompt {
  return { path, file: null, declared: {}, problems: problems.map((one) => ({ path, ...one })) };
}

/** A command needs none. */
function missingFront({ kind }: PromptContext): FieldProblem[] {
  if (kind === 'command') return [];
  const message = 'no front matter: say with "description" when the skill is of use';
  return [{ line: 1, field: null, level: 'warning', message }];
}

function promptOf(
  fields: FieldMap,
  body: string,
  context: PromptContext,
  reading: readonly FieldProblem[],
): ReadPrompt {
  const { kind, path, real, folder } = context;
  const declared = Object.fromEntries([...fields].map(([field, { value }]) => [field, value]));
  const { traits, problems } = promptTraits(fields, kind);
  const found = [...reading, ...problems];
  const name = nameOf(fields, context, found);
  if (body === '')
    found.push({ line: null, field: null, level: 'error', message: 'it has no text below its fields' });
  const stated = [textOf(fields, 'description'), textOf(fields, 'when_to_use')].filter(Boolean).join(' ');
  const usable = name !== null && !found.some(({ level }) => level === 'error');
  const file: PromptFile | null = !usable
    ? null
    : {
        kind,
        name,
        description: stated === '' ? firstParagraph(body) : stated,
        ...traits,
        source: folder.source,
        path,
        real,
        folder: dirname(real),
        plugin: folder.plugin,
      };
  return { path, file, declared, problems: found.map((one) => ({ path, ...one })) };
}

function nameOf(
  fields: FieldMap,
  { kind, path, folder }: PromptContext,
  found: FieldProblem[],
): string | null {
  const say = (level: FieldProblem['level'], message: string): number =>
    found.push({ line: fields.get('name')?.line ?? null, field: 'name', level, message });
  const parts = kind === 'command' ? commandParts(path, folder) : [skillName(fields, path, say)];
  const wrong = parts.find((part) => !NAME.test(part));
  if (wrong !== undefined) {
    say('error', `${JSON.stringify(wrong.slice(0, 80))} is no name: use letters, digits and dashes`);
    return null;
  }
  return [...(folder.plugin === undefined ? [] : [folder.plugin.name]), ...parts].join(':');
}

/** Sub-folders are namespaces. */
function commandParts(path: string, folder: ExtensionFolder): string[] {
  const below = relative(folder.path, path);
  return below.slice(0, below.length - extname(below).length).split(sep);
}

function skillName(
  fields: FieldMap,
  path: string,
  say: (level: FieldProblem['level'], message: string) => void,
): string {
  const own = basename(dirname(path));
  const stated = textOf(fields, 'name');
  if (stated === '' || stated === own) return own;
  if (!NAME.test(stated)) {
    say(
      'note',
      `it is called by its folder's name: ${JSON.stringify(stated.slice(0, 80))} has signs that no name has`,
    );
    return own;
  }
  say('note', `its folder is called ${own}`);
  return stated;
}

function textOf(fields: FieldMap, field: string): string {
  const value = fields.get(field)?.value;
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

/** Of a file that does not describe itself. */
function firstParagraph(body: string): string {
  const [first = ''] = body
    .slice(0, LOOKED_AT)
    .split('\n')
    .map((line) => line.replace(/^[#>*\s-]+/, '').trim())
    .filter((line) => line !== '');
  return first;
}
