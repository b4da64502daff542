/**
 * An agent's conversation as the journal has it: what a resumed agent goes on from. Block bytes stay in the
 * journal; whoever needs them asks a reader by digest.
 *
 * A tool call of the last response that is in `started` but has no result may have taken effect; one that is in
 * neither never began (events.ts, invariant 1).
 */
import type { Role } from '../../schema/content.ts';
import type { Breakpoint, Digest, EventOf, JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

export interface TranscriptMessage {
  role: Role;
  blocks: readonly Digest[];
  /** How many leading blocks other runs share. */
  shared: number;
  cause: EventOf<'message.appended'>['cause'] | 'response' | 'replaced';
}

export type TranscriptPrefix = Omit<EventOf<'prefix.frozen'>, 'type'>;

export interface Transcript {
  agent: AgentId;
  /** The last event folded, of any agent: where to read on. */
  seq: number;
  /** Null until the agent's prefix is frozen. */
  prefix: TranscriptPrefix | null;
  messages: TranscriptMessage[];
  /** How many exchanges were begun; attempts of one count once. */
  requests: number;
  lastRequest: EventOf<'request.started'> | null;
  /** The marks of the last request that was answered: the provider may hold what they name. */
  answeredBreakpoints: readonly Breakpoint[];
  /** Ids of tool calls. */
  started: Set<string>;
  /** The tool_result block of every call that ended. */
  results: Map<string, Digest>;
}

export function emptyTranscript(agent: AgentId): Transcript {
  return {
    agent,
    seq: 0,
    prefix: null,
    messages: [],
    requests: 0,
    lastRequest: null,
    answeredBreakpoints: [],
    started: new Set(),
    results: new Map(),
  };
}

export function transcriptOf(events: Iterable<RecordedEvent>, agent: AgentId): Transcript {
  const transcript = emptyTranscript(agent);
  for (const recorded of events) extendTranscript(transcript, recorded);
  return transcript;
}

/** Folds one more event into the transcript, in place. */
export function extendTranscript(transcript: Transcript, { seq, agent, event }: RecordedEvent): void {
  transcript.seq = seq;
  if (agent === transcript.agent) extend(transcript, event);
}

function extend(transcript: Transcript, event: JournalEvent): void {
  switch (event.type) {
    case 'prefix.frozen': {
      const { type: _, ...prefix } = event;
      transcript.prefix = prefix;
      break;
    }
    case 'message.appended': {
      const { role, blocks, shared, cause } = event;
      transcript.messages.push({ role, blocks, shared, cause });
      break;
    }
    case 'conversation.replaced':
      transcript.messages = event.messages.map((message) => ({ ...message, cause: 'replaced' }));
      transcript.answeredBreakpoints = [];
      break;
    case 'response.completed':
      transcript.answeredBreakpoints = transcript.lastRequest?.breakpoints ?? [];
      if (event.kept) {
        transcript.messages.push({ role: 'assistant', blocks: event.blocks, shared: 0, cause: 'response' });
      }
      break;
    case 'request.started':
      if (event.attempt === 1) transcript.requests += 1;
      transcript.lastRequest = event;
      break;
    case 'tool.started':
      transcript.started.add(event.call);
      break;
    case 'tool.completed':
      transcript.results.set(event.call, event.result);
      break;
  }
}
