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
import { inheritedMessages } from '../journal/projections/inherited-messages.ts';
import { type RecordedAgent, recordedAgent } from '../journal/projections/recorded-agents.ts';
import type { Transcript, TranscriptMessage } from '../journal/projections/transcript.ts';
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
  recorded: RecordedAgent = recordedAgent((agent) => reader.events({ agent }), id),
): Agent {
  const { transcript, forkPoint } = recorded;
  const thaw: Thaw = (digests) => digests.map((digest) => thawBytes(reader.block(digest), digest));
  const { permissionMode } = transcript;
  if (transcript.prefix === null || permissionMode === null) throw nothingRecorded(id);
  const { model, thinking, tools, system } = transcript.prefix;
  const head = freezeHead({ model, thinking, tools: thaw(tools), system: thaw(system) });
  const inherited = inheritedMessages(reader, transcript.inherited);
  const messages = [...inherited, ...transcript.messages].map((message) => thawMessage(message, thaw));
  const names = head.tools.map((tool) => String(contentOf(tool).name));
  const spec = specFor({ model, permissionMode, tools: names, head });
  const seen = new Map([...(forkPoint?.seen ?? []), ...transcript.seen]);
  const agent = new Agent(runtime, spec, new Conversation(head, messages), seen);
  if (spec.permissionMode !== permissionMode) {
    agent.record({ type: 'permission.changed', mode: spec.permissionMode });
  }
  agent.requests = transcript.requests;
  for (const call of [...(forkPoint?.started ?? []), ...transcript.started]) agent.calls.add(call);
  agent.openStop = transcript.openStop;
  const prompts = [...(forkPoint?.prompts ?? []), ...transcript.prompts];
  agent.prompts = prompts.map((prompt) => thawMessage(prompt, thaw));
  for (const [path, how] of transcript.touched) agent.touched.set(path, how);
  const { measured } = transcript;
  agent.context.measured =
    measured === null ? null : { ...measured, messages: measured.messages + inherited.length };
  agent.todos = transcript.todos;
  agent.own = transcript.own;
  agent.tasks.recall(transcript.backgroundTasks);
  takeInbox(agent, transcript, thaw);
  recallCache(agent, transcript);
  agent.openCalls = openCallsIn(agent, transcript, thaw);
  if (agent.openStop === 'max_tokens') agent.say('notice', [freezeBlock({ type: 'text', text: OUTPUT_CUT })]);
  return agent;
}

type Thaw = (digests: readonly Digest[]) => FrozenBlock[];

type RecordedMessage = Pick<TranscriptMessage, 'role' | 'blocks' | 'shared'>;

function thawMessage({ role, blocks, shared }: RecordedMessage, thaw: Thaw): FrozenMessage {
  return { role, blocks: thaw(blocks), shared };
}

function takeInbox(agent: Agent, { pending, told }: Transcript, thaw: Thaw): void {
  for (const { blocks, ...item } of pending) {
    // Whoever lets it go on wants it to: what had called its work off is void.
    if (item.kind !== 'cancel') agent.inbox.put({ ...item, blocks: thaw(blocks) });
  }
  agent.received = told.size + pending.length;
}

/** What it wrote to the provider's cache may still be there: siblings that go on with it need not wait for each other. */
function recallCache(agent: Agent, { answeredBreakpoints, answeredAt }: Transcript): void {
  agent.previousEnd = endOf(answeredBreakpoints);
  if (answeredAt === null || answeredBreakpoints.length === 0) return;
  const { cacheMap } = agent.runtime;
  const planned = planRequest(agent.conversation, answeredBreakpoints, answeredAt);
  cacheMap.requestStarted(planned);
  cacheMap.responseBegan(planned);
}

function openCallsIn(agent: Agent, { results, started }: Transcript, thaw: Thaw): OpenCalls | null {
  const last = agent.conversation.messages.at(-1);
  const calls = last?.role === 'assistant' ? callsIn(last.blocks) : [];
  if (calls.length === 0) return null;
  const answered = new Map<string, FrozenBlock>();
  for (const { id } of calls) {
    const [result] = thaw([results.get(id)].filter((digest) => digest !== undefined));
    if (result !== undefined) answered.set(id, result);
  }
  return { calls, results: answered, started };
}

/** The process died before the agent's first record was committed. */
function nothingRecorded(id: AgentId): UserMistake {
  return new UserMistake(
    'nothing_recorded',
    `agent ${id} ended before anything was recorded: start again with a prompt`,
  );
}
