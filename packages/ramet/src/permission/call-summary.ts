/** What a person reads of a call before it runs: the command, the path or the address, and then the rest of its input. */
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import type { CallChange, ToolAccess } from '../schema/tool-access.ts';
import type { PermissionDetails } from './assessment.ts';

/**
 * All of the input, whose end may be what matters, but for the change of a file that is shown beside it; and what the call reaches
 * without a word of it in the input.
 */
export function callSummary(
  { command, writes = [], reads = [], url }: ToolAccess,
  { input, cwd }: Pick<PermissionDetails, 'input' | 'cwd'>,
  change: CallChange | null,
): string {
  const path = writes[0] ?? reads[0];
  const address = url !== undefined && URL.canParse(url) ? url : undefined;
  const first = command ?? path ?? address;
  if (first === undefined) return textOf(input);
  const start = command ?? (path === undefined ? first : resolve(cwd, path));
  const fields = Object.entries(Object(input)).filter(([, value]) => value !== undefined);
  const begun = fields.findIndex(([, value]) => value === first);
  const shown: unknown[] = change === null ? [] : [change.before, change.after];
  const rest = fields.filter(([, value], at) => at !== begun && !shown.includes(value));
  const told = textOf(input);
  const untold = [...writes, ...reads, url ?? first].filter(
    (one) => one !== first && !told.includes(JSON.stringify(one)),
  );
  const also = untold.length === 0 ? '' : ` and ${textOf(untold)}`;
  if (rest.length === 0) return `${start}${also}`;
  return `${start}${command === undefined ? ' ' : '\n'}${textOf(Object.fromEntries(rest))}${also}`;
}

/** A schema of a tool may make of its input what JSON does not have. */
function textOf(input: unknown): string {
  try {
    return JSON.stringify(input, plain) ?? '';
  } catch {
    const whole = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity };
    return inspect(input, { ...whole, compact: true });
  }
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map || value instanceof Set) return [...value];
  return value;
}
