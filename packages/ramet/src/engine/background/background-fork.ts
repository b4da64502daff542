/**
 * The life of one background fork: an agent like others on record, with its source, that continues the conversation of a
 * finished turn. It holds no permit of agents that were asked for, no caller waits for it, nobody learns of its end,
 * and it cannot be resumed.
 */
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentOrigin } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { agentSpec, basisOf } from '../agent/agent-spec.ts';
import { childDirectory } from '../children/child-plan.ts';
import { inheritedTokens } from '../children/child-terms.ts';
import type { AgentFamily } from '../children/family.ts';
import { runAgent } from '../loop/loop.ts';
import type { BackgroundWork } from './background-work.ts';

export interface ForkOrder {
  readonly id: AgentId;
  readonly task: string;
  /** Its own; null for one that works where its parent does. */
  readonly workspace: AgentWorkspace | null;
}

export function startFork(
  family: AgentFamily,
  parent: Agent,
  work: BackgroundWork,
  { id, task, workspace }: ForkOrder,
): Agent {
  const origin: AgentOrigin = {
    kind: 'fork',
    call: null,
    description: `${work.source}: ${work.description}`,
    background: false,
    depth: (parent.spec.origin?.depth ?? 0) + 1,
    skipTranscript: true,
    source: work.source,
    inheritedTokens: inheritedTokens(parent),
    ...(workspace !== null && { worktree: workspace.worktree }),
  };
  const spec = agentSpec(basisOf(family, parent), {
    id,
    type: 'fork',
    name: null,
    model: parent.conversation.head.model,
    thinking: parent.conversation.head.thinking,
    system: parent.spec.system,
    tools: parent.spec.tools,
    permissionMode: 'bubble',
    ...work.limits,
    origin,
    // Another model, or a shorter conversation, would not be what is in the cache.
    fallbackModel: null,
    compacts: false,
    skipCacheWrite: true,
    canUseTool: work.canUseTool,
    cwd: childDirectory(parent, workspace),
    ...(workspace !== null && { workspace, isWorkspaceOwn: true }),
  });
  return parent.fork(spec, task);
}

export async function runFork(family: AgentFamily, fork: Agent, signal: AbortSignal): Promise<AgentResult> {
  family.admit(fork, null);
  // Who listens to the session hears what was asked for; the record has the rest.
  fork.here.sink = null;
  try {
    return await runAgent(fork, { signal, waitForChildren: false });
  } finally {
    family.forget(fork);
    await fork[Symbol.asyncDispose]();
  }
}

/** Nobody asked for its work, so what changed in the checkout meanwhile is none of its report. */
export async function giveBack(fork: Agent, workspace: AgentWorkspace): Promise<void> {
  const { checkoutChanges: _, ...end } = await workspace.release();
  fork.record({ type: 'worktree.released', ...workspace.worktree, ...end });
  await fork.runtime.journal.commit('written').catch(() => {}); // agents that still run report a broken journal
}
