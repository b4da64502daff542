/**
 * Files beside refs, index and configuration that decide what git does in a checkout, or hold a person's work (WORK-9):
 * merges and rebases in progress, patterns, where objects are, the stashes, the reflogs of branches.
 *
 * Files are only looked at (inode, size, time of change), never read, except the list of stashes.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import { readOrNull } from '../repository.ts';
import { differences, listed } from './differences.ts';

export interface SideFiles {
  /** An identity by the name of each file that exists. */
  readonly files: ReadonlyMap<string, string>;
  /** The reflog of `refs/stash`: one line for each stash. */
  readonly stashes: string;
  /** The size of the reflog of each branch. */
  readonly logs: ReadonlyMap<string, number>;
}

const SHARED = ['info/attributes', 'info/exclude', 'info/grafts', 'objects/info/alternates'];
/** Of one checkout. Agents that work in it may begin or end these. */
const IN_PROGRESS = [
  ...['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG', 'rebase-merge', 'rebase-apply'],
  ...['rebase-merge/git-rebase-todo', 'sequencer/todo'],
];
const OWN = ['config.worktree', 'info/sparse-checkout', ...IN_PROGRESS];
/** A look takes some microseconds: a repository with thousands of branches is not to delay each agent. */
const MOST_LOGS = 200;

export interface SidePlace {
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  /** The names of the refs that are compared. */
  readonly refs: Iterable<string>;
  /** The branch that the checkout is on. */
  readonly own: string | null;
}

export function readSideFiles({ gitDirectory, commonDirectory, refs, own }: SidePlace): SideFiles {
  const files = new Map<string, string>();
  for (const [folder, names] of [[commonDirectory, SHARED] as const, [gitDirectory, OWN] as const])
    for (const name of names) {
      const stats = look(join(folder, name));
      if (stats !== undefined) files.set(name, identityOf(stats));
    }
  const branches = [...refs].filter((ref) => ref !== own && ref.startsWith('refs/heads/'));
  const logs = new Map<string, number>();
  for (const ref of [...(own === null ? [] : [own]), ...branches.slice(0, MOST_LOGS)]) {
    const stats = look(join(commonDirectory, 'logs', ref));
    if (stats !== undefined) logs.set(ref, Number(stats.size));
  }
  return { files, stashes: readOrNull(join(commonDirectory, 'logs/refs/stash')) ?? '', logs };
}

/** A file where a folder should be is no reason to fail. */
function look(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

function identityOf(stats: BigIntStats): string {
  return stats.isDirectory() ? 'folder' : `${stats.ino} ${stats.size} ${stats.ctimeNs}`;
}

/** Without what is in progress where others work in the checkout. */
export function fileChanges(before: SideFiles, after: SideFiles, othersWork: boolean): string[] {
  const isCompared = ([name]: readonly [string, string]): boolean =>
    !othersWork || !IN_PROGRESS.includes(name);
  const [then, now] = [before, after].map(({ files }) => new Map([...files].filter(isCompared)));
  const changed = differences(then ?? new Map(), now ?? new Map(), 'made');
  return changed.length === 0 ? [] : [`.git: ${listed(changed)}`];
}

/** `top` is the stash that the change of `refs/stash` names already, if that changed. */
export function stashChanges(before: SideFiles, after: SideFiles, top: string | undefined): string[] {
  if (before.stashes === after.stashes) return [];
  const now = stashesIn(after.stashes);
  const dropped = [...stashesIn(before.stashes)].filter(([id]) => !now.has(id) && id !== top);
  const names = dropped.map(([id, reason]) => `${id.slice(0, 10)} (${reason})`);
  return names.length === 0 ? [] : [`stashes were dropped: ${listed(names)}`];
}

function stashesIn(log: string): ReadonlyMap<string, string> {
  const lines = log.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [ids = '', reason = ''] = line.split('\t');
      return [ids.split(' ')[1] ?? '', reason];
    }),
  );
}

/** Of branches that are still there: the log of one that was deleted goes with it. */
export function logChanges(
  before: SideFiles,
  after: SideFiles,
  refs: ReadonlyMap<string, string>,
  commonDirectory: string,
): string[] {
  const cut = [...before.logs].filter(([ref, size]) => {
    if (!refs.has(ref)) return false;
    const now = after.logs.get(ref) ?? Number(look(join(commonDirectory, 'logs', ref))?.size ?? 0);
    return now < size;
  });
  const names = cut.map(([ref]) => ref);
  return names.length === 0 ? [] : [`reflogs were cut, which git gc does too: ${listed(names)}`];
}
