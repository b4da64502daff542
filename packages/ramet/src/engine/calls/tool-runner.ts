/**
 * Carries out the tool calls of one response (RES-6). Every call gets exactly one result, in the order of the
 * calls, whatever happens: unknown tool, bad input, denied, failed, thrown, aborted.
 *
 * Invariants
 * 1. A call that can change anything is known on disk to have started before it acts, and so is its response.
 * 2. Calls that only read run side by side; a call that changes anything runs alone, in its place.
 * 3. A call that has done nothing when a limit or an outage ends the run gets no result: it is made on resume.
 * 4. Secrets are taken out here, once, before a result enters the conversation.
 */
import { contentOf, type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { elapsedOf } from '../../schema/clock.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import { describeError, isInterruptionCause } from '../../schema/errors.ts';
import type { EventOf } from '../../schema/events.ts';
import { actFor } from '../../system/current-agent.ts';
import { onAbort } from '../../system/on-abort.ts';
import { detailsOfCall, findTool, mayChangeFiles, meantCall, parseInput } from '../../tools/registry.ts';
import { failure, type Tool, type ToolContext, type ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { NamedContent } from '../agent/agent-event.ts';
import { MAY_HAVE_RUN, NOT_RUN } from '../agent/notices.ts';
import { contextOf } from './call-context.ts';
import { batches, delegates, isRepeatable, type NamedCall } from './call-order.ts';
import type { HookNotes, Permit, PermitRequest } from './permit.ts';
import { finishResult, withRefusal } from './tool-result.ts';

/** How long an aborted tool may take to end by itself. */
const ABORT_GRACE_MS = 5_000;

export interface ToolRun {
  agent: Agent;
  signal: AbortSignal;
  /** The calls are none of the conversation: they are recorded, and nobody is told. */
  isUntold?: true;
  /** A person makes them: what rules leave open is not asked. */
  byUser?: true;
  /** A skill or a command names them, whose files are trusted: git takes no folder of an agent for a repository. */
  byPrompt?: true;
  /** Gets output as it comes. */
  onOutput?: ((text: string) => void) | undefined;
}

/** The results by call. A call without one is still open: it was not begun, or waits for an agent that was interrupted with it. */
export async function runCalls(
  run: ToolRun,
  given: readonly ToolUseBlock[],
): Promise<Map<string, FrozenBlock>> {
  const calls = given.map((call) => meantCall(run.agent.spec.tools, call));
  const results = new Map<string, FrozenBlock>();
  let isUnsure = false;
  for (const batch of batches(run.agent, calls)) {
    if (!isUnsure && staysOpen(run)) break;
    const answers = await runBatch(run, batch);
    // What the interruption broke off may be half done: the agent decides what follows.
    const isFailed = answers.some((block) => block !== null && contentOf(block).is_error === true);
    isUnsure ||= isFailed && run.signal.aborted && batch.some((call) => !isRepeatable(run.agent, call));
    for (const [index, { id }] of batch.entries()) {
      const answer = answers[index];
      if (answer) results.set(id, answer);
    }
  }
  return results;
}

/** Whether what was not begun is left for the agent's next run: nobody interrupted it on purpose. */
function staysOpen({ signal }: ToolRun): boolean {
  return signal.aborted && isInterruptionCause(signal.reason);
}

async function runBatch(run: ToolRun, batch: readonly ToolUseBlock[]): Promise<(FrozenBlock | null)[]> {
  if (run.signal.aborted) return refuseCalls(batch, NOT_RUN.interrupted);
  for (const call of batch)
    run.agent.record({ type: 'tool.started', call: call.id, name: call.name }, namedBy(run, call));
  // What only reads may be done again: its record is on its way, and nobody need wait for it.
  if (!batch.every((call) => isRepeatable(run.agent, call))) await run.agent.runtime.journal.commit('synced');
  return Promise.all(batch.map((call) => runCall(run, call)));
}

/** The same answer to every call, for when none of them is run. */
export function refuseCalls(calls: readonly ToolUseBlock[], reason: string): FrozenBlock[] {
  return calls.map(({ id }) =>
    freezeBlock({ type: 'tool_result', tool_use_id: id, content: reason, is_error: true }),
  );
}

/** Keeps its worktree after calls that may have changed it. */
export function keepFiles(agent: Agent, calls: readonly NamedCall[]): void {
  if (calls.some((call) => mayTouchFiles(agent, call))) agent.directory.checkpointLater();
  // Agents that it starts may work where it does.
  else if (calls.some((call) => delegates(agent, call))) agent.directory.isTouched = true;
}

/** A call that only changes the team's record changes no file, unless hooks do. */
function mayTouchFiles(agent: Agent, call: NamedCall): boolean {
  if (isRepeatable(agent, call)) return false;
  return (
    agent.runtime.hooks?.has(agent) === true || findTool(agent.spec.tools, call.name)?.onceInTeam !== true
  );
}

async function runCall(run: ToolRun, call: ToolUseBlock): Promise<FrozenBlock | null> {
  const since = elapsedOf(run.agent.runtime.clock);
  const outcome = await outcomeOf(run, call);
  if (outcome.isNotBegun !== true || !staysOpen(run)) return completeCall(run, call, outcome, since);
  run.agent.record({ type: 'tool.withdrawn', call: call.id, name: call.name }, namedBy(run, call));
  return null;
}

/** Records what came of a call; null when nothing has come of it yet. */
export async function completeCall(
  run: ToolRun,
  call: ToolUseBlock,
  outcome: ToolOutcome,
  since: number,
): Promise<FrozenBlock | null> {
  if (outcome.isOpen === true) return null;
  const { agent } = run;
  const finished = await finishResult(agent.runtime, call, outcome);
  const durationMs = Math.max(0, elapsedOf(agent.runtime.clock) - since - (outcome.waitedMs ?? 0));
  // From here on nothing is waited for: calls that run side by side are counted one after the other.
  const { result, refused } = withRefusal(agent, call, finished, outcome);
  const frozen = freezeBlock(result);
  agent.store([frozen]);
  const event: EventOf<'tool.completed'> = {
    type: 'tool.completed',
    call: call.id,
    name: call.name,
    isError: result.is_error === true,
    result: frozen.digest,
    durationMs,
    ...refused,
    ...(outcome.isDenied === true && { denied: true }),
  };
  agent.record(event, namedBy(run, call, result));
  return frozen;
}

function namedBy(
  { agent, isUntold }: ToolRun,
  call: ToolUseBlock,
  result?: ToolResultBlock,
): NamedContent | undefined {
  return isUntold === true ? undefined : namedCall(agent.spec.tools, call, result);
}

/** A call as it is told, with what its tool says about it. */
export function namedCall(
  tools: readonly Tool[],
  call: ToolUseBlock,
  result?: ToolResultBlock,
): NamedContent {
  const tool = findTool(tools, call.name);
  const details = tool && detailsOfCall(tool, call.input);
  return { call, ...(result && { result }), ...(details && { details }) };
}

/** A path of the parent's checkout means the same path in the agent's worktree (FORK-6). */
async function outcomeOf(run: ToolRun, call: ToolUseBlock): Promise<ToolOutcome> {
  const { workspace, cwd } = run.agent.directory;
  const tool = findTool(run.agent.spec.tools, call.name);
  if (workspace === null || tool === undefined) return outcomeHere(run, call);
  const { inheritedCall, withNotice } = await import('../isolation/inherited-call.ts');
  const home = run.agent.checkout.environment.HOME;
  const found = inheritedCall(tool, call, { places: workspace.fence, cwd, home });
  if (found === null) return outcomeHere(run, call);
  if (found.kind === 'refused') return { ...failure(found.reason), refusal: found.reason };
  return withNotice(await outcomeHere(run, found.call), found.notice);
}

async function outcomeHere(run: ToolRun, call: ToolUseBlock): Promise<ToolOutcome> {
  const { agent, signal } = run;
  if (agent.here.halt !== null && run.byUser !== true) return { ...failure(NOT_RUN.hook), isNotBegun: true };
  // What a person types is not held to the list of a coordinator.
  const own = run.byUser === true ? (agent.spec.childTools ?? agent.spec.tools) : agent.spec.tools;
  const tool = findTool(own, call.name);
  if (tool === undefined) {
    const known = agent.spec.tools.map(({ name }) => name).join(', ');
    return failure(`there is no tool "${call.name}"; the tools are ${known}`);
  }
  const given = parseInput(tool, call.input);
  if (!given.ok) return failure(given.message);
  let asked = { call, input: given.value };
  let waitedMs = 0;
  const permitted = async (request: PermitRequest): Promise<Permit> => {
    const since = elapsedOf(agent.runtime.clock);
    const { host } = agent.runtime;
    const permit = await agent.here.permitWaits.during(() =>
      host.permitFor(agent, { tool, request, input: asked.input }, signal),
    );
    waitedMs += elapsedOf(agent.runtime.clock) - since;
    return permit;
  };
  const permit = await permitted({ call, ...(run.byUser && { byUser: true }) });
  if (run.signal.aborted) return { ...failure(NOT_RUN.interrupted), isNotBegun: true };
  const { hooks = {} } = permit;
  if (permit.kind === 'refused') return withHooks(run, call, { ...refusedOutcome(permit), waitedMs }, hooks);
  const input = hooks.changed === undefined ? given : parseInput(tool, hooks.changed);
  if (!input.ok) return failure(input.message);
  if (hooks.changed !== undefined) asked = { call: { ...call, input: hooks.changed }, input: input.value };
  if (mayChangeFiles(tool)) await run.agent.checkout.enter();
  let refusal: string | null = null;
  const outside = async (stopped: string | null): Promise<Permit> => {
    const again = await permitted({
      call: asked.call,
      outside: { stopped },
      ...(run.byUser && { byUser: true }),
    });
    const isDenied = again.kind === 'refused' && stopped !== null && !run.signal.aborted;
    refusal = isDenied ? again.reason : null;
    return again;
  };
  const began = elapsedOf(agent.runtime.clock);
  const outcome = await actOrAbort(run, tool, input.value, contextOf(run, call, { ...permit, outside }));
  const ended = { ...outcome, waitedMs, ...(refusal !== null && { isDenied: true, refusal }) };
  return withHooks(run, call, ended, hooks, elapsedOf(agent.runtime.clock) - began);
}

/** With what hooks say about the call; they are loaded when there are any. */
async function withHooks(
  { agent, signal, byUser }: ToolRun,
  call: ToolUseBlock,
  outcome: ToolOutcome,
  notes: HookNotes,
  durationMs = 0,
): Promise<ToolOutcome> {
  const { hooks } = agent.runtime;
  const ended = outcome.isError ? 'PostToolUseFailure' : 'PostToolUse';
  const event = outcome.isDenied === true ? 'PermissionDenied' : ended;
  const isNoted = notes.changed !== undefined || notes.stop !== undefined || notes.contexts !== undefined;
  if (byUser === true || (!isNoted && hooks?.has(agent, event) !== true)) return outcome;
  const since = elapsedOf(agent.runtime.clock);
  const { hookedOutcome } = await import('../hooks/call-hooks.ts');
  const hooked = await hookedOutcome(agent, { call, outcome, event, durationMs }, notes, signal);
  const waitedMs = (outcome.waitedMs ?? 0) + elapsedOf(agent.runtime.clock) - since;
  return { ...hooked, waitedMs };
}

function refusedOutcome({ reason, wouldFail }: Permit & { kind: 'refused' }): ToolOutcome {
  return { ...failure(reason), ...(wouldFail !== true && { isDenied: true, refusal: reason }) };
}

async function actOrAbort(
  run: ToolRun,
  tool: Tool,
  input: unknown,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { agent, signal } = run;
  const action = act(tool, input, context);
  const givenUp = Promise.withResolvers<ToolOutcome>();
  const ended = new AbortController();
  const stopListening = onAbort(signal, () => {
    const grace = agent.runtime.clock.sleep(ABORT_GRACE_MS, ended.signal);
    void grace.then(() => givenUp.resolve(failure(MAY_HAVE_RUN)));
  });
  try {
    return await Promise.race([action, givenUp.promise]);
  } finally {
    stopListening();
    // Only an aborted call has a grace to end; to abort a signal costs more than most calls do.
    if (signal.aborted) ended.abort();
  }
}

/** What a tool throws is its bug, and an error result. */
export async function act(tool: Tool, input: unknown, context: ToolContext): Promise<ToolOutcome> {
  try {
    return await actFor(context.agent, () => tool.run(input, context));
  } catch (error) {
    return failure(`${tool.name} failed: ${describeError(error)}`);
  }
}
