/**
 * Hooks around the worktrees of agents (EXT-2). Ramet makes them itself, so a hook prepares one that is there, or has it
 * given back: any exit code but 0 does, as in the public convention. Nothing keeps one from being removed.
 */
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { RametError } from '../../schema/errors.ts';
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
  const { block, stop } = await hooks.run(asker, 'WorktreeCreate', fields, signal);
  const refusal = block ?? stop;
  if (refusal === undefined) return;
  await workspace.release();
  throw new RametError('hook_refused', 'terminal', `a WorktreeCreate hook refused it: ${refusal}`);
}

export async function worktreeRemoved(agent: Agent, { worktree }: AgentWorkspace): Promise<void> {
  const { hooks } = agent.runtime;
  if (hooks?.has(agent, 'WorktreeRemove') !== true) return;
  await hooks.run(agent, 'WorktreeRemove', { worktree_path: worktree.path, branch: worktree.branch }, NEVER);
}
