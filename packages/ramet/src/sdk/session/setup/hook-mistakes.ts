/**
 * Hooks that are set up and do not run, said when a session begins: a guard that guards nothing must not be silent. A mistake
 * in the user's own settings stops the command, like any wrong type there.
 */
import { readHooks } from '../../../extensions/hooks/hook-config.ts';
import type { FolderPart } from '../../../extensions/trust/folder-part.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { parsePositionedJson } from '../../../settings/positioned-json.ts';
import { keyText, shownLine } from '../../../settings/setting-value.ts';
import { problemText } from '../../../settings/settings-notices.ts';
import { readSmallText } from '../../../system/regular-file.ts';

/** Throws for the first mistake in the user's own files. */
export function refuseMistakes(parts: readonly FolderPart[]): void {
  const found = parts.flatMap(({ source, value }) =>
    readHooks(value, { label: source }).mistakes.map((one) => ({ ...one, file: source })),
  );
  const [first, ...more] = found;
  if (first === undefined) return;
  const path = ['hooks', ...first.at];
  const { file } = first;
  const problem = { file, line: lineOf(file, path), key: keyText(path), message: shownLine(first.what) };
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  throw new UserMistake('bad_settings', `${problemText(problem)}${others}`);
}

function lineOf(file: string, path: readonly PropertyKey[]): number | null {
  try {
    return parsePositionedJson(readSmallText(file).replace(/^\ufeff/, '')).lineOf(path);
  } catch {
    return null;
  }
}

const MOST = 3;

/** One line for hooks of a file that do not run here; null for none. */
export function unusedNotice({ value, source }: FolderPart, label: string): string | null {
  const { unused } = readHooks(value, { label: source });
  if (unused.length === 0) return null;
  const more = unused.length > MOST ? ` (and ${unused.length - MOST} more: see ramet settings)` : '';
  return `${label}: hooks that do not run: ${shownLine(unused.slice(0, MOST).join('; '))}${more}`;
}
