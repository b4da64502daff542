/** One spelling for all that is printed for programs: `started_at`, not `startedAt`. */

/** Names that other views have in other words. */
const NAMES: Readonly<Record<string, string>> = { costUsd: 'total_cost_usd' };

/** A name of ours, and not an id, a path or a name that a user chose. */
const CAMEL_CASE = /^[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$/;

/**
 * Deep. For values whose keys are all our own names: not for inputs of tools or contents of files. What stands below a key
 * of `others` has names of others, and stays as it is.
 */
export function snakeCased(value: unknown, others: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((part) => snakeCased(part, others));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [
    snakeCase(key),
    others.includes(key) ? part : snakeCased(part, others),
  ]);
  return Object.fromEntries(entries);
}

function snakeCase(name: string): string {
  const other = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  if (other !== undefined) return other;
  return CAMEL_CASE.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name;
}

/** One line of JSON in that spelling. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(snakeCased(value))}\n`;
}
