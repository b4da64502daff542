/** What the tools of one agent may ask about other agents, carried out (AGENT-3, AGENT-7). */
import type { AgentId } from '../../schema/ids.ts';
import type { CoordinatorPhase } from '../../schema/status.ts';
import type { AgentDesk, SpawnRequest } from '../../tools/agent-desk.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { agentMessageText, STOPPED } from '../agent/notices.ts';
import { describeOther, resumeEnded, tellRunning } from '../resume/resume-ended.ts';
import type { AgentHandle } from './child-handle.ts';
import type { SpawnOrder } from './child-plan.ts';
import type { AgentFamily } from './family.ts';
import { reportOfRunning } from './report.ts';
import { spawnAgent } from './spawn.ts';
import { lookAtAgents } from './wait-for-agents.ts';

export function createDesk(family: AgentFamily, id: AgentId, call: string, signal: AbortSignal): AgentDesk {
  const asker = (): Agent => {
    const agent = family.find(id);
    if (agent === undefined) throw new Error(`agent ${id} is not running`);
    return agent;
  };
  return {
    async spawn({ rules, ...request }) {
      const start = (order: SpawnRequest, phase?: CoordinatorPhase): Promise<ToolOutcome> =>
        spawn(family, asker(), order, { call, signal, phase, rules });
      return family.coordinator?.delegate(asker(), request, start) ?? start(request);
    },
    async send(to, message) {
      const tell = (text: string): Promise<ToolOutcome> => send(family, asker(), to, text);
      if (family.coordinator !== null) return family.coordinator.send(asker(), to, message, tell);
      return (await family.team?.send(asker(), to, message, call)) ?? tell(message);
    },
    look: async (task, wait) =>
      isBlind(family, asker()) ? null : lookAtAgents(family, asker(), { task, call, signal, ...wait }),
    stop: async (task) => (isBlind(family, asker()) ? null : stop(family, asker(), task)),
  };
}

/** The workers of a coordinator do not see each other (COORD-1). */
function isBlind({ coordinator }: AgentFamily, { spec }: Agent): boolean {
  return coordinator !== null && spec.parent !== null;
}

async function spawn(
  family: AgentFamily,
  parent: Agent,
  request: SpawnRequest,
  given: Pick<SpawnOrder, 'phase' | 'rules'> & { call: string; signal: AbortSignal },
): Promise<ToolOutcome> {
  const spawned = await spawnAgent(family, parent, { ...request, ...given });
  if ('problem' in spawned) return failure(`No agent was started: ${spawned.problem}.`);
  const { handle } = spawned;
  if (family.team?.has(handle.id) === true) return { content: joined(handle, family.find(handle.id)) };
  return reportOfRunning(family, parent.runtime, handle, given.signal);
}

function joined({ id, name }: AgentHandle, agent: Agent | undefined): string {
  const branch = agent?.directory.workspace?.worktree.branch;
  const where = branch === undefined ? '' : ` on the branch ${branch}`;
  return `${name} (${id}) has joined the team and works in the background${where}. Messages of it arrive between your tool calls. Nothing tells you when it goes idle: ask it to report with SendMessage to "lead".`;
}

async function send(family: AgentFamily, from: Agent, to: string, message: string): Promise<ToolOutcome> {
  const { spec } = from;
  const text = agentMessageText({ kind: 'message', from: spec.id, name: spec.name }, message);
  const receiver = findReceiver(family, spec.id, to);
  if (receiver === from) return failure('That is you. Name another agent.');
  if (receiver !== undefined) return tellRunning(receiver, spec.id, to, text);
  return resumeEnded(family, from, to, text);
}

function findReceiver(family: AgentFamily, asker: AgentId, to: string): Agent | undefined {
  if (to === 'main' || to === 'lead') return family.find(asker.replace(/\.\d+$/, '.1'));
  const handle = family.findHandle(to);
  return family.find(handle?.id ?? to);
}

/** An agent stops its own children; those of others are theirs. */
async function stop(family: AgentFamily, agent: Agent, task: string): Promise<ToolOutcome | null> {
  const child = agent.children.find(task);
  if (child === undefined) {
    const other = describeOther(family, agent.spec.id, task);
    return other === null ? null : { content: `Nothing to stop: ${other.line}` };
  }
  child.stop(STOPPED);
  const { status, turns } = await child.result;
  const after = `${turns} turn${turns === 1 ? '' : 's'}`;
  return { content: `Agent ${child.id} was stopped (${status} after ${after}). SendMessage resumes it.` };
}
