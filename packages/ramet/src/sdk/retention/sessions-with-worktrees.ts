/** The sessions of a repository whose agents have worktrees: there may be work in them that is nowhere else. */
import { existsSync } from 'node:fs';
import { WorktreeRegistry } from '../../git/worktrees/registry.ts';
import { indexPath } from '../../journal/session-index.ts';
import type { SessionId } from '../../schema/ids.ts';
import type { Place } from '../place.ts';

export function sessionsWithWorktrees({ project, repository }: Place): Set<SessionId> {
  if (repository === null || !existsSync(indexPath(project))) return new Set();
  using registry = new WorktreeRegistry(project);
  const held = registry.list().filter(({ state }) => state !== 'gone' && state !== 'ready');
  return new Set(held.flatMap(({ owner }) => (owner === null ? [] : [owner.session])));
}
