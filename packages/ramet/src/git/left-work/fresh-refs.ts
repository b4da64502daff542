/**
 * Branches, tags and other refs that appeared while a task ran, with commits that nobody else has. An agent can put its work on one
 * without ever being there: with `git branch`, `git tag`, `git update-ref`, a push from a clone, a worktree of its own.
 *
 * Invariants
 * 1. A ref is an agent's own if the log of its HEAD has the commit, or if its commands name the ref, and those of no other agent.
 * 2. What was committed in another checkout, by a person or another agent, is theirs, and so is what only others have named.
 * 3. Of a ref whose maker is not known, people are told, and nobody is blamed.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { keepsRefsInFiles } from '../create-branch.ts';
import { isAncestor } from '../merge/merge-repository.ts';
import { readOrNull } from '../repository.ts';
import { runGit } from '../run-git.ts';
import type { ManagedWorktree } from '../worktrees/worktree.ts';
import type { WorktreePlace } from '../worktrees/worktree-place.ts';
import { shortRef, type WorkReading } from './own-commits.ts';
import { entriesOf, refsIn } from './ref-files.ts';

/** Who has named a ref in commands: this agent alone, others alone, both, or nobody. */
export type RefNaming = 'own' | 'others' | 'both' | 'nobody';

export interface RefEvidence {
  /** When its task began, in milliseconds. */
  since: number;
  /** Commits that were made on its HEAD, and those that others have taken the place of. */
  made: ReadonlySet<string>;
  replaced: ReadonlySet<string>;
  named(word: string): RefNaming;
}

export interface FreshRef {
  ref: string;
  commit: string;
}

export interface FreshRefs {
  own: readonly FreshRef[];
  /** Nobody knows whose. */
  unknown: readonly FreshRef[];
}

/** The times of files and of commits are not exact. */
const SLACK_MS = 2_000;
/** Ours, or no place for work: stashes are seen to elsewhere. */
const NO_WORK = /^refs\/(?:ramet|stash|bisect|worktree|rewritten|notes|replace|prefetch)(?:\/|$)/;
/** More names do not fit into one command: then all refs are listed. */
const MOST_NAMES = 500;
const LOG_BYTES = 4 << 20;

export async function freshRefs(
  place: WorktreePlace,
  { worktree, ...reading }: WorkReading & { worktree: ManagedWorktree | null },
  evidence: RefEvidence,
): Promise<FreshRefs> {
  const since = evidence.since - SLACK_MS;
  const isFree = freeRefs(place, reading.target);
  const names = changedRefs(place, since)?.filter(isFree) ?? null;
  const found = names?.length === 0 ? [] : await freshCommits(names, { ...reading, since, isFree });
  const logs = found.length === 0 ? [] : logsOfOthers(place, worktree, since);
  const own: FreshRef[] = [];
  const unknown: FreshRef[] = [];
  for (const one of found) {
    const { ref, commit } = one;
    if (evidence.replaced.has(commit)) continue;
    const isTheirs = logs.some((log) => log.includes(` ${commit} `));
    // A person may look at what it made. What the log of a clone says counts less: the agent can write anything there.
    if (evidence.made.has(commit) && !(isTheirs && worktree === null)) own.push(one);
    else if (!isTheirs) {
      const naming = evidence.named(ref.replace(/^refs\/(?:heads|tags|remotes)\//, ''));
      if (naming === 'own') own.push(one);
      else if (naming !== 'others') unknown.push(one);
    }
  }
  return { own, unknown: await aloneOnRefs(unknown, reading) };
}

const MOST_NAMED = 3;

/** For people: what of them is worth a look, in one line. */
export function unknownRefNotes(refs: readonly FreshRef[]): string[] {
  const named = refs.map(({ ref, commit }) => ({ name: shortRef(ref), id: commit.slice(0, 12) }));
  const [first] = named;
  if (first === undefined) return [];
  if (named.length === 1)
    return [
      `while it ran, ${first.name} appeared with commit ${first.id}, which is in no task's work; who made it is not known: see git show ${first.name}`,
    ];
  const some = named.slice(0, MOST_NAMED).map(({ name, id }) => `${name} (${id})`);
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : '';
  return [
    `while it ran, ${named.length} refs appeared with commits that are in no task's work; who made them is not known: ${some.join(', ')}${more}`,
  ];
}

/** Read as files, which takes no process. Null for all refs, where they are kept otherwise. */
function changedRefs({ repository }: WorktreePlace, since: number): string[] | null {
  return keepsRefsInFiles(repository) ? [...refsIn(repository.commonDirectory, since).keys()] : null;
}

/** False where the name already tells the owner: Ramet, another worktree, a remote, or the branch where results land. */
function freeRefs({ registry, repository }: WorktreePlace, target: string): (ref: string) => boolean {
  const taken = new Set([target, ...registry.list().flatMap(({ branch }) => branch ?? [])]);
  const config = readOrNull(join(repository.commonDirectory, 'config')) ?? '';
  return (ref) => {
    if (NO_WORK.test(ref)) return false;
    if (ref.startsWith('refs/heads/')) return !taken.has(ref.slice('refs/heads/'.length));
    const remote = /^refs\/remotes\/([^/]+)\//.exec(ref)?.[1];
    return remote === undefined || !config.includes(`[remote "${remote}"]`);
  };
}

interface FreshReading extends WorkReading {
  since: number;
  isFree(ref: string): boolean;
}

/** The commits that refs name, if they were made since and neither the base nor the target has them. */
async function freshCommits(
  names: readonly string[] | null,
  { base, target, call, since, isFree }: FreshReading,
): Promise<FreshRef[]> {
  const format = '%(refname) %(objectname) %(committerdate:unix) %(*objectname) %(*committerdate:unix)';
  const some = names === null || names.length > MOST_NAMES ? [] : names;
  const { stdout } = await runGit(['for-each-ref', `--format=${format}`, ...some], call);
  const found: FreshRef[] = [];
  for (const line of stdout.split('\n')) {
    const [ref = '', id = '', made = '', ofTag = '', madeOfTag = ''] = line.split(' ');
    // A tag with a text has no such date of its own, and two spaces there.
    const [commit, date] = ofTag === '' ? [id, made] : [ofTag, madeOfTag];
    if (date === '' || Number(date) * 1000 < since || !isFree(ref)) continue;
    const isKnown =
      (await isAncestor(commit, base, call)) || (await isAncestor(commit, `refs/heads/${target}`, call));
    if (!isKnown) found.push({ ref, commit });
  }
  return found;
}

/** The logs of HEAD of other checkouts. One that an agent may just have made for itself says nothing. */
function logsOfOthers(
  { registry, repository: { commonDirectory } }: WorktreePlace,
  worktree: ManagedWorktree | null,
  since: number,
): string[] {
  const managed = new Set(registry.list().map(({ admin }) => admin));
  const top = join(commonDirectory, 'worktrees');
  const others = entriesOf(top).filter(({ name }) => {
    if (name === worktree?.admin) return false;
    const made = lstatSync(join(top, name, 'commondir'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return managed.has(name) || made < since;
  });
  const files = [join(commonDirectory, 'logs', 'HEAD')];
  for (const { name } of others) files.push(join(top, name, 'logs', 'HEAD'));
  return files.flatMap((file) => readOrNull(file, LOG_BYTES) ?? []);
}

/** Those whose commit no other ref of a person leads to. */
async function aloneOnRefs(refs: readonly FreshRef[], { call }: WorkReading): Promise<FreshRef[]> {
  const alone: FreshRef[] = [];
  for (const one of refs) {
    const but = refs.map(({ ref }) => `--exclude=${ref}`);
    const args = [
      'rev-list',
      '--max-count=1',
      one.commit,
      '--not',
      ...but,
      '--exclude=refs/ramet/checking/*',
      '--all',
      '--',
    ];
    const { code, stdout } = await runGit(args, call);
    if (code === 0 && stdout.trim() !== '') alone.push(one);
  }
  return alone;
}
