/**
 * Hooks around a tool call. Before it they can refuse it, ask for a person, allow what the mode leaves open, change the
 * input, or add to the result; after it they can add to the result or replace it.
 *
 * Invariants
 * 1. A hook that allows beats neither a rule, nor plan mode, nor the bounds of an agent, nor the protection of files that
 *    decide what runs. A changed input is checked and judged like any other.
 * 2. What hooks decided about a call is on record: after a restart they are not asked again.
 */
import { resolve } from 'node:path';
import { namesGuarded, standingOfWrite } from '../../permission/assess-write.ts';
import type { OpenQuestion, PermissionDecision } from '../../permission/assessment.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import type { HookVerdict } from '../../schema/events.ts';
import { valueAt } from '../../system/persistent.ts';
import { parseInput } from '../../tools/registry.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import type { Agent, HostedAgent } from '../agent/agent.ts';
import { modeInForce } from '../agent/agent-spec.ts';
import { hookSaid, hookText, inputChanged } from '../agent/notices.ts';
import type { AskedCall } from '../agent/runtime.ts';
import { type HookNotes, type Permit, refused } from '../calls/permit.ts';

export interface HookedCall {
  /** With the changed input, if there is one. */
  readonly asked: AskedCall;
  readonly notes: HookNotes;
  /** What hooks make of the decision of rules and mode. */
  settle(decision: PermissionDecision): PermissionDecision;
  /** Hooks have answered the question about it: what is still open is for a person. */
  readonly isAnswered?: true;
}

/** The call as hooks leave it, or their refusal. */
export async function hookedCall(
  agent: HostedAgent,
  asked: AskedCall,
  signal: AbortSignal,
): Promise<HookedCall | Permit> {
  const { tool, request } = asked;
  const { call } = request;
  const verdict = valueAt(agent.state.hooked, call.id) ?? (await verdictOn(agent, call, signal));
  const notes = notesOf(verdict);
  if (verdict.decision === 'deny') {
    const reason = verdict.reason ?? 'it gave no reason';
    return { ...refused(`${tool.name} is refused by a hook: ${reason}`), hooks: notes };
  }
  if (verdict.stop !== undefined) return { ...stopped(tool, verdict.stop), hooks: notes };
  const changed = verdict.updatedInput;
  if (changed === undefined) return { asked, notes, settle: await settling(agent, asked, verdict) };
  return changedCall(agent, asked, notes, { ...verdict, updatedInput: changed });
}

/** The call with the input that hooks gave it: checked and judged like any other. */
async function changedCall(
  agent: HostedAgent,
  { tool, request }: AskedCall,
  notes: HookNotes,
  verdict: HookVerdict & Required<Pick<HookVerdict, 'updatedInput'>>,
): Promise<HookedCall | Permit> {
  const { updatedInput: input } = verdict;
  const parsed = parseInput(tool, input);
  if (!parsed.ok) {
    const reason = `a hook changed the input of ${tool.name}, and it is not valid: ${parsed.message}`;
    return { ...refused(reason), hooks: notes };
  }
  const own = { tool, request: { ...request, call: { ...request.call, input } }, input: parsed.value };
  return { asked: own, notes, settle: await settling(agent, own, verdict) };
}

/** The run ends, and not with this call. */
function stopped({ name }: Tool, reason: string): Permit {
  return refused(`${name} did not run: a hook ended the run: ${reason}`);
}

async function verdictOn(agent: Agent, call: ToolUseBlock, signal: AbortSignal): Promise<HookVerdict> {
  await agent.runtime.hooks?.run(agent, 'PreToolUse', callFields(call), signal);
  // Its record is the verdict. A call that no hook matches has none.
  return valueAt(agent.state.hooked, call.id) ?? {};
}

function callFields({ id, name, input }: ToolUseBlock): Record<string, unknown> {
  return { tool_name: name, tool_input: input, tool_use_id: id };
}

function notesOf({ updatedInput, contexts, stop }: HookVerdict): HookNotes {
  return { changed: updatedInput, contexts, stop };
}

async function settling(
  agent: HostedAgent,
  asked: AskedCall,
  { decision, reason }: HookVerdict,
): Promise<HookedCall['settle']> {
  const isOutside = decision === 'allow' && (await leavesDirectory(agent, asked));
  return (decided) => {
    if (decision === 'ask' && decided.kind === 'allow') return asking(agent, asked, reason);
    if (decision === 'ask' && decided.kind === 'ask')
      return { kind: 'ask', question: alsoByHook(decided.question, reason) };
    // The mode asks nobody: what it advises would leave the hook's question.
    if (decision === 'ask' && decided.kind === 'deny' && decided.open !== undefined)
      return asking(agent, asked, reason);
    if (decision !== 'allow' || decided.kind === 'allow') return decided;
    const open = decided.kind === 'ask' ? decided.question : decided.open;
    return open !== undefined && !isOutside && mayAllow(agent, asked, open)
      ? { kind: 'allow', confinement: 'none' }
      : decided;
  };
}

/** No rule answers it for later calls: the hook would ask again. */
function alsoByHook(open: OpenQuestion, reason: string | undefined): OpenQuestion {
  const both = `${askedBy(reason)}; ${open.reason}`;
  return { ...open, reason: both, suggestedRules: [], byHook: true };
}

function askedBy(reason = ''): string {
  return reason === '' ? 'a hook asks' : `a hook asks: ${reason}`;
}

function asking(agent: HostedAgent, { tool, input }: AskedCall, reason?: string): PermissionDecision {
  const why = askedBy(reason);
  if (modeInForce(agent) === 'dontAsk')
    return {
      kind: 'deny',
      reason: `${tool.name} is not permitted: ${why}, and nobody can be asked in this run`,
    };
  const { command, writes = [], reads = [] } = tool.access?.(input) ?? {};
  const summary = command ?? writes[0] ?? reads[0] ?? JSON.stringify(input) ?? '';
  return { kind: 'ask', question: { summary, reason: why, suggestedRules: [], byHook: true } };
}

/** What a rule asks about is for a person, and so is what decides what runs later. */
function mayAllow(agent: HostedAgent, { tool, input, request }: AskedCall, open: OpenQuestion): boolean {
  if (open.byRule !== undefined || request.outside !== undefined) return false;
  const { writes = [], command } = tool.access?.(input) ?? {};
  const { cwd } = agent.directory;
  const { guarded } = agent.runtime.permissions.rules;
  const isPlain = writes.every(
    (path) => standingOfWrite('acceptEdits', resolve(cwd, path), cwd, { guarded }).trusted,
  );
  return isPlain && (command === undefined || !namesGuarded(command, cwd, guarded));
}

/** A command that writes elsewhere, as far as it shows. */
async function leavesDirectory({ directory }: HostedAgent, { tool, input }: AskedCall): Promise<boolean> {
  const { command } = tool.access?.(input) ?? {};
  if (command === undefined) return false;
  const { writesOutside } = await import('../../permission/shell/fence/fence-command.ts');
  return writesOutside(command, directory.cwd);
}

/** Hooks leave a question to a person, and have something to say with the result. */
export interface OpenCall {
  readonly kind: 'open';
  readonly hooks: HookNotes;
}

/** The answer of hooks to a question that a person would be asked, with the call as they changed it. */
export async function hookedQuestion(
  agent: HostedAgent,
  asked: AskedCall,
  open: OpenQuestion,
  signal: AbortSignal,
): Promise<HookedCall | Permit | OpenCall> {
  const { tool, request } = asked;
  const hooks = agent.runtime.hooks;
  const effect = await hooks?.run(agent, 'PermissionRequest', callFields(request.call), signal);
  const notes: HookNotes = { contexts: effect?.contexts, stop: effect?.stop };
  const left: OpenCall = { kind: 'open', hooks: notes };
  if (effect?.decision === 'deny') {
    const reason = effect.reason ?? 'it gave no reason';
    return { ...refused(`${tool.name} is refused by a hook: ${reason}`), hooks: notes };
  }
  if (effect?.stop !== undefined) return { ...stopped(tool, effect.stop), hooks: notes };
  if (effect?.decision === 'ask') {
    notifyOfQuestion(agent, tool, signal);
    const question = alsoByHook(open, effect.reason);
    const settle: HookedCall['settle'] = (now) => (now.kind === 'deny' ? now : { kind: 'ask', question });
    return { asked, notes, settle, isAnswered: true };
  }
  if (effect?.decision !== 'allow') return left;
  const { updatedInput } = effect;
  // A command that has begun keeps its input.
  if (updatedInput !== undefined && request.outside === undefined) {
    const changed = { ...notes, changed: updatedInput };
    const call = await changedCall(agent, asked, changed, { decision: 'allow', updatedInput });
    return 'kind' in call ? call : { ...call, isAnswered: true };
  }
  if (!mayAllow(agent, asked, open) || (await leavesDirectory(agent, asked))) return left;
  return { kind: 'permitted', confinement: 'none', hooks: notes };
}

/** Nobody waits for it. */
export function notifyOfQuestion(agent: HostedAgent, tool: Tool, signal: AbortSignal): void {
  const message = `Ramet needs your permission to use ${tool.name}`;
  const fields = { message, notification_type: 'permission_prompt' };
  void agent.runtime.hooks?.run(agent, 'Notification', fields, signal).catch(() => {});
}

export interface EndedCall {
  readonly call: ToolUseBlock;
  readonly outcome: ToolOutcome;
  readonly event: 'PostToolUse' | 'PostToolUseFailure' | 'PermissionDenied';
  readonly durationMs: number;
}

/** The outcome with what hooks add to it, before and after the call. */
export async function hookedOutcome(
  agent: Agent,
  { call, outcome, event, durationMs }: EndedCall,
  notes: HookNotes,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const before = [
    ...(notes.changed === undefined
      ? []
      : [inputChanged(notes.changed, notes.changedByAnswer && 'The program')]),
    ...(notes.contexts ?? []).map((text) => hookText('PreToolUse', text)),
  ];
  agent.here.halt ??= notes.stop ?? null;
  const { hooks } = agent.runtime;
  const isOver = outcome.isNotBegun !== true && outcome.isOpen !== true;
  if (!isOver || hooks?.has(agent, event) !== true || signal.aborted) return withTexts(outcome, before);
  const changed = notes.changed === undefined ? call : { ...call, input: notes.changed };
  const effect = await hooks.run(
    agent,
    event,
    { ...callFields(changed), ...endFields(outcome, durationMs) },
    signal,
  );
  agent.here.halt ??= effect.stop ?? null;
  const own = effect.updatedOutput === undefined ? outcome : { ...outcome, content: effect.updatedOutput };
  return withTexts(own, [
    ...before,
    ...(effect.block === undefined ? [] : [hookSaid(event, effect.block)]),
    ...effect.contexts.map((text) => hookText(event, text)),
  ]);
}

function endFields(
  { content, isError, isDenied, refusal }: ToolOutcome,
  durationMs: number,
): Record<string, unknown> {
  if (isDenied === true) return { reason: refusal ?? textOf(content) };
  const duration = { duration_ms: Math.round(durationMs) };
  if (!isError) return { tool_response: { content, is_error: false }, ...duration };
  return { error: textOf(content), is_interrupt: false, ...duration };
}

function textOf(content: ToolOutcome['content']): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

function withTexts(outcome: ToolOutcome, texts: readonly string[]): ToolOutcome {
  if (texts.length === 0) return outcome;
  const { content } = outcome;
  if (typeof content === 'string') {
    const all = [content || '(no output)', ...texts];
    return { ...outcome, content: all.join('\n') };
  }
  return { ...outcome, content: [...content, ...texts.map((text) => ({ type: 'text', text }) as const)] };
}
