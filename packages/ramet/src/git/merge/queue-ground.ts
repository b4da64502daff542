/**
 * What a run of the queue stands on, looked up in one process: the target, the private refs, and every branch it
 * concerns.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { damageAdvice, isDamagedRef, readRef } from '../read-refs.ts';
import { readOrNull } from '../repository.ts';
import { checkingRef, integrationRef, queuedRef, targetRef } from './integration-refs.ts';
import type { MergeEntry } from './merge-entries.ts';
import { lookUpCommits, type MergeRepository, type NamedCommit } from './merge-repository.ts';
import type { MergePorts, MergeRequest } from './merge-request.ts';
import { updateRefs } from './update-refs.ts';

export interface QueueGround {
  /** The target's full name. */
  ref: string;
  target: NamedCommit;
  /** The value of the private ref; null if it does not exist. */
  integration: NamedCommit | null;
  /** Whether a check has left a commit held. */
  isHeld: boolean;
  /** Where the branches of open entries stand now, by branch; one that is gone is missing. */
  tips: ReadonlyMap<string, string>;
}

export function isOpen({ state }: MergeEntry): boolean {
  return state === 'waiting' || state === 'integrated';
}

export async function readGround(request: MergeRequest, ports: MergePorts): Promise<QueueGround> {
  return (await look(request, [], ports)).ground;
}

/** The branches of a request become entries. Throws, and enters nothing, when one of the names is wrong. */
export async function enterBranches(request: MergeRequest, ports: MergePorts): Promise<QueueGround> {
  const { branches, strategy } = request;
  const { ground, found: read } = await look(request, branches, ports);
  const found = branches.map((name, index) => pinned(name, read[index] ?? null, ports));
  const missing = branches.filter((_, index) => (found[index] ?? null) === null);
  if (missing.length > 0) throw damaged(missing, ports.repository) ?? noBranches(missing);
  const named = found.filter((commit) => commit !== null);
  if (named.some(({ ref }) => ref === ground.ref)) throw ownTarget(request.target);
  // A commit that no branch holds could be cleaned away while it waits.
  const loose = named.filter(({ ref }) => ref === null);
  const holds = loose.map(({ commit }) => `update ${queuedRef(commit)} ${commit}\n`);
  await updateRefs(holds, { reason: 'queued' }, ports.repository);
  const added = named.map(({ name, commit, ref }) => {
    const isSingle = ref === null && strategy === 'cherry-pick' && ports.tipOf?.(name) === undefined;
    return { target: ground.ref, branch: name, tip: commit, isSingle, strategy };
  });
  ports.entries.add(added, ports.clock.now());
  const tips = new Map(ground.tips);
  for (const { name, commit, ref } of named) if (ref !== null) tips.set(name, commit);
  return { ...ground, tips };
}

/** What is meant by a name. A branch that leads elsewhere by now does not count. */
function pinned(name: string, found: NamedCommit | null, { tipOf }: MergePorts): NamedCommit | null {
  const tip = tipOf?.(name);
  return tip === undefined || tip === found?.commit ? found : { name, ref: null, commit: tip, tree: null };
}

async function look(
  { target }: MergeRequest,
  names: readonly string[],
  { entries, repository, tipOf }: MergePorts,
): Promise<{ ground: QueueGround; found: (NamedCommit | null)[] }> {
  const ref = targetRef(target);
  const open = entries.list(ref).filter(isOpen);
  const branches = open.map(({ branch }) => `refs/heads/${branch}`);
  const all = [ref, integrationRef(ref), checkingRef(ref), ...branches, ...names];
  const [own = null, integration = null, checking = null, ...rest] =
    readBranches(all, names.length, repository) ?? (await lookUpCommits(all, repository));
  if (own === null) throw damaged([target], repository) ?? noTarget(target);
  const tips = new Map<string, string>();
  for (const [index, { branch }] of open.entries()) {
    const tip = rest[index]?.commit;
    if (tip !== undefined && tip === (tipOf?.(branch) ?? tip)) tips.set(branch, tip);
  }
  const ground = { ref, target: own, integration, isHeld: checking !== null, tips };
  return { ground, found: rest.slice(open.length) };
}

function damaged(
  names: readonly string[],
  { commonDirectory }: Pick<MergePorts['repository'], 'commonDirectory'>,
): UserMistake | null {
  const refs = names.map((name) => `refs/heads/${name.replace(/^refs\/heads\//, '')}`);
  const ref = refs.find((each) => isDamagedRef(commonDirectory, each));
  if (ref === undefined) return null;
  return new UserMistake('damaged_ref', `${ref} is damaged: ${damageAdvice(commonDirectory, ref)}`);
}

function noTarget(target: string): UserMistake {
  const name = JSON.stringify(target);
  return new UserMistake(
    'no_target',
    `there is no branch ${name} with a commit to merge into: name one with --into`,
  );
}

function noBranches(names: readonly string[]): UserMistake {
  const list = names.map((name) => JSON.stringify(name)).join(', ');
  return new UserMistake(
    'no_commit',
    `no branch or commit here: ${list}; see git branch --list, or git fetch first`,
  );
}

function ownTarget(target: string): UserMistake {
  return new UserMistake(
    'own_target',
    `${target} cannot be merged into itself: name another branch or --into`,
  );
}

/**
 * Refs read from files, for the common case that all names are local branches: it saves a process, a fifth of what a
 * merge takes. Whatever is not plain goes to git. A value that is out of date does no harm: refs move by compare and
 * swap.
 *
 * Full names, then `wanted` names of branches, which must all be there. Null when git has to be asked.
 */
function readBranches(
  names: readonly string[],
  wanted: number,
  { commonDirectory }: MergeRepository,
): (NamedCommit | null)[] | null {
  if (!isPlainStorage(commonDirectory) || !names.every(isPlainName)) return null;
  const firstWanted = names.length - wanted;
  const found = names.map((name, index): NamedCommit | null => {
    const ref = index < firstWanted ? name : `refs/heads/${name}`;
    const commit = readRef(commonDirectory, ref);
    return commit === null ? null : { name, ref, commit, tree: null };
  });
  return found[0] === null || found.slice(firstWanted).includes(null) ? null : found;
}

/** Refs are files of their own, and names mean what they say. */
function isPlainStorage(commonDirectory: string): boolean {
  const config = readOrNull(join(commonDirectory, 'config')) ?? '';
  const isOther = /^\s*(?:refstorage|ignorecase\s*=\s*true)/im.test(config);
  return !isOther && !existsSync(join(commonDirectory, 'reftable'));
}

function isPlainName(name: string): boolean {
  return /^[\w.+@-]+(?:\/[\w.+@-]+)*$/.test(name) && !/(?:^|\/)\.|\.\.|@\{|^refs\/heads\/refs\//.test(name);
}
