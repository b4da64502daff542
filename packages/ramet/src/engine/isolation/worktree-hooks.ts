/**
 * Hooks around the worktrees of agents (EXT-2). Ramet makes them itself, so a hook prepares one that is there, or has it
 * given back: any exit code but 0 does, as in the public convention. So does a path of a directory that the hook made
 * instead: the fence, the branch and the removal of a worktree hold for those that Ramet makes. Nothing keeps one from being
 * removed.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { RametError } from '../../schema/errors.ts';
import { realPath } from '../../system/landing-path.ts';
import type { Agent } from '../agent/agent.ts';

const NEVER: AbortSignal = new AbortController().signal;

/** For a new one, before anybody works in it. Throws when a hook refuses it, which is then given back. */
export async function worktreeCreated(
  asker: Agent,
  workspace: AgentWorkspace,
  name: string,
  signal: AbortSignal = NEVER,
): Promise<void> {
  const { hooks } = asker.runtime;
  const { path, branch, base } = workspace.worktree;
  if (workspace.created.how === 'restored' || hooks?.has(asker, 'WorktreeCreate') !== true) return;
  const fields = { name, worktree_path: path, branch, base };
  const { block, stop, paths = [] } = await hooks.run(asker, 'WorktreeCreate', fields, signal);
  const other = paths.find((printed) => isOtherDirectory(printed, path, asker.directory.cwd));
  const refusal = block ?? stop ?? (other === undefined ? undefined : madeElsewhere(other));
  if (refusal === undefined) return;
  await workspace.release();
  throw new RametError('hook_refused', 'terminal', `a WorktreeCreate hook refused it: ${refusal}`);
}

/** A hook may print anything: only what names a directory says that it made one. */
function isOtherDirectory(printed: string, worktree: string, cwd: string): boolean {
  if (!/^\.{0,2}\//.test(printed)) return false;
  try {
    const made = resolve(cwd, printed);
    return statSync(made).isDirectory() && realPath(made) !== realPath(worktree);
  } catch {
    return false;
  }
}

function madeElsewhere(path: string): string {
  return `it gave the path ${path}, and Ramet makes worktrees itself: prepare the one in worktree_path, and remove the other`;
}

export async function worktreeRemoved(agent: Agent, { worktree }: AgentWorkspace): Promise<void> {
  const { hooks } = agent.runtime;
  if (hooks?.has(agent, 'WorktreeRemove') !== true) return;
  await hooks.run(agent, 'WorktreeRemove', { worktree_path: worktree.path, branch: worktree.branch }, NEVER);
}
