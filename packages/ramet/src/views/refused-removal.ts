/** Why `ramet worktree rm` left a worktree alone: what it holds, how to keep that, and what `--force` does with it. */
import { checkpointRef } from '../git/managed-worktrees.ts';
import type { ManagedWorktree, VerdictKind, VerdictReason } from '../git/shapes.ts';

const FILES: ReadonlySet<VerdictKind> = new Set<VerdictKind>([
  ...(['staged', 'changed', 'untracked', 'hidden', 'precious'] as const),
]);
/** `git add` takes these. */
const COMMITTED: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['staged', 'changed', 'untracked']);
const COMMITS: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['commits', 'detached']);
/** While one of these holds, `--force` is refused as well. */
const FINAL: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['in_use', 'mount', 'submodule']);

export function refusedRemoval(
  worktree: ManagedWorktree,
  reasons: readonly VerdictReason[],
  force: boolean,
): string {
  const why = reasons.map(({ text }) => text).join('; ');
  const stays = `${worktree.name} stays: ${why}`;
  if (force || reasons.some(({ kind }) => FINAL.has(kind))) return stays;
  const held = heldBy(worktree, reasons);
  return [stays, ...toKeep(worktree, reasons), `${held}ramet worktree rm --force ${worktree.name}`].join(
    '. ',
  );
}

function toKeep({ name, branch }: ManagedWorktree, reasons: readonly VerdictReason[]): string[] {
  const commit = reasons.some(({ kind }) => COMMITTED.has(kind)) ? [`ramet worktree commit ${name}`] : [];
  const merge = branch === null ? [] : [`ramet merge ${branch}`];
  const steps = [...commit, ...merge].join(', then ');
  return steps === '' ? [] : [`To keep the work: ${steps}`];
}

/** What `--force` leaves, and where. */
function heldBy(worktree: ManagedWorktree, reasons: readonly VerdictReason[]): string {
  const files = total(reasons, FILES);
  const commits = total(reasons, COMMITS);
  const { branch } = worktree;
  const kept = [
    ...(commits === 0 || branch === null ? [] : [`${counted(commits, 'commit')} on ${branch}`]),
    ...(files === 0 && (commits === 0 || branch !== null)
      ? []
      : [
          `${files === 0 ? counted(commits, 'commit') : counted(files, 'file')} on ${checkpointRef(worktree)}`,
        ]),
  ];
  return kept.length === 0 ? 'To remove it: ' : `To remove it and leave ${kept.join(' and ')}: `;
}

function total(reasons: readonly VerdictReason[], kinds: ReadonlySet<VerdictKind>): number {
  return reasons.reduce((sum, { kind, count = 1 }) => (kinds.has(kind) ? sum + count : sum), 0);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
