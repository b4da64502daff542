/** Whether a patch of an agent may change a file (RES-3): the rules and the mode decide, as for a Write of its own. */
import { join } from 'node:path';
import { whatWouldAllow } from '../../../../permission/assessment.ts';
import { decide } from '../../../../permission/decide.ts';
import type { PermissionPolicy } from '../../../../permission/policy.ts';
import { landingPath } from '../../../../system/landing-path.ts';

export interface PatchRules {
  /** As they are now: they grow when a person answers. */
  policy(): PermissionPolicy;
  /** The top of the checkout that the rules were written for. */
  root: string;
}

/** Why the first of the files that may not be changed may not; null if all may. Nobody is asked. */
export async function refusedFile(
  paths: readonly string[],
  { policy, root }: PatchRules,
): Promise<string | null> {
  for (const path of paths) {
    if (landingPath(join(root, path)) === null)
      return `${path}: a file is in the way of a folder, so no rule can judge it; use new names, or let the task run in a worktree (isolation: worktree)`;
    const details = { input: null, cwd: root, home: undefined };
    const subject = {
      name: 'Write',
      effect: 'write',
      access: () => ({ writes: [join(root, path)] }),
    } as const;
    const decision = await decide(policy(), subject, details);
    if (decision.kind === 'deny') return `${path}: ${decision.reason}`;
    if (decision.kind === 'ask')
      return `${path} needs a permission that nobody has given: ${decision.question.reason} (for the user: ${whatWouldAllow(decision.question, policy().rules.closed)} allows it)`;
  }
  return null;
}
