/**
 * Rebuilds an agent from its journal, byte for byte (LOG-1). A complete response is never asked for again;
 * calls it left open get the results that were recorded, and the others the plain truth: not run, or perhaps.
 */
import { resolve } from 'node:path';
import { endOf } from '../conversation/breakpoints.ts';
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock, thawBytes } from '../conversation/frozen-block.ts';
import type { JournalReader } from '../journal/journal.ts';
import { inheritedMessages } from '../journal/projections/inherited-messages.ts';
import { type Transcript, type TranscriptMessage, transcriptOf } from '../journal/projections/transcript.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Digest } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import { realPath } from '../workspace/real-path.ts';
import { removeLeftovers } from '../workspace/replace-file.ts';
import { Agent } from './agent.ts';
import { childInterrupted, MAY_HAVE_RUN, NOT_RUN, OUTPUT_CUT } from './notices.ts';
import type { AgentSpec, SessionRuntime } from './runtime.ts';

/** What a resumed agent goes on with unless it is told otherwise. */
export type RecordedSpec = Pick<AgentSpec, 'model' | 'permissionMode'> & {
  /** The tools it was told of, as they stand in its prompt. */
  head?: Pick<PromptHead, 'tools'>;
};

export function resumeAgent(
  runtime: SessionRuntime,
  reader: JournalReader,
  specFor: (recorded: RecordedSpec) => AgentSpec,
  id: AgentId,
): Agent {
  const transcript = transcriptOf(reader.events({ agent: id }), id);
  const thaw: Thaw = (digests) => digests.map((digest) => thawBytes(reader.block(digest)));
  const { permissionMode } = transcript;
  if (transcript.prefix === null || permissionMode === null) throw nothingRecorded(id);
  const { model, thinking, tools, system } = transcript.prefix;
  const head = freezeHead({ model, thinking, tools: thaw(tools), system: thaw(system) });
  const inherited = inheritedMessages(reader, transcript.inherited);
  const messages = [...inherited, ...transcript.messages].map((message) => thawMessage(message, thaw));
  const spec = specFor({ model, permissionMode, head });
  const origin = transcript.forkedFrom === null ? null : forkPointOf(reader, transcript.forkedFrom);
  const seen = new Map([...(origin?.seen ?? []), ...transcript.seen]);
  const agent = new Agent(runtime, spec, new Conversation(head, messages), seen);
  if (spec.permissionMode !== permissionMode) {
    agent.record({ type: 'permission.changed', mode: spec.permissionMode });
  }
  agent.previousEnd = endOf(transcript.answeredBreakpoints);
  agent.requests = transcript.requests;
  for (const call of [...(origin?.started ?? []), ...transcript.started]) agent.calls.add(call);
  agent.openStop = transcript.openStop;
  const prompts = [...(origin?.prompts ?? []), ...transcript.prompts];
  agent.prompts = prompts.map((prompt) => thawMessage(prompt, thaw));
  for (const [path, how] of transcript.touched) agent.touched.set(path, how);
  const { measured } = transcript;
  agent.context.measured =
    measured === null ? null : { ...measured, messages: measured.messages + inherited.length };
  agent.todos = transcript.todos;
  agent.tasks.recall(transcript.backgroundTasks);
  for (const { blocks, ...item } of transcript.pending) {
    // Whoever lets it go on wants it to: what had called its work off is void.
    if (item.kind !== 'cancel') agent.inbox.put({ ...item, blocks: thaw(blocks) });
  }
  agent.received = transcript.told.size + transcript.pending.length;
  answerOpenCalls(agent, transcript, thaw, (call) => childOfCall(reader, id, call));
  if (agent.openStop === 'max_tokens') agent.say('notice', [freezeBlock({ type: 'text', text: OUTPUT_CUT })]);
  return agent;
}

type Thaw = (digests: readonly Digest[]) => FrozenBlock[];

/** The parent as it was when it was forked: its prompts, calls and files were the fork's too (FORK-4). */
function forkPointOf(reader: JournalReader, { agent, seq }: { agent: AgentId; seq: number }): Transcript {
  return transcriptOf(
    Iterator.from(reader.events({ agent })).filter((recorded) => recorded.seq < seq),
    agent,
  );
}

type RecordedMessage = Pick<TranscriptMessage, 'role' | 'blocks' | 'shared'>;

function thawMessage({ role, blocks, shared }: RecordedMessage, thaw: Thaw): FrozenMessage {
  return { role, blocks: thaw(blocks), shared };
}

function answerOpenCalls(
  agent: Agent,
  transcript: Transcript,
  thaw: Thaw,
  childOf: (call: string) => AgentId | undefined,
): void {
  const last = agent.conversation.messages.at(-1);
  if (last?.role !== 'assistant') return;
  const calls = last.blocks.filter((block) => block.type === 'tool_use').map(contentOf);
  if (calls.length === 0) return;
  const results = calls.flatMap(({ id, input }) => {
    const call = String(id);
    const recorded = transcript.results.get(call);
    if (recorded !== undefined) return thaw([recorded]);
    if (!transcript.started.has(call)) return [unanswered(call, NOT_RUN.interrupted)];
    tidyUp(agent, input);
    const child = childOf(call);
    return [unanswered(call, child === undefined ? MAY_HAVE_RUN : childInterrupted(child))];
  });
  agent.say('tool_results', results);
}

/** The agent that an Agent call had started before its process was killed. */
function childOfCall(reader: JournalReader, parent: AgentId, call: string): AgentId | undefined {
  for (const { agent, event } of reader.events({ type: 'agent.started' })) {
    if (event.type !== 'agent.started' || agent === null) continue;
    if (event.parent === parent && event.origin?.call === call) return agent;
  }
  return undefined;
}

/** A call killed while it replaced a file leaves the half-written successor in the user's repository. */
function tidyUp({ spec }: Agent, input: unknown): void {
  if (typeof input !== 'object' || input === null || !('file_path' in input)) return;
  removeLeftovers(realPath(resolve(spec.cwd, String(input.file_path))), spec.id);
}

/** The process died before the agent's first record was committed. */
function nothingRecorded(id: AgentId): UserMistake {
  return new UserMistake(
    'nothing_recorded',
    `agent ${id} ended before anything was recorded: start again with a prompt`,
  );
}

function unanswered(call: string, content: string): FrozenBlock {
  return freezeBlock({ type: 'tool_result', tool_use_id: call, content, is_error: true });
}
