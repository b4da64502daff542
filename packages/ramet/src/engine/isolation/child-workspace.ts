/** The worktree of a child, made before anything of the child is: without it there is no child (WORK-7). */

import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { Cancelled, RametError, UserMistake } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import type { Agent } from '../agent/agent.ts';
import { worktreeCreated } from './worktree-hooks.ts';

/** Where there can be no worktree, nobody who did not ask for one is refused. */
const IMPOSSIBLE: ReadonlySet<string> = new Set(['not_a_repository', 'no_commit']);

/** Null where it is only a default, and there can be none. */
export async function childWorkspace(
  parent: Agent,
  {
    name,
    description,
    signal,
    worktreeBase,
    needsSetup = false,
    isByDefault,
    throwaway,
  }: Pick<SpawnRequest, 'name' | 'description'> & {
    signal?: AbortSignal | undefined;
    worktreeBase?: string | undefined;
    needsSetup?: boolean | undefined;
    isByDefault: boolean;
    /** Nobody asked for it, and nothing in it is kept: hooks are not told. */
    throwaway?: true | undefined;
  },
  id: AgentId,
): Promise<AgentWorkspace | null> {
  const { runtime, directory } = parent;
  // What a person can recognise, and what is there in any case.
  const wanted = [name, description].find((text) => isReadable(text ?? '')) ?? 'agent';
  const refusal = await runtime.sandbox.isolationRefusal();
  if (refusal !== null) throw new UserMistake('isolation', `it cannot be isolated: ${refusal}`);
  try {
    const workspace = await runtime.workspaces.create({
      name: wanted,
      owner: { session: runtime.journal.session, agent: id },
      cwd: directory.cwd,
      inherited: knownCheckouts(parent),
      base: worktreeBase,
      throwaway,
      signal,
    });
    if (throwaway === true) return workspace;
    const ready = await worktreeCreated(parent, workspace, signal);
    return needsSetup ? await setUp(ready) : ready;
  } catch (error) {
    if (!(error instanceof RametError) || error instanceof Cancelled) throw error;
    if (isByDefault && IMPOSSIBLE.has(error.code)) return null;
    throw new UserMistake('isolation', `it cannot have a worktree of its own: ${error.message}`, {
      cause: error,
    });
  }
}

/** One that is not ready for use is given back. */
async function setUp(workspace: AgentWorkspace): Promise<AgentWorkspace> {
  const { setupFailure } = workspace;
  if (setupFailure === undefined) return workspace;
  await workspace.release();
  throw new RametError('setup_failed', 'terminal', setupFailure);
}

/** A pattern that knows all letters takes a millisecond to compile, and few texts need it. */
function isReadable(text: string): boolean {
  return /[A-Za-z0-9]/.test(text) || /[\p{L}\p{N}]/u.test(text);
}

/** What the parent itself knows from elsewhere is in the child's conversation as well. */
function knownCheckouts({ directory }: Agent): string[] {
  if (directory.workspace === null) return [];
  const { from, inherited = [] } = directory.workspace.worktree;
  return [from, ...inherited];
}
