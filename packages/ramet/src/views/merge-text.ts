/** How merges look to people. Names of branches and files are anybody's: nothing of them reaches the terminal raw. */

import { shortName } from '../git/merges.ts';
import type { ConflictMatrix, MergeEntry, MergeReport } from '../git/shapes.ts';
import { excerpt, printable, table } from './text/format.ts';

const ID_LENGTH = 10;
const NAME_LENGTH = 60;
const FILES_LENGTH = 120;

/** The checkout that `directory` is in goes without its path. */
export function showReport(report: MergeReport, directory: string): string {
  const { target, before, after, kept, checkout, entries } = report;
  const lines = entries.map(({ branch, state, reason, result }) => [
    name(branch),
    state,
    reason === null ? shortId(result) : clean(reason),
  ]);
  const moved =
    before === after
      ? `${name(target)} is unchanged`
      : `${name(target)}: ${shortId(before)} to ${shortId(after)}`;
  const files = checkout === directory ? 'this checkout' : clean(checkout ?? '');
  const where = checkout === null ? '' : `, with the files of ${files}`;
  const taken =
    kept === null
      ? ''
      : `the result is ready as ${shortId(kept.commit)} and was not put on ${name(target)}: ${clean(kept.reason)}\n` +
        `${printable(kept.take)}\n`;
  return `${table(lines)}${moved}${where}\n${taken}`;
}

export function showQueue(entries: readonly MergeEntry[]): string {
  if (entries.length === 0) return 'the queue is empty\n';
  const rows = entries.map(({ id, branch, target, strategy, state, reason, result }) => [
    String(id),
    name(branch),
    name(shortName(target)),
    strategy,
    state,
    reason === null ? shortId(result) : clean(reason),
  ]);
  return table([['ID', 'BRANCH', 'INTO', 'STRATEGY', 'STATE', 'RESULT'], ...rows]);
}

export function showMatrix({ target, branches, conflicts, nothing, order }: ConflictMatrix): string {
  const rows = conflicts.map((probe) => [
    name(probe.branch),
    name(probe.with),
    excerpt(probe.conflicts, FILES_LENGTH),
  ]);
  const found =
    rows.length === 0
      ? `no conflicts: ${branches.length === 1 ? 'one branch' : `${branches.length} branches`} with ${name(target)} and with each other\n`
      : table([['BRANCH', 'CONFLICTS WITH', 'IN'], ...rows]);
  const idle = nothing.length === 0 ? '' : `nothing to merge: ${nothing.map(name).join(', ')}\n`;
  return `${found}${idle}suggested order: ${order.map(name).join(' ')}\n`;
}

function name(text: string): string {
  return excerpt(text, NAME_LENGTH);
}

function clean(text: string): string {
  return printable(text).replace(/\s+/g, ' ');
}

function shortId(commit: string | null): string {
  return commit?.slice(0, ID_LENGTH) ?? '';
}
