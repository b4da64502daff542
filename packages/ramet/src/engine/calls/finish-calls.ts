/**
 * Answers calls that were left open. Nothing that may have taken effect is repeated.
 *
 * Invariants
 * 1. A result that is recorded is the answer. A call that may have changed something and has no result is answered
 *    with that truth; after one of those nothing else of the same message is begun.
 * 2. Where the record lost its end, a call without a recorded start counts as one that may have changed something.
 * 3. A call that started an agent is answered by that agent, whether it still runs or has ended meanwhile.
 */
import { resolve } from 'node:path';
import { contentOf, type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { elapsedOf } from '../../schema/clock.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import { realPath } from '../../system/landing-path.ts';
import { valueAt } from '../../system/persistent.ts';
import { removeLeftovers } from '../../system/replace-file.ts';
import type { ToolOutcome } from '../../tools/agent-desk.ts';
import { findTool } from '../../tools/registry.ts';
import type { Agent } from '../agent/agent.ts';
import { MAY_HAVE_RUN, NOT_RUN } from '../agent/notices.ts';
import type { CalledAgent } from '../agent/runtime.ts';
import { delegates, isRepeatable } from './call-order.ts';
import { completeCall, refuseCalls, runCalls, type ToolRun } from './tool-runner.ts';

/**
 * Tool calls of an agent's last message that are not answered yet: a killed process left them, or an interruption that
 * also reached the agents they wait for.
 */
export interface OpenCalls {
  readonly calls: readonly ToolUseBlock[];
  /** Of those that ended. */
  readonly results: ReadonlyMap<string, FrozenBlock>;
}

/** To be asked between two runs: while calls are carried out they are open too. */
export function openCallsOf(agent: Agent): OpenCalls | null {
  if (!hasOpenCalls(agent)) return null;
  const { conversation, content } = agent;
  return { calls: callsIn(conversation.messages.at(-1)?.blocks ?? []), results: content.results };
}

export function hasOpenCalls({ conversation }: Agent): boolean {
  const last = conversation.messages.at(-1);
  return last?.role === 'assistant' && last.blocks.some(({ type }) => type === 'tool_use');
}

/** A call of the last message, which is not answered; undefined for one that is none of the conversation. */
export function openCall({ conversation }: Agent, id: string): ToolUseBlock | undefined {
  return callsIn(conversation.messages.at(-1)?.blocks ?? []).find((call) => call.id === id);
}

/** Continues the calls as if nothing had been in between; returns the answers there are. */
export async function finishCalls(run: ToolRun, open: OpenCalls): Promise<Map<string, FrozenBlock>> {
  const { agent, signal } = run;
  const { answers, unsure, rest, called } = await sortOut(agent, open);
  const attached = rest.filter(({ id }) => called.has(id));
  const begun = rest.filter(({ id }) => !called.has(id));
  const reports = attached.map(async (call) => {
    const since = elapsedOf(agent.runtime.clock);
    return [call.id, await completeCall(run, call, await reportOf(called, call, signal), since)] as const;
  });
  // A call whose effect is on record is made again in any case: it may have had it.
  const again = unsure ? begun.filter((call) => mayHaveBegun(agent, call)) : begun;
  const results = await runCalls(run, again);
  for (const [id, block] of refused(begun.filter((call) => !again.includes(call)))) results.set(id, block);
  for (const [id, block] of [...results, ...(await Promise.all(reports))]) {
    if (block !== null) answers.set(id, block);
  }
  return answers;
}

/**
 * Answers open calls without waiting for agents or beginning anything: the conversation continues with something else.
 */
export async function closeCalls(agent: Agent): Promise<void> {
  sayClosed(agent, await closedAnswers(agent));
}

/** What `closeCalls` is going to say, in order; null when no call is open. */
export async function closedAnswers(agent: Agent): Promise<FrozenBlock[] | null> {
  const open = openCallsOf(agent);
  if (open === null) return null;
  const { answers, rest, called } = await sortOut(agent, open);
  for (const call of rest) {
    const outcome = await called.get(call.id)?.now();
    const left = mayHaveBegun(agent, call) ? unanswered(call.id, MAY_HAVE_RUN) : notRun(call.id);
    answers.set(call.id, outcome === undefined ? left : answer(agent, call.id, outcome));
  }
  return ordered(open.calls, answers);
}

export function sayClosed(agent: Agent, answers: readonly FrozenBlock[] | null): void {
  if (answers === null) return;
  agent.say('tool_results', answers);
}

/** The answers in the order of the calls; those that are missing are said to be not run. */
export function ordered(
  calls: readonly ToolUseBlock[],
  answers: ReadonlyMap<string, FrozenBlock>,
): FrozenBlock[] {
  return calls.map(({ id }) => answers.get(id) ?? notRun(id));
}

/** The calls of a message of the model's, in order. */
function callsIn(blocks: readonly FrozenBlock[]): ToolUseBlock[] {
  const calls = blocks.filter((block) => block.type === 'tool_use').map(contentOf);
  return calls.map(({ id, name, input }) => ({
    type: 'tool_use',
    id: String(id),
    name: String(name),
    input,
  }));
}

interface SortedCalls {
  readonly answers: Map<string, FrozenBlock>;
  /** Whether one of them may have taken effect. */
  readonly unsure: boolean;
  /** Those that may be begun, again or at all, and those that started agents. */
  readonly rest: readonly ToolUseBlock[];
  /** The agents that some of the rest started. */
  readonly called: ReadonlyMap<string, CalledAgent>;
}

async function sortOut(agent: Agent, open: OpenCalls): Promise<SortedCalls> {
  const { calls, results } = open;
  const { recordIsShort, calls: started } = agent.state;
  const answers = new Map(results);
  const without = calls.filter(({ id }) => !answers.has(id));
  const called = await agent.runtime.agents.calledBy(agent.spec.id, idsOf(without));
  const isUnsure = (call: ToolUseBlock): boolean => {
    // What was lost may hold its start, or the agent that it started.
    if (delegates(agent, call)) return recordIsShort && !called.has(call.id);
    return (
      !isRepeatable(agent, call) &&
      !findsItself(agent, call) &&
      (recordIsShort || valueAt(started, call.id) === true)
    );
  };
  const unsure = without.filter(isUnsure);
  for (const call of unsure) {
    tidyUp(agent, call.input);
    answers.set(call.id, unanswered(call.id, MAY_HAVE_RUN));
  }
  return { answers, unsure: unsure.length > 0, rest: without.filter((call) => !isUnsure(call)), called };
}

/** It was started, and only its repetition would find what it did. */
function mayHaveBegun(agent: Agent, call: ToolUseBlock): boolean {
  return (
    findsItself(agent, call) && (agent.state.recordIsShort || valueAt(agent.state.calls, call.id) === true)
  );
}

/** Whether its effect is in the record of the team, where a repeated call finds it. */
function findsItself({ spec: { tools } }: Agent, { name }: ToolUseBlock): boolean {
  if (findTool(tools, name)?.onceInTeam !== true) return false;
  return tools.some(({ onceInTeam, ofSession }) => onceInTeam === true && ofSession === true);
}

function idsOf(calls: readonly ToolUseBlock[]): string[] {
  return calls.map(({ id }) => id);
}

async function reportOf(
  called: ReadonlyMap<string, CalledAgent>,
  { id }: ToolUseBlock,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  return (await called.get(id)?.report(signal)) ?? { content: NOT_RUN.interrupted, isError: true };
}

function refused(calls: readonly ToolUseBlock[]): Map<string, FrozenBlock> {
  const blocks = refuseCalls(calls, NOT_RUN.interrupted);
  return new Map(calls.map(({ id }, index) => [id, blocks[index] ?? notRun(id)]));
}

function answer({ runtime }: Agent, call: string, { content, isError }: ToolOutcome): FrozenBlock {
  const text = typeof content === 'string' ? runtime.redact(content) : content;
  return freezeBlock({
    type: 'tool_result',
    tool_use_id: call,
    content: text,
    ...(isError === true && { is_error: true }),
  });
}

function notRun(call: string): FrozenBlock {
  return unanswered(call, NOT_RUN.interrupted);
}

function unanswered(call: string, content: string): FrozenBlock {
  return freezeBlock({ type: 'tool_result', tool_use_id: call, content, is_error: true });
}

/** A call killed while it replaced a file leaves the half-written successor in the user's repository. */
function tidyUp({ spec, directory }: Agent, input: unknown): void {
  if (typeof input !== 'object' || input === null || !('file_path' in input)) return;
  removeLeftovers(realPath(resolve(directory.cwd, String(input.file_path))), spec.id);
}
