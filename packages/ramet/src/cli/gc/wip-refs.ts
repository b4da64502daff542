/** Work in progress that was kept on private refs. One goes only when a branch, tag or remote has all of it. */

import { DAY_MS } from '../../sdk/retention/session-holdings.ts';
import { runGit } from '../../workspace/git/run-git.ts';
import type { Holding, HoldingOptions } from './holding.ts';

const PREFIX = 'refs/ramet/wip/';
const FORMAT = '%(refname)%09%(objectname)%09%(committerdate:unix)';

export async function wipRefs({ place, env, now, days }: HoldingOptions): Promise<Holding[]> {
  if (place.repository === null) return [];
  const call = { cwd: place.repository.root, env };
  const { stdout } = await runGit(['for-each-ref', `--format=${FORMAT}`, PREFIX], call);
  const refs = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'));
  const held: Holding[] = [];
  for (const [ref = '', commit = '', seconds = '0'] of refs) {
    const usedAt = Number(seconds) * 1_000;
    const young = now - usedAt < days * DAY_MS;
    const elsewhere = ['rev-list', '--max-count=1', commit, '--not', '--branches', '--tags', '--remotes'];
    const isMerged = (await runGit(elsewhere, call)).stdout.trim() === '';
    held.push({
      kind: 'wip ref',
      name: ref,
      usedAt,
      bytes: 0,
      parts: null,
      keep: isMerged
        ? young
          ? 'it is recent'
          : null
        : `it holds work that is on no branch: git diff HEAD ${ref}`,
      young: isMerged && young,
      async remove() {
        await runGit(['update-ref', '-d', ref, commit], call);
        return null;
      },
    });
  }
  return held;
}
