/** The id of a task as part of other names: of agents, branches, worktrees and files. */
import { createHash } from 'node:crypto';

const LONGEST = 40;

/** Two ids never have one name: what is left out or changed shows in a digest behind it. */
export function taskName(id: string): string {
  const plain = id.replace(/[^\w.-]+/g, '-');
  if (plain === id && id.length <= LONGEST) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 6);
  return `${plain.slice(0, LONGEST - digest.length - 1).replace(/^-+|-+$/g, '')}-${digest}`.replace(/^-/, '');
}
