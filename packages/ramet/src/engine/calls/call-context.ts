/** What a tool gets besides its input: where it works, and what it may ask of the engine, for one call of one agent. */
import { leavesOut } from '../../permission/decide.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import { gitSettings, NO_BARE } from '../../system/child-environment.ts';
import { endMarked, endUnmarked } from '../../system/processes/marked-processes.ts';
import { OWNER_VARIABLE } from '../../system/processes/process-group.ts';
import { AGENT_VARIABLE } from '../../system/processes/process-register.ts';
import type { HeavyPlace, ToolContext } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { progressOfTodos } from '../loop/stop-reason.ts';
import { agentShell, type HeldCall } from './agent-shell.ts';
import { inCheckout } from './authorize.ts';
import type { HeavyCall } from './heavy-place.ts';
import { memoryFiles } from './memory-files.ts';
import type { Permit } from './permit.ts';

interface CallRun extends Pick<ToolContext, 'onOutput' | 'signal'> {
  readonly agent: Agent;
  readonly byPrompt?: true;
}

export function contextOf(
  { agent, signal, onOutput, byPrompt }: CallRun,
  call: ToolUseBlock,
  held: HeldCall & Pick<Permit & { kind: 'permitted' }, 'unreadable' | 'heavy' | 'memory'>,
): ToolContext {
  const { runtime, spec, directory } = agent;
  const { cwd } = directory;
  const { slots } = runtime;
  const env = environmentOf(agent);
  const tell = (message: string): void => agent.warn('no_sandbox', message);
  return {
    agent: spec.id,
    call: call.id,
    cwd,
    env: byPrompt === true ? { ...env, ...gitSettings(env, [NO_BARE]) } : env,
    outputDirectory: runtime.outputDirectory,
    files:
      held.memory === undefined
        ? agent.files.for(call.id)
        : memoryFiles({ agent, call: call.id, signal }, held.memory),
    ...(held.unreadable && { leavesOut: leavesOut(held.unreadable, cwd, inCheckout(directory)) }),
    ...agentShell(agent, held, tell),
    signal,
    clock: runtime.clock,
    onOutput,
    progress: (text) => agent.here.sink?.({ type: 'tool_progress', call, text }),
    expectGroup: () => runtime.processes.expect(spec.id),
    registerGroup(group) {
      endDaemons(agent);
      return runtime.processes.enter(group, spec.id);
    },
    // Few calls ask for them.
    get tasks() {
      return agent.tasks;
    },
    agents: runtime.agents.deskFor(spec.id, call.id, signal),
    root: () => runtime.agents.root(),
    directory: directoryDesk(agent, signal),
    setTodos(todos) {
      agent.setTodos(todos);
      progressOfTodos(agent, todos);
    },
    onAgentEnd: (release) => agent.scope.defer(release),
    redact: runtime.redact,
    afterCommand: (command, since) => agent.checkout.afterCommand(command, since),
    ...(held.heavy && slots && { heavyPlace: (command) => placeFor(agent, command, { slots, signal }) }),
  };
}

function environmentOf({ checkout, directory: { workspace }, spec }: Agent): ToolContext['env'] {
  if (workspace === null) return checkout.environment;
  return { ...checkout.environment, ...workspace.env, [OWNER_VARIABLE]: spec.id };
}

const WATCHED = new WeakSet<Agent>();

/** What left its shell by a session of its own could still write in a worktree that is given back. */
function endDaemons(agent: Agent): void {
  const { workspace, isOwn } = agent.directory;
  if (workspace === null || WATCHED.has(agent)) return;
  WATCHED.add(agent);
  const { path, shared } = workspace.worktree;
  // Where others have it too, one without a mark may be theirs.
  if (isOwn && shared === undefined) agent.scope.defer(() => endUnmarked(path, `${AGENT_VARIABLE}=`));
  agent.scope.defer(() => endMarked(`${OWNER_VARIABLE}=${agent.spec.id}`));
}

/** Loaded with the first heavy command. */
async function placeFor(agent: Agent, command: string, call: HeavyCall): Promise<HeavyPlace | null> {
  return (await import('./heavy-place.ts')).heavyPlace(agent, command, call);
}

/** Loaded when an agent moves. */
function directoryDesk(agent: Agent, signal: AbortSignal): ToolContext['directory'] {
  const moves = (): Promise<typeof import('../isolation/change-directory.ts')> =>
    import('../isolation/change-directory.ts');
  return {
    enter: async (name) => (await moves()).enterWorktree(agent, name, signal),
    exit: async () => (await moves()).exitWorktree(agent),
  };
}
