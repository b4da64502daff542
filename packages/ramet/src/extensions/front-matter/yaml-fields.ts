/**
 * Reads the fields of a definition as YAML and, where that fails, as people write them: hundreds of public files have
 * descriptions with colons, quotes and examples that no YAML parser takes. What was recovered is said in a warning; only
 * a file without a readable name is lost.
 */
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { describeError } from '../../schema/errors.ts';
import type { FieldProblem, FieldReading } from './field-problem.ts';
import type { FieldMap, FieldValue } from './plain-fields.ts';

/**
 * `known` are the names that begin a field when lines have to be told apart by themselves; `needed` is the one without
 * which nothing is recovered.
 */
export function yamlFields(
  written: string,
  line: number,
  known: ReadonlySet<string>,
  needed: string | null = 'name',
): FieldReading {
  // To YAML a bare star is half a reference; people mean everything by it, and nothing else can be meant.
  const text = written
    .replace(/^(\w+:[ \t]+)\*[ \t]*$/gm, '$1"*"')
    // A hint for people: `[file] | [folder]` begins like a list, and no public file has quotes around it.
    .replace(/^(argument-hint:[ \t]+)([[<{].*)$/gm, (_, name: string, hint: string) =>
      /^\[[^[\]]*\][ \t]*$/.test(hint) ? `${name}${hint}` : `${name}${JSON.stringify(hint.trim())}`,
    );
  const strict = parseStrictly(text, line);
  if ('fields' in strict) return { fields: strict.fields, problems: [] };
  if (text.includes('\t')) {
    const spaced = parseStrictly(text.replace(/^[ ]*\t[ \t]*/gm, indentOf), line);
    if ('fields' in spaced)
      return {
        fields: spaced.fields,
        problems: [warning(line, 'tabs were read as spaces: indent with spaces')],
      };
  }
  const fields = recoveredFields(text, line, known);
  if (fields === null || fields.size === 0 || (needed !== null && !fields.has(needed)))
    return { fields: new Map(), problems: [{ ...warning(strict.line, strict.message), level: 'error' }] };
  const message = `this is not valid YAML (${strict.message}); it was read line by line: put the text in quotes, or below "description: |-"`;
  return { fields, problems: [warning(strict.line, message)] };
}

function indentOf(indent: string): string {
  return indent.replaceAll('\t', '  ');
}

function warning(line: number, message: string): FieldProblem {
  return { line, field: null, level: 'warning', message };
}

type StrictFields = { fields: FieldMap } | { line: number; message: string };

function parseStrictly(text: string, line: number): StrictFields {
  try {
    const lineCounter = new LineCounter();
    const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error !== undefined)
      return { line: line + lineCounter.linePos(error.pos[0]).line - 1, message: firstLine(error.message) };
    if (document.contents === null) return { fields: new Map() };
    if (!isMap(document.contents)) return { line, message: 'fields are written as "name: value"' };
    const fields = new Map<string, FieldValue>();
    for (const { key, value } of document.contents.items) {
      const name = isScalar(key) ? String(key.value) : String(key);
      const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
      const plain: unknown = value === null ? null : document.createNode(value).toJS(document);
      fields.set(name, { value: plain, line: line + lineCounter.linePos(offset).line - 1 });
    }
    return { fields };
  } catch (error) {
    // Aliases that unfold without end, and nesting deeper than the stack.
    return { line, message: firstLine(describeError(error)) };
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

const FIELD = /^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$/;

const TWICE = '';
const FREE_TEXTS = ['description', 'prompt', 'initialPrompt'];

/** Each is read by itself, and a file that was made to be slow may have thousands. */
const MOST_FIELDS = 100;

/** A field goes from the line with its name to the next that begins with a name that is known. */
function recoveredFields(text: string, line: number, known: ReadonlySet<string>): FieldMap | null {
  const parts: { name: string; line: number; lines: string[] }[] = [];
  const seen = new Set<string>();
  for (const [at, written] of text.split('\n').entries()) {
    const [, name] = FIELD.exec(written) ?? [];
    // In a description `user:` is who speaks in an example; elsewhere it is a field that we do not know.
    const inText = FREE_TEXTS.includes(parts.at(-1)?.name ?? 'description');
    const isField = inText ? known.has(name ?? '') && !seen.has(name ?? '') : name !== undefined;
    if (name !== undefined && isField) {
      // Of a field that stands twice the first counts.
      parts.push({ name: seen.has(name) ? TWICE : name, line: line + at, lines: [written] });
      seen.add(name);
    } else {
      parts.at(-1)?.lines.push(written);
    }
  }
  const own = parts.filter(({ name }) => name !== TWICE);
  if (own.length > MOST_FIELDS) return null;
  return new Map(
    own.map(({ name, line: begun, lines }) => [name, { value: recoveredValue(name, lines), line: begun }]),
  );
}

function recoveredValue(name: string, lines: readonly string[]): unknown {
  const strict = parseStrictly(lines.join('\n'), 1);
  if ('fields' in strict && strict.fields.size === 1) return strict.fields.get(name)?.value;
  const [first = '', ...more] = lines;
  const begun = (FIELD.exec(first)?.[2] ?? '').trim();
  const header = /^[|>][-+\d]*$/.test(begun);
  const items = more.map((one) => /^[ \t]*-[ \t]+(.+)$/.exec(one)?.[1]?.trim());
  if (begun === '' && items.length > 0 && items.every((item) => item !== undefined)) return items;
  const text = [...(header ? [] : [begun]), ...more.map((one) => one.trim())].join('\n').trim();
  return unquoted(text);
}

function unquoted(text: string): string {
  const [quote] = text;
  return text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote)
    ? text.slice(1, -1)
    : text;
}
