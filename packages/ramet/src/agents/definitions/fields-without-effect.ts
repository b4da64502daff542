/** Fields of definition files that have no effect: those that mean something in other tools, and unknown ones. */
import type { ProblemLevel } from '../../extensions/front-matter/field-problem.ts';
import type { FieldMap } from '../../extensions/front-matter/plain-fields.ts';

type Say = (field: string, level: ProblemLevel, message: string) => void;
type Shape = 'text' | 'list' | 'object' | 'list or object' | 'number' | readonly string[];

/** Checked, kept, and without effect here. */
const INACTIVE: Readonly<Partial<Record<string, Shape>>> = {
  autoCompactWindow: 'number',
  observer: 'list',
  observerMessage: 'text',
  criticalSystemReminder_EXPERIMENTAL: 'text',
};

export const INACTIVE_FIELDS: readonly string[] = Object.keys(INACTIVE);

export function noteOthers(fields: FieldMap, known: ReadonlySet<string>, say: Say): void {
  for (const [field, { value }] of fields) {
    const shape = Object.hasOwn(INACTIVE, field) ? INACTIVE[field] : undefined;
    if (shape !== undefined) noteInactive(field, value, shape, say);
    else if (!known.has(field)) noteUnknown(field, known, say);
  }
}

function noteInactive(field: string, value: unknown, shape: Shape, say: Say): void {
  if (value === null || value === 'none') return;
  if (hasShape(value, shape)) say(field, 'inactive', 'without effect in Ramet');
  else
    say(
      field,
      'warning',
      `it is ${quoted(value)}, and should be ${typeof shape === 'string' ? `a ${shape}` : `one of ${shape.join(', ')}`}; it has no effect in Ramet`,
    );
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof shape !== 'string') return shape.includes(String(value));
  const isList = Array.isArray(value) || typeof value === 'string';
  const isObject = typeof value === 'object' && !Array.isArray(value);
  if (shape === 'text') return typeof value === 'string';
  if (shape === 'number') return typeof value === 'number';
  return (shape !== 'object' && isList) || (shape !== 'list' && isObject);
}

/** Other harnesses write some of our fields otherwise; such a field has no effect either. */
function noteUnknown(field: string, known: ReadonlySet<string>, say: Say): void {
  const same = [...known].find((one) => squeezed(one) === squeezed(field));
  if (same !== undefined) say(field, 'warning', `unknown field, without effect: did you mean ${same}?`);
  else say(field, 'note', 'unknown field, kept without effect');
}

function squeezed(field: string): string {
  return field
    .toLowerCase()
    .replace(/[_-]/g, '')
    .replace(/^allowedtools$/, 'tools');
}

export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
