/** Runs the hooks of one event for one agent, and records how each ended; failures are told as warnings. */
import { type Hook, type HookEntry, type HookInput, readHooks } from '../../extensions/hooks/hook-config.ts';
import { type HookEventName, hookEventKind } from '../../extensions/hooks/hook-event.ts';
import {
  type HookEffect,
  type HookGround,
  type HookResult,
  HookRunner,
} from '../../extensions/hooks/hook-runner.ts';
import { PREFIX } from '../../extensions/mcp/tool-names.ts';
import { mayConcern } from '../../permission/decide.ts';
import { parseRule } from '../../permission/rule.ts';
import type { HookVerdict } from '../../schema/events.ts';
import { MAIN_TYPE } from '../../schema/ids.ts';
import { findTool, parseInput } from '../../tools/registry.ts';
import type { Agent, HostedAgent } from '../agent/agent.ts';
import { modeInForce } from '../agent/agent-spec.ts';
import { inCheckout } from '../calls/authorize.ts';
import { hookTranscript } from './hook-transcript.ts';

export interface Firing {
  readonly event: HookEventName;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly hooks: readonly Hook[];
  readonly runner: HookRunner;
  readonly signal: AbortSignal;
  /** The main agent of the session. */
  readonly main: Agent | null;
}

export function openHooks(
  entries: readonly HookEntry[],
  ground: HookGround,
): Pick<Firing, 'hooks' | 'runner'> {
  const hooks = entries.flatMap(({ value, source }) => readHooks(value, source).hooks);
  return { hooks, runner: new HookRunner(ground) };
}

export async function fireHooks(agent: HostedAgent, firing: Firing): Promise<HookEffect> {
  const { event, fields, runner, signal } = firing;
  const all = [...firing.hooks, ...ownHooks(agent)];
  const hooks = await withoutOthers(all, agent, firing);
  const input = await inputOf(agent, firing);
  const result = await runner.run({ hooks, all, input, agent: agent.spec.id, signal });
  const guards = [...result.noted];
  const { journal } = agent.runtime;
  if (guards.length > 0) journal.append(null, { type: 'guards.noted', guards });
  if (result.runs.length > 0) recordRuns(agent, event, fields, result);
  // The call that waits for it may remove them and kill this process; so may one whose guards another call has noted.
  if (hookEventKind(event).guards === true) await journal.commit(guards.length > 0 ? 'synced' : 'written');
  return result.effect;
}

/** Without those whose condition says that they are about other calls. */
async function withoutOthers(
  hooks: readonly Hook[],
  agent: HostedAgent,
  { event, fields, runner }: Firing,
): Promise<readonly Hook[]> {
  const kept = await Promise.all(
    hooks.map(async (hook) => {
      const isOpen = hook.event !== event || hook.kind !== 'command' || hook.condition === undefined;
      return isOpen || (await isAbout(hook.condition, agent, fields, runner)) ? [hook] : [];
    }),
  );
  return kept.flat();
}

/** A call that cannot be judged may be what a hook guards. */
async function isAbout(
  condition: string,
  agent: HostedAgent,
  { tool_name, tool_input }: Readonly<Record<string, unknown>>,
  { origin }: HookRunner,
): Promise<boolean> {
  const read = parseRule(condition, { list: 'ask', place: 'a hook', ...origin });
  const tool = findTool(agent.spec.tools, String(tool_name));
  const input = tool === undefined ? null : parseInput(tool, tool_input);
  if (!read.ok || tool === undefined || input?.ok !== true) return true;
  const { directory } = agent;
  const details = { input: input.value, cwd: directory.cwd };
  return mayConcern(read.rule, tool, details, inCheckout(directory));
}

const read = new WeakMap<object, readonly Hook[]>();

/** Hooks of an agent's type can take rights away and never give any: who asks for an agent has no more because of it. */
function ownHooks(agent: HostedAgent): readonly Hook[] {
  const { spec } = agent;
  const value = spec.hooks;
  if (value === undefined) return [];
  const known = read.get(value);
  if (known !== undefined) return known;
  const { Stop, ...others } = value;
  const stops = spec.parent === null || Stop === undefined ? value : { ...others, SubagentStop: Stop };
  const { hooks, unused } = readHooks(stops, { label: `agent ${spec.type}`, narrows: true });
  read.set(value, hooks);
  for (const what of unused)
    agent.warn('hook_unused', `a hook of the agent type ${spec.type} has no effect: ${what}`);
  return hooks;
}

async function inputOf(agent: HostedAgent, { event, fields, main }: Firing): Promise<HookInput> {
  const { spec, runtime, directory } = agent;
  const isChild = spec.parent !== null;
  const { thinking } = agent.conversation.head;
  return {
    session_id: runtime.journal.session,
    transcript_path: hookTranscript(isChild ? (main ?? agent) : agent),
    cwd: directory.cwd,
    hook_event_name: event,
    permission_mode: modeInForce(agent),
    ...(thinking?.type === 'adaptive' && thinking.effort && { effort: { level: thinking.effort } }),
    ...(isChild && { agent_id: spec.id, agent_transcript_path: hookTranscript(agent) }),
    ...(spec.type !== MAIN_TYPE && { agent_type: spec.type }),
    ...fields,
    ...(await serverOf(agent, fields.tool_name)),
  };
}

/** The MCP server of a call, for hooks that trust some and not others: its name in a tool's is shortened. */
async function serverOf({ spec }: Agent, tool: unknown): Promise<Partial<HookInput>> {
  if (typeof tool !== 'string' || !tool.startsWith(PREFIX)) return {};
  const { serversOf } = await import('../../tools/mcp/mcp-tools.ts');
  const server = serversOf(spec.tools)?.serverOf(tool);
  return server === undefined ? {} : { mcp_server: { name: server.name } };
}

function recordRuns(
  agent: HostedAgent,
  event: HookEventName,
  { tool_use_id: id }: Readonly<Record<string, unknown>>,
  { runs, effect, messages }: HookResult,
): void {
  const { redact } = agent.runtime;
  agent.record({
    type: 'hooks.ran',
    event,
    ...(typeof id === 'string' && { call: id }),
    runs: runs.map(({ problem, hook, isKnown: _, ...run }) => ({
      ...run,
      hook: redact(hook),
      ...(problem !== undefined && { problem: redact(problem) }),
    })),
    ...(event === 'PreToolUse' && { verdict: verdictOf(effect) }),
  });
  for (const { hook, source, outcome, problem, isKnown } of runs) {
    if (outcome === 'failed' && isKnown !== true)
      agent.warn('hook_failed', redact(`the ${event} hook "${hook}" of ${source} failed: ${problem}`));
  }
  for (const message of messages) agent.warn('hook_message', redact(message));
}

function verdictOf({ decision, reason, updatedInput, contexts, stop }: HookEffect): HookVerdict {
  return {
    ...(decision !== undefined && { decision }),
    ...(reason !== undefined && { reason }),
    ...(updatedInput !== undefined && { updatedInput }),
    ...(contexts.length > 0 && { contexts: [...contexts] }),
    ...(stop !== undefined && { stop }),
  };
}
