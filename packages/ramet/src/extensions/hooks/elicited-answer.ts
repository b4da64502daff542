/** Whether the answer of a hook to what an MCP server asks a person counts: a server reads it as that person's. */
import { type HookInput, isObject } from './hook-config.ts';

export interface HookElicited {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, unknown> | undefined;
}

type Shape = Readonly<Record<string, unknown>>;

/** Why it does not count; null if it does. `input` is what the hook has read. */
export function elicitedProblem({ action, content }: HookElicited, input: HookInput): string | null {
  if (action !== 'accept') return null;
  if (input.mode === 'url')
    return 'it accepts an address, and whether that was opened only a person can say: decline or cancel it, or say nothing';
  if (input.hook_event_name === 'ElicitationResult' && input.action !== 'accept')
    return 'it accepts what was declined, and no hook makes a yes of a no';
  const { properties, required } = shapeOf(input.requested_schema);
  const asked = shapeOf(properties);
  const needed = Array.isArray(required) ? required.map(String) : [];
  if (content === undefined && needed.length > 0)
    return `it accepts with no content, and the form needs ${quoted(needed)}`;
  const given = content ?? {};
  const missing = needed.filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) return `it accepts, and the form needs ${quoted(missing)}`;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(asked, name));
  if (unknown.length > 0) return `it fills in what the form does not ask for: ${quoted(unknown)}`;
  for (const [name, value] of Object.entries(given)) {
    const wanted = wantedOf(shapeOf(asked[name]), value);
    if (wanted !== null) return `what it fills in for ${quoted([name])} must be ${wanted}`;
  }
  return null;
}

function shapeOf(value: unknown): Shape {
  return isObject(value) ? value : {};
}

const MOST_NAMED = 5;

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => JSON.stringify(name.slice(0, 60)));
  return `${shown.join(', ')}${names.length > MOST_NAMED ? ', ...' : ''}`;
}

/** What a value has to be and is not. The flat schema of the protocol; other words of it are for the server. */
function wantedOf(property: Shape, value: unknown): string | null {
  const choices = choicesOf(property);
  switch (property.type) {
    case 'string':
      if (typeof value !== 'string') return 'text';
      return (
        outside(property, ['minLength', 'maxLength'], value.length, ' characters') ?? oneOf(choices, value)
      );
    case 'integer':
    case 'number': {
      const isWhole = property.type === 'integer';
      if (typeof value !== 'number' || (isWhole && !Number.isInteger(value)))
        return isWhole ? 'a whole number' : 'a number';
      return outside(property, ['minimum', 'maximum'], value, '');
    }
    case 'boolean':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'array': {
      if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) return 'a list of texts';
      const wrong = value.find((one) => oneOf(choicesOf(shapeOf(property.items)), one) !== null);
      if (wrong !== undefined) return `a list: each ${oneOf(choicesOf(shapeOf(property.items)), wrong)}`;
      return outside(property, ['minItems', 'maxItems'], value.length, ' of them');
    }
    default:
      return isFlat(value) ? oneOf(choices, value) : 'text, a number, true or false, or a list of texts';
  }
}

function isFlat(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** `enum`, or a `oneOf` or `anyOf` of constants; null where everything may be chosen. */
function choicesOf(property: Shape): readonly unknown[] | null {
  const named = property.oneOf ?? property.anyOf;
  if (Array.isArray(named) && named.every((one) => isObject(one) && Object.hasOwn(one, 'const')))
    return named.map((one) => one.const);
  return Array.isArray(property.enum) ? property.enum : null;
}

function oneOf(choices: readonly unknown[] | null, value: unknown): string | null {
  if (choices === null || choices.includes(value)) return null;
  const shown = choices.slice(0, MOST_NAMED).map(String).join(', ').slice(0, 200);
  return `one of ${shown}${choices.length > MOST_NAMED ? ', ...' : ''}`;
}

function outside(
  property: Shape,
  [least, most]: readonly [string, string],
  value: number,
  unit: string,
): string | null {
  const [from, to] = [property[least], property[most]];
  if (typeof from === 'number' && value < from) return `at least ${from}${unit}`;
  return typeof to === 'number' && value > to ? `at most ${to}${unit}` : null;
}
