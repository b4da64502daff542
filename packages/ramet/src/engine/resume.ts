/**
 * Rebuilds an agent from its journal, byte for byte (LOG-1). A complete response is never asked for again; calls it
 * left open stay open, with the results that were recorded, until it is known how the agent goes on (`open-calls.ts`).
 */
import { endOf } from '../conversation/breakpoints.ts';
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock, thawBytes } from '../conversation/frozen-block.ts';
import { planRequest } from '../conversation/plan-request.ts';
import type { JournalReader } from '../journal/journal.ts';
import { itemsOf } from '../journal/persistent-list.ts';
import { entriesOf, hasKey, valueAt } from '../journal/persistent-map.ts';
import type { AgentState, StateMessage } from '../journal/projections/agent-state.ts';
import { inheritedMessages } from '../journal/projections/inherited-messages.ts';
import { recordedAgent } from '../journal/projections/recorded-agents.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Digest } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import { Agent } from './agent.ts';
import { callsIn } from './finish-calls.ts';
import { OUTPUT_CUT } from './notices.ts';
import type { OpenCalls } from './open-calls.ts';
import type { AgentSpec, SessionRuntime } from './runtime.ts';

/** What a resumed agent goes on with unless it is told otherwise. */
export interface RecordedSpec extends Pick<AgentSpec, 'model' | 'permissionMode'> {
  /** Names of the tools that its prompt speaks of. */
  readonly tools: readonly string[];
  /** The tools as they stand in its prompt. */
  readonly head: Pick<PromptHead, 'tools'>;
}

export function resumeAgent(
  runtime: SessionRuntime,
  reader: JournalReader,
  specFor: (recorded: RecordedSpec) => AgentSpec,
  id: AgentId,
  state: AgentState = recordedAgent((agent) => reader.events({ agent }), id),
): Agent {
  const thaw: Thaw = (digests) => digests.map((digest) => thawBytes(reader.block(digest), digest));
  const { permissionMode } = state;
  if (state.prefix === null || permissionMode === null) throw nothingRecorded(id);
  const { model, thinking, tools, system } = state.prefix;
  const head = freezeHead({ model, thinking, tools: thaw(tools), system: thaw(system) });
  const inherited = inheritedMessages(reader, state.inherited);
  const messages = [...inherited, ...itemsOf(state.messages)].map((message) => thawMessage(message, thaw));
  const names = head.tools.map((tool) => String(contentOf(tool).name));
  const spec = specFor({ model, permissionMode, tools: names, head });
  const agent = new Agent(runtime, spec, new Conversation(head, messages), entriesOf(state.seen));
  if (spec.permissionMode !== permissionMode) {
    agent.record({ type: 'permission.changed', mode: spec.permissionMode });
  }
  agent.requests = state.requests;
  for (const call of entriesOf(state.calls).keys()) agent.calls.add(call);
  agent.openStop = state.openStop;
  agent.prompts = itemsOf(state.prompts).map((prompt) => thawMessage(prompt, thaw));
  for (const [path, how] of entriesOf(state.touched)) agent.touched.set(path, how);
  const { measured } = state;
  agent.context.measured =
    measured === null ? null : { ...measured, messages: measured.messages + inherited.length };
  agent.todos = state.todos;
  agent.own = { refusals: state.refusals, progress: state.progress };
  agent.tasks.recall(state.backgroundTasks);
  takeInbox(agent, state, thaw);
  recallCache(agent, state);
  agent.openCalls = openCallsIn(agent, state, thaw);
  if (agent.openStop === 'max_tokens') agent.say('notice', [freezeBlock({ type: 'text', text: OUTPUT_CUT })]);
  return agent;
}

type Thaw = (digests: readonly Digest[]) => FrozenBlock[];

type RecordedMessage = Pick<StateMessage, 'role' | 'blocks' | 'shared'>;

function thawMessage({ role, blocks, shared }: RecordedMessage, thaw: Thaw): FrozenMessage {
  return { role, blocks: thaw(blocks), shared };
}

function takeInbox(agent: Agent, { pending, received }: AgentState, thaw: Thaw): void {
  for (const { blocks, ...item } of pending) {
    // Whoever lets it go on wants it to: what had called its work off is void.
    if (item.kind !== 'cancel') agent.inbox.put({ ...item, blocks: thaw(blocks) });
  }
  agent.received = received;
}

/** What it wrote to the provider's cache may still be there: siblings that go on with it need not wait for each other. */
function recallCache(agent: Agent, { answeredBreakpoints, answeredAt }: AgentState): void {
  agent.previousEnd = endOf(answeredBreakpoints);
  if (answeredAt === null || answeredBreakpoints.length === 0) return;
  const { cacheMap } = agent.runtime;
  const planned = planRequest(agent.conversation, answeredBreakpoints, answeredAt);
  cacheMap.requestStarted(planned);
  cacheMap.responseBegan(planned);
}

function openCallsIn(agent: Agent, { results, calls: begun }: AgentState, thaw: Thaw): OpenCalls | null {
  const last = agent.conversation.messages.at(-1);
  const calls = last?.role === 'assistant' ? callsIn(last.blocks) : [];
  if (calls.length === 0) return null;
  const answered = new Map<string, FrozenBlock>();
  for (const { id } of calls) {
    const [result] = thaw([valueAt(results, id)].filter((digest) => digest !== undefined));
    if (result !== undefined) answered.set(id, result);
  }
  const started = new Set(calls.map(({ id }) => id).filter((id) => hasKey(begun, id)));
  return { calls, results: answered, started };
}

/** The process died before the agent's first record was committed. */
function nothingRecorded(id: AgentId): UserMistake {
  return new UserMistake(
    'nothing_recorded',
    `agent ${id} ended before anything was recorded: start again with a prompt`,
  );
}
