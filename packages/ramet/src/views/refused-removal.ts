/** Why `ramet worktree rm` left a worktree alone: what it holds, how to keep that, and what `--force` does with it. */
import { checkpointRef } from '../git/managed-worktrees.ts';
import type { ManagedWorktree, VerdictKind, VerdictReason } from '../git/shapes.ts';

const FILES: ReadonlySet<VerdictKind> = new Set<VerdictKind>([
  ...(['staged', 'changed', 'untracked', 'hidden', 'precious'] as const),
]);
/** `git add` takes these. */
const COMMITTED: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['staged', 'changed', 'untracked']);
const COMMITS: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['commits']);
/** No branch leads to these. */
const LOOSE: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['detached']);
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
  const isDirty = reasons.some(({ kind }) => COMMITTED.has(kind));
  const tips = reasons.flatMap(({ tip }) => tip ?? []);
  const own = branch === null || (tips.length > 0 && total(reasons, COMMITS) === 0) ? [] : [branch];
  // The next commit comes on top of those without a branch, and says its name.
  const loose = isDirty && tips.length > 0 ? ['COMMIT (as that names it)'] : tips;
  const wanted = [...own, ...loose];
  const steps = [
    ...(isDirty ? [`ramet worktree commit ${name}`] : []),
    ...(wanted.length === 0 ? [] : [`ramet merge ${wanted.join(' ')}`]),
  ];
  return steps.length === 0 ? [] : [`To keep the work: ${steps.join(', then ')}`];
}

/** What `--force` leaves, and where. */
function heldBy(worktree: ManagedWorktree, reasons: readonly VerdictReason[]): string {
  const { branch } = worktree;
  const files = total(reasons, FILES);
  const onBranch = branch === null ? 0 : total(reasons, COMMITS);
  const loose = total(reasons, LOOSE) + (branch === null ? total(reasons, COMMITS) : 0);
  const saved = [
    ...(loose === 0 ? [] : [counted(loose, 'commit')]),
    ...(files === 0 ? [] : [counted(files, 'file')]),
  ];
  const kept = [
    ...(onBranch === 0 ? [] : [`${counted(onBranch, 'commit')} on ${branch}`]),
    ...(saved.length === 0 ? [] : [`${saved.join(' and ')} on ${checkpointRef(worktree)}`]),
  ];
  return kept.length === 0 ? 'To remove it: ' : `To remove it and leave ${kept.join(' and ')}: `;
}

function total(reasons: readonly VerdictReason[], kinds: ReadonlySet<VerdictKind>): number {
  return reasons.reduce((sum, { kind, count = 1 }) => (kinds.has(kind) ? sum + count : sum), 0);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
