/**
 * Whether whoever has a worktree may be at work in it. A process that cannot be seen from here, in another container or
 * on another machine, is judged by its session: while it writes that, it lives; when nobody does, or another process
 * does, it is gone. Of one without a session nothing is known, so it counts as alive.
 */

import { livingWriter } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import { isProcessAlive, sightOf } from '../../system/processes/process-identity.ts';
import type { ManagedWorktree } from './worktree.ts';

export function isHeld(project: string, { lease, owner }: Pick<ManagedWorktree, 'lease' | 'owner'>): boolean {
  if (lease === null) return false;
  const sight = sightOf(lease);
  if (sight === 'here' || sight === 'rebooted' || owner === null) return isProcessAlive(lease);
  try {
    const writer = livingWriter({ project, session: owner.session });
    return writer !== null && writer.pid === lease.pid && writer.started === lease.started;
  } catch (error) {
    // Nobody writes a session that is not there.
    return !(error instanceof UserMistake);
  }
}
