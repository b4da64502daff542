/**
 * Rebuilds an agent from its journal, byte for byte (LOG-1). A complete response is never asked for again; calls it
 * left open stay open, with the results that were recorded, until it is known how the agent continues (`runtime.ts`).
 */
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock, thawBytes } from '../../conversation/frozen-block.ts';
import { planRequest } from '../../conversation/request.ts';
import type { JournalReader } from '../../journal/journal.ts';
import type { AgentState, StateMessage } from '../../journal/projections/agent-state.ts';
import { inheritedMessages } from '../../journal/projections/inherited-messages.ts';
import { recordedAgent } from '../../journal/projections/recorded-agents.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { Digest } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { entriesOf, itemsOf } from '../../system/persistent.ts';
import { Agent, hosted } from '../agent/agent.ts';
import { RECORD_LOST_ITS_END } from '../agent/notices.ts';
import type { AgentSpec, SessionRuntime } from '../agent/runtime.ts';
import { continueLastTurn } from './interrupted-tasks.ts';

/** What a resumed agent keeps unless the caller says otherwise. */
export interface RecordedSpec extends Pick<AgentSpec, 'model' | 'permissionMode'> {
  /** Names of the tools that its prompt speaks of. */
  readonly tools: readonly string[];
  /** The tools as they are in its prompt. */
  readonly head: Pick<PromptHead, 'tools'>;
}

export function resumeAgent(
  runtime: SessionRuntime,
  reader: JournalReader,
  specFor: (recorded: RecordedSpec) => AgentSpec,
  id: AgentId,
  state: AgentState = recordedAgent((agent) => reader.events({ agent }), id),
): Agent {
  const thaw = thawFrom(reader);
  const { permissionMode } = state;
  if (state.prefix === null || permissionMode === null) throw nothingRecorded(id);
  const { model, thinking, tools, system } = state.prefix;
  const head = freezeHead({ model, thinking, tools: thaw(tools), system: thaw(system) });
  const inherited = inheritedMessages(reader, state.inherited);
  const messages = [...inherited, ...itemsOf(state.messages)].map((message) => thawMessage(message, thaw));
  const names = head.tools.map((tool) => String(contentOf(tool).name));
  const spec = specFor({ model, permissionMode, tools: names, head });
  const conversation = new Conversation(head, messages);
  const prompts = itemsOf(state.prompts).map((prompt) => thawMessage(prompt, thaw));
  const mail = thaw(state.inbox.flatMap(({ blocks }) => blocks));
  const isOpen = messages.at(-1)?.role === 'assistant';
  const results = isOpen ? thaw([...entriesOf(state.results).values()]) : [];
  const agent = new Agent(runtime, spec, { state, conversation, prompts, mail, results });
  if (spec.permissionMode !== permissionMode) {
    agent.record({ type: 'permission.changed', mode: spec.permissionMode });
  }
  // It is resumed to work: what had called its work off is void.
  agent.takeFromInbox(({ kind }) => kind === 'cancel', null);
  followRules(agent);
  recallCache(agent);
  continueLastTurn(agent);
  return agent;
}

/**
 * A provider runs its own tools without asking us, so what rules say about them now must be in the prompt: one that is no longer
 * offered leaves it, and one with other limits takes its place. Every other tool stays as it was.
 */
function followRules(agent: Agent): void {
  const { head, messages } = agent.conversation;
  const offered = agent.spec.tools.flatMap(({ server }) =>
    server === undefined ? [] : [freezeBlock(server)],
  );
  const tools = head.tools.flatMap((block) => {
    const { name, input_schema: schema } = contentOf(block);
    return schema === undefined ? (offered.find((one) => contentOf(one).name === name) ?? []) : block;
  });
  const isSame =
    tools.length === head.tools.length && tools.every((block, at) => block.digest === head.tools[at]?.digest);
  if (isSame) return;
  agent.replaceConversation({ cause: 'rules' }, freezeHead({ ...head, tools }), messages);
}

type Thaw = (digests: readonly Digest[]) => FrozenBlock[];

export function thawFrom(reader: JournalReader): Thaw {
  return (digests) => digests.map((digest) => thawBytes(reader.block(digest), digest));
}

type RecordedMessage = Pick<StateMessage, 'role' | 'blocks' | 'shared'>;

export function thawMessage({ role, blocks, shared }: RecordedMessage, thaw: Thaw): FrozenMessage {
  return { role, blocks: thaw(blocks), shared };
}

/**
 * What it wrote to the provider's cache may still be there: siblings that resume with it need not wait for each other.
 */
function recallCache(agent: Agent): void {
  const { answeredBreakpoints, answeredAt } = agent.state;
  if (answeredAt === null || answeredBreakpoints.length === 0) return;
  const { cacheMap } = hosted(agent).runtime;
  const planned = planRequest(agent.conversation, answeredBreakpoints, answeredAt);
  cacheMap.requestStarted(planned);
  cacheMap.responseBegan(planned);
}

/** The process died before the agent's first record was committed. */
function nothingRecorded(id: AgentId): UserMistake {
  return new UserMistake(
    'nothing_recorded',
    `agent ${id} ended before anything was recorded: start again with a prompt`,
  );
}

/**
 * An agent that is resumed from a journal that lost its end (`journal/integrity.ts`): it is told, and what its last
 * message asked for is not done again on the word of a record that may have lost the start of it.
 */
export function tellOfLostEnd(agent: Agent): void {
  agent.record({ type: 'record.shortened' });
  agent.receive('notification', null, RECORD_LOST_ITS_END);
}
