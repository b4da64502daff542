/** An agent enters a worktree and leaves it (WORK-2). This is recorded, so that it resumes there after a restart. */
import type { AgentWorkspace, WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import { describeError, RametError } from '../../schema/errors.ts';
import { failure, type ToolOutcome } from '../../tools/agent-desk.ts';
import type { Agent } from '../agent/agent.ts';
import { checkoutWarning } from '../agent/notices.ts';
import { directoryChanged } from '../hooks/run-hooks.ts';
import { giveBack, worktreeCreated, worktreeRemoved } from './worktree-hooks.ts';

export async function enterWorktree(
  agent: Agent,
  name: string | undefined,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { runtime, spec, directory } = agent;
  if (directory.workspace !== null) {
    const { path } = directory.workspace.worktree;
    return failure(
      `You already work in the worktree ${path}.${directory.isOwn ? ' ExitWorktree leaves it.' : ''}`,
    );
  }
  try {
    const owner = { session: runtime.journal.session, agent: spec.id };
    const wanted = name?.trim() || spec.name || 'work';
    const made = await runtime.workspaces.enter({ name: wanted, owner, cwd: directory.cwd, signal });
    const workspace = await worktreeCreated(agent, made, signal);
    workspace.giveTo(owner);
    const before = directory.cwd;
    moveInto(agent, workspace);
    await directoryChanged(agent, before, signal);
    const texts = [workspace.recovered, workspace.notice.whole];
    return { content: texts.filter((text) => text !== null).join('\n') };
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    return failure(`Could not enter a worktree: ${describeError(error)}.`);
  }
}

/** From here on it works there. */
export function moveInto(agent: Agent, workspace: AgentWorkspace): void {
  for (const warning of workspace.warnings) agent.warn('worktree_incomplete', warning);
  agent.directory.enter(workspace);
}

export async function exitWorktree(agent: Agent): Promise<ToolOutcome> {
  const { directory, spec } = agent;
  if (directory.workspace === null) return failure('You are not in a worktree.');
  const { outside } = directory;
  if (!directory.isOwn || outside === null) {
    return failure('This worktree belongs to your task. Stay in it until you are done.');
  }
  if (agent.children.running.length > 0) return failure(othersWork(agent));
  const before = directory.cwd;
  const end = await releaseWorkspace(agent);
  directory.leave(outside);
  await directoryChanged(agent, before);
  const changes = end?.checkoutChanges ?? [];
  const warning = changes.length === 0 ? '' : ` It changed meanwhile; ${checkoutWarning(changes)}.`;
  const back = `You are back in ${directory.cwd}.${warning}`;
  if (end === null || !end.kept) return { content: `${back} The worktree had no changes and was removed.` };
  const { path, branch, base, reasons } = end;
  return {
    content: `${back} ${path} stays, on branch ${branch ?? '(none)'} from ${base.slice(0, 12)}, because it has changes: ${reasons.join('; ')}. EnterWorktree with its name returns to it${spec.parent === null ? '; git merge brings in its commits' : ''}.`,
  };
}

function othersWork({ children }: Agent): string {
  const ids = children.running.map(({ id }) => id).join(', ');
  return `Your agents are working in this directory: ${ids}. Wait for them or stop them first.`;
}

/**
 * An agent that has ended gives its worktree back (WORK-3): unchanged ones vanish, changed ones stay and are reported.
 *
 * Null for an agent without a worktree of its own.
 */
export async function releaseWorkspace(agent: Agent): Promise<WorktreeResult | null> {
  const { directory } = agent;
  const { workspace } = directory;
  if (workspace === null || !directory.isOwn) return null;
  const end = await giveBack(agent, workspace, directory.lastCheckpoint());
  agent.record({ type: 'worktree.released', ...workspace.worktree, ...end });
  if (!end.kept) await worktreeRemoved(agent, workspace);
  await agent.runtime.journal.commit('written').catch(() => {}); // agents that still run report a broken journal
  return { ...workspace.worktree, ...end };
}
