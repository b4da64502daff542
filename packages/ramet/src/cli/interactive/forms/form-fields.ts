/**
 * What an MCP server asks for, as fields that a person fills in one by one: the flat schema of the protocol (texts, numbers,
 * yes or no, one or several of a list). Pure. Names, titles and descriptions are the server's: they are shown on one line
 * each, without what could move a cursor.
 */
import { visibleLine } from '../../../views/text/format.ts';

type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'one' | 'several';
export type FormValue = string | number | boolean | string[];

interface FieldChoice {
  readonly value: string;
  readonly label: string;
}

export interface FormField {
  /** As the answer names it. */
  readonly name: string;
  readonly label: string;
  readonly about: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly choices: readonly FieldChoice[];
  /** What stands there before a person writes. */
  readonly initial: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const MOST_FIELDS = 30;
const MOST_CHOICES = 100;
const LONGEST_LABEL = 60;
const LONGEST_ABOUT = 300;
const LONGEST_VALUE = 10_000;

type Shape = Readonly<Record<string, unknown>>;

/** Null for what cannot be filled in here. */
export function formFields(schema: Shape): FormField[] | null {
  const { properties, required } = schema;
  if (!isShape(properties)) return null;
  const entries = Object.entries(properties);
  if (entries.length > MOST_FIELDS) return null;
  const needed = new Set(Array.isArray(required) ? required.map(String) : []);
  const fields = entries.map(([name, property]) => fieldOf(name, property, needed.has(name)));
  return fields.every((field) => field !== null) ? fields : null;
}

function fieldOf(name: string, property: unknown, required: boolean): FormField | null {
  if (!isShape(property)) return null;
  const choices = choicesOf(property);
  const kind = kindOf(property, choices);
  if (kind === null || (choices?.length ?? 0) > MOST_CHOICES) return null;
  return {
    name,
    label: cut(textOr(property.title, name), LONGEST_LABEL),
    about: cut(textOr(property.description, ''), LONGEST_ABOUT),
    kind,
    required,
    choices: choices ?? [],
    initial: initialOf(property.default),
    schema: property,
  };
}

function kindOf(property: Shape, choices: readonly FieldChoice[] | null): FieldKind | null {
  if (property.type === 'array') return choices === null ? null : 'several';
  if (choices !== null) return 'one';
  switch (property.type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return property.type;
    default:
      return null;
  }
}

/** `enum` with `enumNames`, or a `oneOf` or `anyOf` of constants; of a list, what its items say. */
function choicesOf(property: Shape): FieldChoice[] | null {
  if (property.type === 'array') return isShape(property.items) ? choicesOf(property.items) : null;
  const named = property.oneOf ?? property.anyOf;
  if (Array.isArray(named)) {
    const choices = named.filter(isShape).filter((one) => typeof one.const === 'string');
    return choices.length === named.length
      ? choices.map((one) => choiceOf(String(one.const), one.title))
      : null;
  }
  if (!Array.isArray(property.enum)) return null;
  const names: readonly unknown[] = Array.isArray(property.enumNames) ? property.enumNames : [];
  return property.enum.map((value, index) => choiceOf(String(value), names[index]));
}

function choiceOf(value: string, title: unknown): FieldChoice {
  return { value, label: cut(textOr(title, value), LONGEST_LABEL) };
}

function initialOf(value: unknown): string {
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** One line above what is being written. */
export function fieldLine({ label, about, kind, required, choices }: FormField): string {
  const what = { text: 'text', number: 'number', integer: 'whole number', boolean: 'yes or no' };
  const list = choices.map((choice, index) => `${index + 1} ${choice.label}`).join(' · ');
  const how = kind === 'one' ? `one of ${list}` : kind === 'several' ? `any of ${list}` : what[kind];
  return `${label}${about === '' ? '' : `: ${about}`} (${how}${required ? '' : ', may be empty'})`;
}

export type FormReading =
  | { readonly ok: true; readonly value: FormValue | undefined }
  | { readonly ok: false; readonly problem: string };

/** What was written, or what is wrong with it. */
export function readField(field: FormField, written: string): FormReading {
  const text = written.trim();
  if (text === '' && field.kind !== 'several')
    return field.required ? wrong('it is needed') : { ok: true, value: undefined };
  if (text.length > LONGEST_VALUE) return wrong(`it is longer than ${LONGEST_VALUE} characters`);
  switch (field.kind) {
    case 'text':
      return readText(field, text);
    case 'number':
    case 'integer':
      return readNumber(field, text);
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(text)) return { ok: true, value: true };
      return /^(?:n|no|false)$/i.test(text) ? { ok: true, value: false } : wrong('write yes or no');
    case 'one': {
      const choice = choiceFor(field, text);
      return choice === null ? wrong(`write a number from 1 to ${field.choices.length}`) : ok(choice);
    }
    case 'several':
      return readSeveral(field, text);
  }
}

function readText({ schema }: FormField, text: string): FormReading {
  const { minLength, maxLength, format } = schema;
  if (typeof minLength === 'number' && text.length < minLength)
    return wrong(`at least ${minLength} characters`);
  if (typeof maxLength === 'number' && text.length > maxLength)
    return wrong(`at most ${maxLength} characters`);
  const check = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return check === undefined || check.test(text) ? ok(text) : wrong(`write it as ${check.example}`);
}

const FORMATS: Readonly<Record<string, { test(text: string): boolean; example: string }>> = {
  email: { test: (text) => /^[^\s@]+@[^\s@]+$/.test(text), example: 'name@example.com' },
  uri: { test: (text) => URL.canParse(text), example: 'https://example.com/page' },
  date: {
    test: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
    example: '2030-01-31',
  },
  'date-time': {
    test: (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
    example: '2030-01-31T12:00:00Z',
  },
};

function readNumber({ schema, kind }: FormField, text: string): FormReading {
  const value = Number(text);
  const { minimum, maximum } = schema;
  if (!Number.isFinite(value) || (kind === 'integer' && !Number.isInteger(value)))
    return wrong(kind === 'integer' ? 'write a whole number' : 'write a number');
  if (typeof minimum === 'number' && value < minimum) return wrong(`at least ${minimum}`);
  if (typeof maximum === 'number' && value > maximum) return wrong(`at most ${maximum}`);
  return ok(value);
}

function readSeveral(field: FormField, text: string): FormReading {
  const words = text === '' ? [] : text.split(',').map((word) => word.trim());
  const values = words.map((word) => choiceFor(field, word));
  if (!values.every((value) => value !== null))
    return wrong(`write numbers from 1 to ${field.choices.length}, with commas between them`);
  const { minItems, maxItems } = field.schema;
  const least = typeof minItems === 'number' ? minItems : field.required ? 1 : 0;
  if (values.length < least) return wrong(`at least ${least} of them`);
  if (typeof maxItems === 'number' && values.length > maxItems) return wrong(`at most ${maxItems} of them`);
  return values.length === 0 ? { ok: true, value: undefined } : ok([...new Set(values)]);
}

/** By its number, its value or its label. */
function choiceFor({ choices }: FormField, word: string): string | null {
  const found =
    choices.find(({ value }) => value === word) ??
    choices.find(({ label }) => label.toLowerCase() === word.toLowerCase()) ??
    (/^\d+$/.test(word) ? choices[Number(word) - 1] : undefined);
  return found?.value ?? null;
}

function ok(value: FormValue): FormReading {
  return { ok: true, value };
}

function wrong(problem: string): FormReading {
  return { ok: false, problem };
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' && value.trim() !== '' ? value : other;
}

function cut(text: string, length: number): string {
  const line = visibleLine(text.slice(0, length * 2));
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line;
}

function isShape(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
