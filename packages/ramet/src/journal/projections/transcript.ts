/**
 * An agent's conversation as the journal has it: what a resumed agent goes on from. Block bytes stay in the
 * journal; whoever needs them asks a reader by digest.
 *
 * A tool call of the last response that is in `started` but not in `completed` may have taken effect; one that
 * is in neither never began (events.ts, invariant 1).
 */
import type { Role } from '../../schema/content.ts';
import type { Digest, EventOf, JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

export interface TranscriptMessage {
  role: Role;
  blocks: readonly Digest[];
  /** How many leading blocks other runs share. */
  shared: number;
  cause: EventOf<'message.appended'>['cause'] | 'response';
}

export type TranscriptPrefix = Omit<EventOf<'prefix.frozen'>, 'type'>;

export interface Transcript {
  agent: AgentId;
  /** The last event folded, of any agent: where to read on. */
  seq: number;
  /** Null until the agent's prefix is frozen. */
  prefix: TranscriptPrefix | null;
  messages: TranscriptMessage[];
  lastRequest: EventOf<'request.started'> | null;
  /** Ids of tool calls. */
  started: Set<string>;
  completed: Set<string>;
}

export function emptyTranscript(agent: AgentId): Transcript {
  return {
    agent,
    seq: 0,
    prefix: null,
    messages: [],
    lastRequest: null,
    started: new Set(),
    completed: new Set(),
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
    case 'response.completed':
      if (event.kept) {
        transcript.messages.push({ role: 'assistant', blocks: event.blocks, shared: 0, cause: 'response' });
      }
      break;
    case 'request.started':
      transcript.lastRequest = event;
      break;
    case 'tool.started':
      transcript.started.add(event.call);
      break;
    case 'tool.completed':
      transcript.completed.add(event.call);
      break;
  }
}
