/** Where a run of the queue begins: what has landed since, what is ready on the private ref, what is to be done. */

import { runGit } from '../run-git.ts';
import type { IntegrationHead } from './integration.ts';
import type { MergeEntry } from './merge-entries.ts';
import { callIn, isAncestor, type MergeRepository, type NamedCommit } from './merge-repository.ts';
import { isOpen } from './queue-ground.ts';

export interface QueueStart {
  /** What the next branch goes on top of: the target, or what is ready on top of it. */
  head: IntegrationHead;
  /** Noted as under way, and found in the target. */
  landed: MergeEntry[];
  /** Ready on the private ref, and still good. */
  kept: MergeEntry[];
  /** The check command that what is ready has passed; null where none has run on it, and for the target itself. */
  checked: string | null;
  /** To be merged now, also again: the target has moved away from what was ready. */
  pending: MergeEntry[];
  /** The private ref holds commits that no entry tells of. */
  isUnaccounted: boolean;
}

export async function findStart(
  { target, integration }: { target: NamedCommit; integration: NamedCommit | null },
  entries: readonly MergeEntry[],
  repository: MergeRepository,
): Promise<QueueStart> {
  const open = entries.filter(isOpen);
  const missing = await notIn(
    target.commit,
    open.flatMap(({ result }) => result ?? []),
    repository,
  );
  const isLanded = ({ result }: MergeEntry): boolean => result !== null && !missing.has(result);
  const landed = open.filter(isLanded);
  const rest = open.filter((entry) => !isLanded(entry));
  const fresh = { head: target, landed, kept: [], checked: null, pending: rest, isUnaccounted: false };
  if (integration === null || integration.commit === target.commit) return fresh;
  if (!(await isAncestor(target.commit, integration.commit, repository)))
    return {
      ...fresh,
      isUnaccounted: await hasUnknown(target.commit, integration.commit, entries, repository),
    };
  const ready = new Set<string>([
    integration.commit,
    ...(await madeBetween(target.commit, integration.commit, repository)),
  ]);
  const kept = rest.filter(
    ({ state, result }) => state === 'integrated' && result !== null && ready.has(result),
  );
  const checked = kept.find(({ result }) => result === integration.commit)?.checked ?? null;
  const pending = rest.filter((entry) => !kept.includes(entry));
  return { ...fresh, head: integration, kept, checked, pending };
}

/** Which of the commits a target does not hold, in one process; one that is gone altogether is among them. */
async function notIn(
  target: string,
  commits: readonly string[],
  repository: MergeRepository,
): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set();
  const input = [...commits, `^${target}`].map((line) => `${line}\n`).join('');
  const { code, stdout } = await runGit(['rev-list', '--stdin'], { ...callIn(repository), input });
  if (code === 0) return new Set(stdout.split('\n'));
  const missing = new Set<string>();
  for (const commit of commits) if (!(await isAncestor(commit, target, repository))) missing.add(commit);
  return missing;
}

async function hasUnknown(
  target: string,
  integration: string,
  entries: readonly MergeEntry[],
  repository: MergeRepository,
): Promise<boolean> {
  if (await isAncestor(integration, target, repository)) return false;
  return !entries.some(({ result, state }) => result === integration && state === 'integrated');
}

async function madeBetween(
  target: string,
  integration: string,
  repository: MergeRepository,
): Promise<string[]> {
  const { stdout } = await runGit(
    ['rev-list', '--first-parent', integration, `^${target}`],
    callIn(repository),
  );
  return stdout.split('\n').filter((line) => line !== '');
}
