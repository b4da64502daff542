/** Work in progress that was kept on private refs. One goes when a branch, tag or remote has all of it, or `--work` is said. */

import { runGit } from '../../git/run-git.ts';
import type { Holding, HoldingOptions } from './holding.ts';
import { WORK_STAYS } from './kept-folders.ts';
import { DAY_MS } from './session-holdings.ts';

const PREFIX = 'refs/ramet/wip/';
const FORMAT = '%(refname)%09%(objectname)%09%(committerdate:unix)';

export async function wipRefs({ place, env, now, days, work }: HoldingOptions): Promise<Holding[]> {
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
    const found = await runGit(elsewhere, call);
    const mayGo = work || (found.code === 0 && found.stdout.trim() === '');
    held.push({
      kind: 'wip ref',
      name: ref,
      usedAt,
      bytes: 0,
      parts: null,
      keep: mayGo
        ? young
          ? 'it is recent'
          : null
        : `it holds work that is on no branch: git diff HEAD ${ref} ${WORK_STAYS}`,
      young: mayGo && young,
      async remove() {
        await runGit(['update-ref', '-d', ref, commit], call);
        return null;
      },
    });
  }
  return held;
}
