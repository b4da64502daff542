/**
 * May this call run? The agent's own restriction first, then rules and its mode in force; what they leave open is asked
 * (`ask-permission.ts`). Where a command runs that may: `agent-shell.ts`.
 */
import { resolve } from 'node:path';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { type OpenQuestion, type PermissionDecision, readOnlyRefusal } from '../../permission/assessment.ts';
import { decide, unreadableFiles } from '../../permission/decide.ts';
import { joinRules } from '../../permission/policy.ts';
import { counterpart, fenceRefusal, isAboutOwnFiles } from '../../sandbox/write-fence.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import type { SessionMode } from '../../schema/status.ts';
import { actFor } from '../../system/current-agent.ts';
import { onAbort } from '../../system/on-abort.ts';
import { isForReaders, parseInput } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent, HostedAgent } from '../agent/agent.ts';
import { isBackground, modeInForce } from '../agent/agent-spec.ts';
import { NOT_RUN, OUTSIDE_FILES } from '../agent/notices.ts';
import type { AskedCall, CanUseTool } from '../agent/runtime.ts';
import type { HookedCall, OpenCall } from '../hooks/call-hooks.ts';
import { askPermission } from './ask-permission.ts';
import { type MemoryPermit, memoryPermit, settledForMemory } from './memory-permit.ts';
import { type HookNotes, type Permit, refused } from './permit.ts';

/** The part of `AgentHost` that decides: it has the rules, and the broker to ask. */
export async function ownPermit(agent: HostedAgent, call: AskedCall, signal: AbortSignal): Promise<Permit> {
  const hooked = await withHooks(agent, call, signal);
  if ('kind' in hooked) return hooked;
  const { tool, input } = hooked.asked;
  const decided = await decidedPermit(agent, hooked, signal);
  const permit = { ...decided, hooks: joinedNotes(hooked.notes, decided.hooks) };
  if (permit.kind === 'refused') return permit;
  const access = tool.access?.(input) ?? {};
  const heavy = access.command !== undefined && (await isHeavy(agent, access.command));
  const unreadable = unreadableFiles(agent.runtime.permissions, access);
  const memory = memoryPermit(agent, tool, input);
  const write = typeof memory === 'string' ? undefined : memory?.write;
  if (write !== undefined) agent.runtime.memory?.willChange?.(write);
  return { ...permit, unreadable, ...(heavy && { heavy }), ...(write && { memory: write }) };
}

/** What came later counts, and all that was added is told. */
function joinedNotes(first: HookNotes, later: HookNotes = {}): HookNotes {
  return { ...first, ...later, contexts: [...(first.contexts ?? []), ...(later.contexts ?? [])] };
}

/** Hooks that run before a call. What a person types is the person's own. */
async function withHooks(
  agent: HostedAgent,
  asked: AskedCall,
  signal: AbortSignal,
): Promise<HookedCall | Permit> {
  const { byUser, outside } = asked.request;
  const isOwn = byUser === true || outside !== undefined;
  if (isOwn || agent.runtime.hooks?.has(agent, 'PreToolUse') !== true)
    return { asked, notes: {}, settle: (decision) => decision };
  return (await import('../hooks/call-hooks.ts')).hookedCall(agent, asked, signal);
}

/** Loaded with the first command; the script is read only if a word of it may be a build or a test. */
async function isHeavy({ runtime, directory }: HostedAgent, command: string): Promise<boolean> {
  if (runtime.slots === undefined) return false;
  const { isHeavyText } = await import('../../permission/shell/heavy-command.ts');
  return isHeavyText(command, directory.cwd, runtime.alsoHeavy);
}

async function decidedPermit(
  agent: HostedAgent,
  { asked: wanted, settle, isAnswered }: HookedCall,
  signal: AbortSignal,
): Promise<Permit> {
  const { tool, request, input } = wanted;
  const { call, outside, byUser } = request;
  const memory = memoryPermit(agent, tool, input);
  if (typeof memory === 'string') return refused(memory);
  const refusal = await agentRefusal(agent, wanted, signal, memory);
  if (refusal !== null) return refused(refusal);
  const isOwn = memory?.isOwn === true;
  const redecide = async (more: readonly string[] = []): Promise<PermissionDecision> =>
    settle(settledForMemory(await decideNow(agent, wanted, { isOwn, more }), isOwn));
  const decision = await orInterrupted(redecide(), signal);
  if (typeof decision === 'string') return refused(decision);
  if (decision.kind === 'allow') return { kind: 'permitted', confinement: decision.confinement };
  if (decision.kind === 'deny') return refused(decision.reason);
  if (byUser === true) return { kind: 'permitted', confinement: 'none' };
  // Nobody is asked for an agent that nobody asked for.
  if (outside?.stopped === null || isBackground(agent)) return refused(decision.question.reason);
  const { cwd } = agent.directory;
  const failing = (await tool.precheck?.(input, { files: agent.files.for(call.id), cwd })) ?? null;
  if (failing !== null) return { kind: 'refused', reason: failing, wouldFail: true };
  const given = isAnswered ? null : await answerOfHooks(agent, wanted, decision.question, signal);
  if (given !== null && 'settle' in given) {
    const changed = await decidedPermit(agent, given, signal);
    return { ...changed, hooks: joinedNotes(given.notes, changed.hooks) };
  }
  if (given !== null && given.kind !== 'open') return given;
  const permit = await askPermission({ agent, tool, call, input, open: decision.question, redecide, signal });
  const isChanged = permit.kind !== 'refused' && permit.hooks?.changed !== undefined;
  const last = isChanged ? await changedPermit(agent, wanted, permit.hooks, signal) : permit;
  return given === null ? last : { ...last, hooks: joinedNotes(given.hooks, last.hooks) };
}

/** Who answered has changed the input: everything but the question counts for the new one too. */
async function changedPermit(
  agent: HostedAgent,
  { tool, request }: AskedCall,
  notes: HookNotes,
  signal: AbortSignal,
): Promise<Permit> {
  const parsed = parseInput(tool, notes.changed);
  if (!parsed.ok || request.outside !== undefined) {
    const problem = parsed.ok ? 'comes too late, the command has begun' : `is not valid: ${parsed.message}`;
    return refused(`${tool.name} is not permitted: the changed input ${problem}`);
  }
  const call = { ...request.call, input: notes.changed };
  const asked = { tool, request: { ...request, call }, input: parsed.value };
  const settle: HookedCall['settle'] = (decided) =>
    decided.kind === 'ask' ? { kind: 'allow', confinement: 'none' } : decided;
  const permit = await decidedPermit(agent, { asked, notes, settle }, signal);
  return permit.kind === 'refused' ? permit : { ...permit, hooks: notes };
}

/** Hooks may answer in place of a person, and are told that one is asked. Null where there are none. */
async function answerOfHooks(
  agent: HostedAgent,
  asked: AskedCall,
  open: OpenQuestion,
  signal: AbortSignal,
): Promise<HookedCall | Permit | OpenCall | null> {
  const { hooks } = agent.runtime;
  const isHooked = hooks?.has(agent, 'PermissionRequest') === true;
  if (!isHooked && hooks?.has(agent, 'Notification') !== true) return null;
  const { hookedQuestion, notifyOfQuestion } = await import('../hooks/call-hooks.ts');
  const given = isHooked ? await hookedQuestion(agent, asked, open, signal) : null;
  if (given === null || ('kind' in given && given.kind === 'open'))
    notifyOfQuestion(agent, asked.tool, signal);
  return given;
}

/** What nobody is asked about: the fence, the agent's own restriction, and harm to others. */
async function agentRefusal(
  agent: Agent,
  { tool, input, request: { byUser, call } }: AskedCall,
  signal: AbortSignal,
  memory: MemoryPermit | null,
): Promise<string | null> {
  const { canUseTool, readOnly, toolLimits } = agent.spec;
  const isOwn = memory?.isOwn === true;
  const fenced = isOwn ? null : await fencedOff(agent, tool, input);
  if (fenced !== null) return `${tool.name} is refused: ${fenced}`;
  // A fork has its parent's tools and a call can be made up: what is offered is not yet what may run (TYPE-2).
  if (readOnly === true && !isForReaders(tool) && !isOwn)
    return readOnlyRefusal(tool.name, 'it changes something');
  const phase = agent.runtime.agents.phaseRules?.() ?? null;
  if (phase !== null && byUser !== true) {
    const { phaseRefusal } = await import('../coordinator/phase-rules.ts');
    const refusal = await phaseRefusal(phase, agent, tool, input);
    if (refusal !== null) return refusal;
  }
  if (canUseTool !== undefined) {
    const refusal = await orInterrupted(ownRefusal(agent, canUseTool, call), signal);
    if (refusal !== null) return refusal;
  }
  if (toolLimits !== undefined && !isOwn) {
    const { limitsRefusal } = await import('../../permission/tool-limits.ts');
    const { cwd, workspace } = agent.directory;
    const origin = { base: workspace?.fence.root ?? cwd, home: agent.runtime.childEnvironment.HOME ?? null };
    const limited = await limitsRefusal(toolLimits, tool, { input, cwd }, origin);
    if (limited !== null) return limited;
  }
  const { command } = tool.access?.(input) ?? {};
  return command === undefined ? null : harmInCheckout(agent, command);
}

/** Rules that name a place of the checkout mean the same place in a worktree of it. */
export function inCheckout({ workspace }: Agent['directory']): ((path: string) => string | null) | undefined {
  if (workspace === null) return undefined;
  const { root, from } = workspace.fence;
  return (path) => counterpart(path, root, from);
}

/** A worktree's fence holds in every mode, and no one is asked about it (WORK-7). */
async function fencedOff(agent: Agent, tool: Tool, input: unknown): Promise<string | null> {
  const { workspace } = agent.directory;
  const refusal = workspace === null ? null : await fenceAnswer(workspace, agent, tool, input);
  if (refusal === null || !isAboutOwnFiles(refusal)) return refusal;
  agent.warn(OUTSIDE_FILES, refusal);
  workspace?.onRefused?.(refusal);
  return refusal;
}

async function fenceAnswer(
  workspace: AgentWorkspace,
  { directory: { cwd } }: Agent,
  tool: Tool,
  input: unknown,
): Promise<string | null> {
  const { writes = [], command } = tool.access?.(input) ?? {};
  for (const path of writes) {
    const refusal = await fenceRefusal(workspace.fence, resolve(cwd, path));
    if (refusal !== null) return refusal;
  }
  if (command === undefined) return null;
  const { commandRefusal } = await import('../../permission/shell/fence/fence-command.ts');
  return commandRefusal(workspace.fence, command, cwd);
}

/** It sees a copy of what the model gave: a change in place would run unjudged and unrecorded. */
async function ownRefusal(
  { spec: { id } }: Agent,
  canUseTool: CanUseTool,
  { name, input }: ToolUseBlock,
): Promise<string | null> {
  try {
    const verdict = await actFor(id, () => canUseTool(name, structuredClone(input)));
    return verdict.allowed ? null : `${name} is not permitted: ${verdict.reason}`;
  } catch (error) {
    return `${name} is not permitted: ${describeError(error)}`;
  }
}

/** Beside other agents git may not throw away what they have; said here before anybody is asked (WORK-1). */
async function harmInCheckout({ directory, checkout }: Agent, command: string): Promise<string | null> {
  if (!/\bgit\b/.test(command)) return null;
  const others = await checkout.others();
  if (others.length === 0) return null;
  const { harmToOthers } = await import('../../permission/shell/fence/fence-command.ts');
  const harm = await harmToOthers(command, directory.cwd);
  if (harm === null) return null;
  const { refusalText } = await import('../../git/shared-git/git-words.ts');
  return `Nothing was run: ${refusalText(harm, others)}`;
}

/** What is waited for, a sandbox that starts slowly too, or the refusal of an interrupted agent. */
async function orInterrupted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T | string> {
  const interrupted = Promise.withResolvers<string>();
  const unlink = onAbort(signal, () => interrupted.resolve(NOT_RUN.interrupted));
  try {
    return await Promise.race([interrupted.promise, awaited]);
  } finally {
    unlink();
  }
}

/** The session's mode can be changed; one that the agent's type has cannot, and a member gets another with its plan. */
function modeAdvice({ spec, runtime }: HostedAgent, mode: SessionMode): string | undefined {
  const { modeAdvice: advice } = runtime.broker;
  if (spec.parent === null || spec.permissionMode !== mode) return advice;
  if (mode !== 'plan') return advice === undefined ? undefined : '';
  const plans = spec.name !== null && runtime.agents.isMember?.(spec.id) === true;
  return plans ? `it may once its plan is approved: ramet team approve ${spec.name}` : '';
}

/** Rules can come while a decision is made; one that was made without them would ask what is answered already. */
async function decideNow(
  agent: HostedAgent,
  { tool, input, request: { outside, byUser } }: AskedCall,
  { isOwn, more }: { isOwn: boolean; more: readonly string[] },
): Promise<PermissionDecision> {
  const { spec, runtime, directory } = agent;
  const phase = runtime.agents.phaseRules?.() ?? null;
  const readOnly =
    (spec.readOnly === true && !isOwn) ||
    (phase !== null && (await import('../coordinator/phase-rules.ts')).onlyReads(phase, agent, tool, input));
  for (;;) {
    const rules = runtime.permissions.rulesOf(spec.id);
    // What a person types is the person's own.
    const said = { allow: more, deny: byUser === true ? [] : agent.state.denied };
    const details = {
      ...{ input, cwd: directory.cwd, home: runtime.childEnvironment.HOME },
      stopped: outside?.stopped ?? undefined,
    };
    const mode = modeInForce(agent);
    // Where nothing is judged, no sandbox is tried.
    const judged =
      // A tool of the session runs its command by itself: no sandbox holds it.
      tool.ofSession !== true &&
      tool.access?.(input).command !== undefined &&
      (mode !== 'bypassPermissions' || readOnly);
    const policy = {
      rules:
        said.allow.length + said.deny.length === 0
          ? rules
          : joinRules(rules, runtime.permissions.reading(said)),
      ...{ mode, readOnly, counterpart: inCheckout(directory), modeAdvice: modeAdvice(agent, mode) },
      wall: judged && outside?.stopped !== null && (await runtime.sandbox.wall()),
    };
    const decision = await decide(policy, tool, details);
    if (decision.kind !== 'ask' || rules === runtime.permissions.rulesOf(spec.id)) return decision;
  }
}
