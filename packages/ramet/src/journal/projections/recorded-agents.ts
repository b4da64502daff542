/**
 * The transcripts of all agents of a session in one reading, for whoever resumes many of them. A fork had its parent's
 * prompts, calls and files as they were when it was forked (FORK-4): they are kept as the fork is met.
 */
import type { RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { emptyTranscript, extendTranscript, type Transcript } from './transcript.ts';

/** Of an agent's parent, at the moment of the fork. */
export type ForkPoint = Pick<Transcript, 'prompts' | 'started' | 'seen'>;

export interface RecordedAgent {
  readonly transcript: Transcript;
  /** Null for an agent that is no fork. */
  readonly forkPoint: ForkPoint | null;
}

export function recordedAgents(events: Iterable<RecordedEvent>): Map<AgentId, RecordedAgent> {
  const agents = new Map<AgentId, { transcript: Transcript; forkPoint: ForkPoint | null }>();
  for (const recorded of events) {
    const { agent: id, event } = recorded;
    if (id === null) continue;
    const agent = agents.get(id) ?? { transcript: emptyTranscript(id), forkPoint: null };
    agents.set(id, agent);
    if (event.type === 'conversation.inherited') {
      const parent = agents.get(event.from)?.transcript;
      agent.forkPoint = parent === undefined ? null : forkPointIn(parent);
    }
    extendTranscript(agent.transcript, recorded);
  }
  return agents;
}

/** One agent and, when it is a fork, its parent up to the fork: nothing else is looked at. */
export function recordedAgent(read: (agent: AgentId) => Iterable<RecordedEvent>, id: AgentId): RecordedAgent {
  const transcript = emptyTranscript(id);
  for (const recorded of read(id)) extendTranscript(transcript, recorded);
  const { forkedFrom } = transcript;
  if (forkedFrom === null) return { transcript, forkPoint: null };
  const parent = emptyTranscript(forkedFrom.agent);
  for (const recorded of read(forkedFrom.agent)) {
    if (recorded.seq >= forkedFrom.seq) break;
    extendTranscript(parent, recorded);
  }
  return { transcript, forkPoint: parent };
}

function forkPointIn({ prompts, started, seen }: Transcript): ForkPoint {
  return { prompts: [...prompts], started: new Set(started), seen: new Map(seen) };
}
