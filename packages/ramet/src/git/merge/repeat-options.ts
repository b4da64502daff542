/** The options with which a branch is merged once more as it was asked for, as words for a shell. */

import { shortName } from './integration-refs.ts';
import type { MergeEntry } from './merge-entries.ts';
import type { MergeWishes } from './merge-request.ts';

/** What `--check-seconds` is without a word about it. */
export const DEFAULT_CHECK_SECONDS = 1_800;

export function repeatOptions(
  { target, strategy }: Pick<MergeEntry, 'target' | 'strategy'>,
  wishes: MergeWishes | null,
): string {
  const check = wishes?.check ?? null;
  const seconds = check === null ? DEFAULT_CHECK_SECONDS : check.timeoutMs / 1_000;
  const words = [
    ...['--into', shortName(target)],
    ...(strategy === 'merge' ? [] : ['--strategy', strategy]),
    ...(check === null ? [] : ['--check', check.command]),
    ...(seconds === DEFAULT_CHECK_SECONDS ? [] : ['--check-seconds', String(seconds)]),
    ...(wishes?.updateCheckout ? ['--update-checkout'] : []),
  ];
  return words.map(shellWord).join(' ');
}

export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
