/**
 * Rebuilds an agent from its journal, byte for byte (LOG-1). A complete response is never asked for again;
 * calls it left open get the results that were recorded, and the others the plain truth: not run, or perhaps.
 */
import { endOf } from '../conversation/breakpoints.ts';
import { Conversation, freezeHead } from '../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock, thawBytes } from '../conversation/frozen-block.ts';
import type { JournalReader } from '../journal/journal.ts';
import { type Transcript, transcriptOf } from '../journal/projections/transcript.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Digest } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import { Agent } from './agent.ts';
import { MAY_HAVE_RUN, NOT_RUN } from './notices.ts';
import type { AgentSpec, SessionRuntime } from './runtime.ts';

export function resumeAgent(
  runtime: SessionRuntime,
  reader: JournalReader,
  specFor: (model: string) => AgentSpec,
  id: AgentId,
): Agent {
  const transcript = transcriptOf(reader.events({ agent: id }), id);
  const thaw = (digests: readonly Digest[]): FrozenBlock[] =>
    digests.map((digest) => thawBytes(reader.block(digest)));
  if (transcript.prefix === null) throw nothingRecorded(id);
  const { model, thinking, tools, system } = transcript.prefix;
  const head = freezeHead({ model, thinking, tools: thaw(tools), system: thaw(system) });
  const messages = transcript.messages.map(({ role, blocks, shared }) => ({
    role,
    blocks: thaw(blocks),
    shared,
  }));
  const agent = new Agent(runtime, specFor(model), new Conversation(head, messages));
  agent.previousEnd = endOf(transcript.answeredBreakpoints);
  agent.requests = transcript.requests;
  answerOpenCalls(agent, transcript, thaw);
  return agent;
}

function answerOpenCalls(
  agent: Agent,
  transcript: Transcript,
  thaw: (digests: readonly Digest[]) => FrozenBlock[],
): void {
  const last = agent.conversation.messages.at(-1);
  if (last?.role !== 'assistant') return;
  const calls = last.blocks
    .filter((block) => block.type === 'tool_use')
    .map((block) => String(contentOf(block).id));
  if (calls.length === 0) return;
  const results = calls.flatMap((call) => {
    const recorded = transcript.results.get(call);
    return recorded === undefined
      ? [unanswered(call, transcript.started.has(call) ? MAY_HAVE_RUN : NOT_RUN.interrupted)]
      : thaw([recorded]);
  });
  agent.say('tool_results', results);
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
