/**
 * Reads the fields of a definition where they are written so plainly that YAML could mean nothing else: a word, a colon
 * and a value on one line, or a list of words. A thousand such files take milliseconds this way, and YAML's parser is not
 * even loaded. Whatever is not plain is left to `yaml-fields.ts`.
 *
 * Invariant: a value that is returned is the value that YAML 1.2 (core schema) gives; but for a description on one line
 * with colons in it, which no YAML parser takes and every other public file has.
 */

export interface FieldValue {
  value: unknown;
  /** The line of the file on which the field begins, from 1. */
  line: number;
  /** It is no YAML: a text with colons and without quotes, taken as it stands. */
  recovered?: true;
}

export type FieldMap = ReadonlyMap<string, FieldValue>;

const KEY = /^([A-Za-z][\w-]*):(?:[ ]+(.*))?$/;
const ITEM = /^([ ]*)-[ ]+(.+)$/;
/** What begins with one of these may mean something else. */
const INDICATOR = /^[\s\-?:,[\]{}#&*!|>'"%@`]/;
const WORDS_WITH_MEANING = /^(?:true|false|null|~|\.nan|\.inf|[-+.]?\d.*)$/i;

/** Null when it takes YAML to read it. `line` is where `text` begins. */
export function plainFields(text: string, line: number): FieldMap | null {
  const fields = new Map<string, FieldValue>();
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const current = (lines[at] ?? '').trimEnd();
    if (current === '' || current.startsWith('#')) continue;
    const [, key, written = ''] = KEY.exec(current) ?? [];
    if (key === undefined || fields.has(key)) return null;
    const begun = line + at;
    const items = written === '' ? itemsAfter(lines, at) : [];
    at += items.length;
    if (/^[ \t]/.test(lines[at + 1] ?? '')) return null;
    const value = items.length > 0 ? plainItems(items) : plainValue(written.trim());
    if (value !== undefined) fields.set(key, { value, line: begun });
    else if (key === 'description' && hasBareColons(written.trim()))
      fields.set(key, { value: written.trim(), line: begun, recovered: true });
    else return null;
  }
  return fields;
}

/** The lines of a list: all as far in as its first. */
function itemsAfter(lines: readonly string[], at: number): string[] {
  const items: string[] = [];
  let indent: string | null = null;
  for (const line of lines.slice(at + 1)) {
    const [, before, item] = ITEM.exec(line.trimEnd()) ?? [];
    if (before === undefined || item === undefined || (indent ?? before) !== before) return items;
    indent = before;
    items.push(item);
  }
  return items;
}

function plainItems(items: readonly string[]): unknown[] | undefined {
  const values = items.map(plainScalar);
  return values.includes(undefined) ? undefined : values;
}

function plainValue(text: string): unknown {
  if (text === '') return null;
  const inside = /^\[([\w ,"'-]*)\]$/.exec(text)?.[1];
  if (inside === undefined) return plainScalar(text);
  if (inside.trim() === '') return [];
  return plainItems(inside.split(',').map((item) => item.trim()));
}

/** Undefined when it is not plain. */
function plainScalar(text: string): string | boolean | number | undefined {
  const quoted = /^"([^"\\]*)"$/.exec(text)?.[1] ?? /^'([^']*)'$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  if (text.startsWith('"')) return jsonText(text);
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  if (text === '' || INDICATOR.test(text) || WORDS_WITH_MEANING.test(text)) return undefined;
  // A colon or hash beside a space or tab parts a value or a comment from what stands before it.
  const isParted = text.endsWith(':') || text.includes(': ') || text.includes(' #') || text.includes('\t');
  return isParted ? undefined : text;
}

/** Then YAML sees a field within a field on one line, and refuses it. */
function hasBareColons(text: string): boolean {
  return text.includes(': ') && !INDICATOR.test(text) && !text.includes(' #') && !text.includes('\t');
}

/** What JSON reads as a text, YAML reads as the same. */
function jsonText(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
