/**
 * What the host of an agent does for it while its loop runs elsewhere (EXEC-2): it asks models and people, knows the other
 * agents, keeps the bill and the record. The host's own agent follows what is recorded there, so that forks of it,
 * messages to it and its next run start from there. An executor needs nothing else of it.
 */
import type { PromptHead } from '../conversation/conversation.ts';
import { contentOf, type FrozenBlock } from '../conversation/frozen-block.ts';
import { HOOK_EVENTS, type HookEventName } from '../extensions/hooks/hook-event.ts';
import type { HookEffect } from '../extensions/hooks/hook-runner.ts';
import type { OtherBlock, ToolResultBlock, ToolUseBlock } from '../schema/content.ts';
import { isInterruptionCause } from '../schema/errors.ts';
import type { EventOf, JournalEvent } from '../schema/events.ts';
import { findTool, meantCall, parseInput } from '../tools/registry.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import type { Agent } from './agent/agent.ts';
import { type AgentSnapshot, snapshotOf } from './agent/agent-content.ts';
import type { AgentResult, NamedContent } from './agent/agent-event.ts';
import type { AgentHere } from './agent/agent-here.ts';
import type { AgentRuntime, AgentSpec } from './agent/runtime.ts';
import type { SpendingRecord } from './budget/budget.ts';
import { contextOf } from './calls/call-context.ts';
import { closeCalls, openCall } from './calls/finish-calls.ts';
import { type Permit, type PermitRequest, refused } from './calls/permit.ts';
import { act, keepFiles, namedCall } from './calls/tool-runner.ts';
import { isCompactionDue } from './compaction/context-state.ts';
import { recordResponse } from './exchange/exchange.ts';
import type { ExchangeOptions, ModelExchange } from './exchange/model-exchange.ts';
import { runAgent } from './loop/loop.ts';
import { type Ending, newsHere, type RunOptions } from './loop/run-state.ts';
import { keepsResponse, nextStep } from './loop/stop-reason.ts';
import { continueLastTurn } from './resume/interrupted-tasks.ts';

/** What the host itself has recorded, with the blocks of a message that came. */
export type HostRecorded = (event: JournalEvent, blocks: readonly FrozenBlock[]) => void;

/**
 * The host of one agent, the same one for all its runs: it has the agent's record, its bill, its messages and its children.
 * It keeps the agent to itself. Both refuse a value that the agent has left behind.
 */
export interface RunHost {
  /** Runs the loop in this process, on the host's own agent. */
  runHere(value: AgentSnapshot, options: Pick<RunOptions, 'signal'>): Promise<AgentResult>;
  /** What the host does for a loop that runs elsewhere. */
  dutiesFor(value: AgentSnapshot): HostDuties;
}

export function hostOf(agent: Agent): RunHost {
  const current = (value: AgentSnapshot): Agent => {
    if (value.state === agent.state) return agent;
    throw new Error(`${agent.spec.id} is no longer what it is to run from`);
  };
  return {
    runHere: async (value, options) => runAgent(current(value), options),
    dutiesFor: (value) => new HostDuties(current(value)),
  };
}

interface PermittedCall {
  readonly tool: Tool;
  readonly call: ToolUseBlock;
  readonly input: unknown;
  readonly permit: Permit & { kind: 'permitted' };
}

export class HostDuties {
  readonly #agent: Agent;
  /** The last event of the loop that was recorded. Its watchers may make the host record others at once. */
  #followed: JournalEvent | null = null;
  /** How many calls of the loop did what they should. */
  #completed = 0;
  /** The calls of this turn. */
  readonly #begun: EventOf<'tool.started'>[] = [];
  /** Calls of tools of the session that may run, by id. */
  readonly #permitted = new Map<string, PermittedCall>();

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  get spec(): AgentSpec {
    return this.#agent.spec;
  }

  get completedCalls(): number {
    return this.#completed;
  }

  get runtime(): AgentRuntime {
    return this.#agent.runtime;
  }

  /** Where the agent works. */
  get cwd(): string {
    return this.#agent.directory.cwd;
  }

  get model(): string {
    return this.#agent.conversation.head.model;
  }

  /** The agent as it is on record now. */
  snapshot(): AgentSnapshot {
    return snapshotOf(this.#agent);
  }

  beginRun(): ReturnType<AgentHere['beginRun']> {
    return this.#agent.here.beginRun();
  }

  /** What the run and everything above it has spent. */
  spent(): SpendingRecord[] {
    return this.#agent.here.spending?.records() ?? [];
  }

  /** Whether the loop's first step is to ask the model, as things are. */
  get asksFirst(): boolean {
    const { conversation, inbox, state } = this.#agent;
    const asks = conversation.awaitsAnswer && inbox.size === 0 && state.openStop === null;
    return asks && !isCompactionDue(this.#agent);
  }

  exchange(options: ExchangeOptions): Promise<ModelExchange> {
    const { here, runtime } = this.#agent;
    return runtime.host.exchange(this.#agent, {
      ...options,
      onSpent(usage, costUsd) {
        options.onSpent(usage, costUsd);
        here.spending?.add(usage, costUsd);
      },
    });
  }

  async permit(request: PermitRequest, signal: AbortSignal): Promise<Permit> {
    const call = meantCall(this.spec.tools, request.call);
    const { name, input } = call;
    const tool = findTool(this.spec.tools, name);
    if (tool === undefined) return refused(`there is no tool "${name}"`);
    const parsed = parseInput(tool, input);
    if (!parsed.ok) return { kind: 'refused', reason: parsed.message, wouldFail: true };
    const permit = await this.runtime.host.permitFor(
      this.#agent,
      { tool, request: { ...request, call }, input: parsed.value },
      signal,
    );
    if (tool.ofSession === true && permit.kind === 'permitted') {
      // A hook may have changed it.
      const changed = permit.hooks?.changed;
      const own = changed === undefined ? parsed : parseInput(tool, changed);
      if (!own.ok) return { kind: 'refused', reason: own.message, wouldFail: true };
      this.#permitted.set(call.id, { tool, call, input: own.value, permit });
    }
    return permit;
  }

  /** Runs a tool of the session: only what was permitted, with that input, and once. */
  async callTool(id: string, signal: AbortSignal): Promise<ToolOutcome> {
    const permitted = this.#permitted.get(id);
    this.#permitted.delete(id);
    if (permitted === undefined) throw new Error(`the call ${id} was not permitted`);
    const { tool, call, input, permit } = permitted;
    const outside = async (): Promise<Permit> => refused('it does not run in a sandbox');
    return act(tool, input, contextOf({ agent: this.#agent, signal }, call, { ...permit, outside }));
  }

  /** The events that hooks are set up for: which of them happen in its loop, the loop knows. */
  get hookEvents(): readonly HookEventName[] {
    const { hooks } = this.runtime;
    return hooks === undefined ? [] : HOOK_EVENTS.filter((event) => hooks.has(this.#agent, event));
  }

  /** Runs the hooks of an event that happened in the loop. */
  async hook(
    event: HookEventName,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<HookEffect> {
    return (await this.runtime.hooks?.run(this.#agent, event, fields, signal)) ?? { contexts: [] };
  }

  /** Resolves when there are messages for the agent, and at once when nobody is left who could send one. */
  async news(signal: AbortSignal): Promise<void> {
    const { inbox, children } = this.#agent;
    if (inbox.size === 0 && children.anyInBackground) await newsHere(this.#agent, signal);
  }

  /** Calls `listener` for what the host itself records of the agent. Returns the unsubscribe function. */
  watch(listener: HostRecorded): () => void {
    const { here } = this.#agent;
    here.onRecord = (event) => {
      if (event === this.#followed) return;
      listener(event, event.type === 'message.received' ? this.#mailOf(event) : []);
    };
    return () => {
      here.onRecord = null;
    };
  }

  #mailOf({ item }: EventOf<'message.received'>): readonly FrozenBlock[] {
    return this.#agent.content.mail.find((held) => held.item === item)?.blocks ?? [];
  }

  /** Records an event of the loop: the agent's state follows from it. With the blocks, or the head, that it names. */
  follow(event: JournalEvent, blocks: readonly FrozenBlock[], head: PromptHead | null): void {
    const { content } = this.#agent;
    if (event.type === 'response.completed') this.#agent.store(blocks);
    else content.know(blocks);
    if (head !== null) content.knowHead(head);
    this.#followed = event;
    this.#agent.record(event, namedContent(this.#agent, event, blocks));
    this.#settle(event);
  }

  /** What the host's agent has besides its state: its worktree, whose files it has read. */
  #settle(event: JournalEvent): void {
    const { files } = this.#agent;
    if (event.type === 'tool.started') this.#begun.push(event);
    if (event.type === 'tool.completed' && !event.isError) this.#completed += 1;
    if (event.type === 'file.read') files.follow(event.path, event.version);
    if (event.type === 'file.changed' && event.after !== null) files.follow(event.path, event.after);
    if (event.type === 'message.appended' && event.cause === 'tool_results')
      keepFiles(this.#agent, this.#begun.splice(0));
  }

  /** Records a response that the loop has had and did not live to record. */
  recordLost(done: ModelExchange): void {
    const step = nextStep(done.response, { repeats: 0, maxTokens: this.spec.maxTokens });
    recordResponse(this.#agent, done, done.source === undefined && keepsResponse(step));
  }

  /** The loop is lost: calls under way are answered with what is known of them, as after a restart of the session. */
  continueLastTurn(): void {
    continueLastTurn(this.#agent);
  }

  /** The agent resumes in another loop from its last complete turn. */
  resumed(why: string): void {
    this.#agent.warn('process_lost', why);
    this.#agent.record({ type: 'agent.resumed', from: 'running' });
  }

  /** Ends the agent where no loop does. */
  async end(ending: Ending): Promise<Ending> {
    // What a limit or an outage left open is continued on resume, as if its process had ended by itself.
    if (!isInterruptionCause(ending.cause)) await closeCalls(this.#agent);
    this.#agent.record({ type: 'agent.ended', ...ending });
    await this.runtime.journal.commit('written');
    return ending;
  }

  /** `work` is done when the agent is released. */
  onRelease(work: () => Promise<void> | undefined): void {
    this.#agent.scope.defer(work);
  }
}

/** What an event of a loop elsewhere names, for its watchers: the same as in a loop here. */
function namedContent(
  agent: Agent,
  event: JournalEvent,
  blocks: readonly FrozenBlock[],
): NamedContent | undefined {
  switch (event.type) {
    case 'response.completed':
      return event.source === undefined ? { blocks: blocks.map(contentOf) } : undefined;
    case 'tool.started':
    case 'tool.withdrawn':
    case 'tool.completed': {
      const call = openCall(agent, event.call);
      const [result] = blocks.map(resultOf);
      return call && namedCall(agent.spec.tools, meantCall(agent.spec.tools, call), result);
    }
    default:
      return undefined;
  }
}

/** The result block that `tool.completed` names. */
function resultOf(block: FrozenBlock): ToolResultBlock {
  // Frozen from a result by the loop that recorded it.
  return contentOf(block) as OtherBlock & ToolResultBlock;
}
