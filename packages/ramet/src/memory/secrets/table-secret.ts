/** Passwords in the column of a table, of Markdown or of values with separators: its head says what they are. */
import { credentialNames } from './credential-name.ts';
import type { SecretPlace } from './known-prefixes.ts';
import { isPlaceholder } from './random-text.ts';
import { isShortPassword, kindOfValue } from './value-kind.ts';

const HAS_NAME = /pass|pwd|psk|pw\b|secret|token|cred|key/i;
const RULE_ROW = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?$/;
/** Names and nothing else: no sentence, and no code. */
const NAMES_ROW = /^"?[A-Za-z][\w-]{0,30}"?(?:([,;\t])"?[A-Za-z][\w-]{0,30}"?){1,30}\r?$/;
const LONGEST_LINE = 2_000;

interface Column {
  readonly index: number;
  readonly isPassword: boolean;
  /** A token, of a program or of a text. */
  readonly isToken: boolean;
}

export function tableSecrets(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  if (!HAS_NAME.test(text) || !/[|,;\t]/.test(text)) return found;
  const lines = text.split('\n');
  let at = 0;
  let table: { separator: string; columns: readonly Column[] } | null = null;
  for (const [index, line] of lines.entries()) {
    const cells = table === null || line.length > LONGEST_LINE ? [] : cellsOf(line, table.separator);
    const secret = table?.columns.find((column) => isSecret(cells[column.index] ?? '', column));
    if (secret !== undefined) found.push({ rule: 'password in a table', at });
    if (cells.length < 2) table = null;
    table = headAt(lines, index) ?? table;
    at += line.length + 1;
  }
  return found;
}

/** Of a table whose first row of values is the next line. */
function headAt(
  lines: readonly string[],
  index: number,
): { separator: string; columns: readonly Column[] } | null {
  const line = lines[index] ?? '';
  if (line.length > LONGEST_LINE) return null;
  const above = lines[index - 1] ?? '';
  const isRule = line.includes('-') && RULE_ROW.test(line) && above.includes('|') && HAS_NAME.test(above);
  const head = isRule ? above : line;
  const separator = isRule ? '|' : HAS_NAME.test(line) ? NAMES_ROW.exec(line)?.[1] : undefined;
  if (separator === undefined || head.length > LONGEST_LINE) return null;
  const columns = cellsOf(head, separator).flatMap((cell, at) => {
    const name = credentialNames(cell).toArray().at(-1);
    const isNamed = name?.strength === 'strong' && !name.isCode && name.end === cell.length;
    // What has other names in such a list is often no secret: tokens of a text.
    if (!isNamed || !(name.isPassword || separator === '|')) return [];
    return [{ index: at, isPassword: name.isPassword, isToken: /^tokens?$/i.test(cell) }];
  });
  return columns.length === 0 ? null : { separator, columns };
}

function cellsOf(line: string, separator: string): string[] {
  const row = separator === '|' ? line.replace(/^[ \t>]*\|/, '').replace(/\|[ \t\r]*$/, '') : line;
  return row.split(separator).map((cell) => cell.trim().replace(/^["'`*_]{1,4}|["'`*_]{1,4}$/g, ''));
}

function isSecret(cell: string, { isPassword, isToken }: Column): boolean {
  if (/\s/.test(cell) || isPlaceholder(cell)) return false;
  const kind = kindOfValue(cell, true);
  if (isToken) return (kind === 'drawn' || kind === 'chosen') && /\d\D+\d/.test(cell);
  return isPassword ? kind !== null || isShortPassword(cell) : kind !== null && kind !== 'named';
}
