/**
 * Hooks around the worktrees of agents (EXT-2). Ramet has made one when a hook is asked: the hook prepares it, or makes another
 * in its place, whose path it gives. Any exit code but 0 refuses it, as in the public convention, and so does a path that cannot be
 * the worktree of one agent alone: ours is given back then, and what the hook made is left as it is. One that a hook made is removed by
 * the hook for that, if there is one; nothing keeps ours from being removed.
 */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type {
  AgentWorkspace,
  ExpectedDirectory,
  WorkspaceEnd,
} from '../../git/worktrees/workspace/agent-workspace.ts';
import { Cancelled, describeError, RametError } from '../../schema/errors.ts';
import type { RecordedWorktree } from '../../schema/events.ts';
import { realPath } from '../../system/landing-path.ts';
import type { Agent } from '../agent/agent.ts';

const NEVER: AbortSignal = new AbortController().signal;

/** For a new one, before anybody works in it; what is returned is the one to work in. Throws when a hook refuses it. */
export async function worktreeCreated(
  asker: Agent,
  workspace: AgentWorkspace,
  signal: AbortSignal = NEVER,
): Promise<AgentWorkspace> {
  const { hooks } = asker.runtime;
  if (workspace.created.how === 'restored' || hooks?.has(asker, 'WorktreeCreate') !== true) return workspace;
  const { path, branch, base } = workspace.worktree;
  const expected = await workspace.expectDirectory?.();
  const fields = { name: nameOf({ path, branch }), worktree_path: path, branch, base };
  try {
    const { block, stop, paths = [] } = await hooks.run(asker, 'WorktreeCreate', fields, signal);
    const refusal = block ?? stop;
    if (refusal !== undefined) throw new RametError('hook_refused', 'terminal', refusal);
    const other = otherDirectory(paths, path, asker.directory.cwd);
    if (other !== null && expected !== undefined) return await expected.take(other);
    expected?.none();
    return workspace;
  } catch (error) {
    throw await refused(error, workspace, expected);
  }
}

/** No other worktree has it: hooks make directories and branches of it. A directory that a hook made may be called otherwise. */
function nameOf({ path, branch }: Pick<RecordedWorktree, 'path' | 'branch'>): string {
  return basename(branch ?? path);
}

async function refused(
  error: unknown,
  workspace: AgentWorkspace,
  expected: ExpectedDirectory | undefined,
): Promise<RametError> {
  const left = (await expected?.left().catch(() => [])) ?? [];
  await workspace.release();
  if (error instanceof Cancelled) return error;
  const named = left.map((path) => `${path} (git worktree remove ${path})`).join(', ');
  const also = left.length === 0 ? '' : `; left as it is, and no agent has it: ${named}`;
  const reason = `a WorktreeCreate hook refused it: ${describeError(error)}${also}`;
  return new RametError('hook_refused', 'terminal', reason, { cause: error });
}

/** What it made in place of ours; null for nothing. Throws for two. */
function otherDirectory(printed: readonly string[], worktree: string, cwd: string): string | null {
  const given = printed.filter((text) => isPath(text, cwd)).map((text) => resolve(cwd, text));
  const others = [...new Set(given.filter((path) => realPath(path) !== realPath(worktree)))];
  const [first = null, second] = others;
  if (second === undefined) return first;
  throw new RametError(
    'hook_refused',
    'terminal',
    `hooks gave two directories, ${first} and ${second}: let one hook make it, and the others print nothing`,
  );
}

/** A hook may print anything: a word counts only where it names a checkout. */
function isPath(printed: string, cwd: string): boolean {
  if (/^(?:~|\.{0,2})\//.test(printed)) return true;
  return !/^\.*$/.test(printed) && existsSync(join(resolve(cwd, printed), '.git'));
}

/** At the end of its agent. What a hook made, the hook for that removes. */
export async function giveBack(
  agent: Agent,
  workspace: AgentWorkspace,
  begun?: Promise<void>,
): Promise<WorkspaceEnd> {
  const isRemovedByHook = workspace.isOfHook === true && hasRemoval(agent);
  return workspace.release(begun, isRemovedByHook ? () => runRemoval(agent, workspace) : undefined);
}

/** After one of ours was removed. */
export async function worktreeRemoved(agent: Agent, workspace: AgentWorkspace): Promise<void> {
  if (workspace.isOfHook !== true && hasRemoval(agent)) await runRemoval(agent, workspace);
}

function hasRemoval(agent: Agent): boolean {
  return agent.runtime.hooks?.has(agent, 'WorktreeRemove') === true;
}

async function runRemoval(agent: Agent, { worktree, isOfHook }: AgentWorkspace): Promise<void> {
  const { path, branch, from } = worktree;
  const fields = { name: nameOf({ path, branch }), worktree_path: path, branch };
  // A shell whose directory is gone runs nothing more.
  const place = isOfHook === true ? { cwd: from } : {};
  await agent.runtime.hooks?.run(agent, 'WorktreeRemove', { ...fields, ...place }, NEVER);
}
