/**
 * The work of a coordinator as it is on record (COORD-1): its phase, its workers, and what was refused. A fold of a few
 * kinds of events, so that a resumed session and every view have the same.
 */
import type { JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { AgentStatus, CoordinatorPhase } from '../../schema/status.ts';

export interface RecordedWorker {
  readonly id: AgentId;
  readonly name: string | null;
  readonly type: string;
  readonly description: string;
  /** It may never change anything. */
  readonly readOnly: boolean;
  /** Of what it was last given to do. */
  readonly phase: CoordinatorPhase;
  /** Where in the record that was. */
  readonly given: number;
  /** Null while it works, and for one whose process was killed. */
  readonly ended: { readonly seq: number; readonly status: AgentStatus } | null;
  /** Where it last ended something that it had to implement; null before that. */
  readonly implemented: number | null;
}

export interface RecordedRefusal {
  readonly seq: number;
  readonly what: 'delegation' | 'phase' | 'answer';
  readonly phase: CoordinatorPhase;
  readonly key: string;
}

export interface Coordination {
  readonly phase: CoordinatorPhase;
  /** Where the phase began. */
  readonly since: number;
  /** What was said when it began. */
  readonly note: string;
  readonly workers: readonly RecordedWorker[];
  /** Where the last verification began of which a worker has ended; -1 before the first. */
  readonly verified: number;
  readonly refusals: readonly RecordedRefusal[];
}

/** What `coordinationOf` reads. */
export const COORDINATION_EVENTS: readonly JournalEvent['type'][] = [
  'agent.started',
  'agent.resumed',
  'agent.ended',
  'phase.changed',
  'worker.continued',
  'coordination.refused',
];

/** `lead` is the coordinator. */
export function coordinationOf(events: Iterable<RecordedEvent>, lead: AgentId): Coordination {
  const workers = new Map<AgentId, RecordedWorker>();
  const refusals: RecordedRefusal[] = [];
  let current = { phase: 'research' as CoordinatorPhase, since: 0, note: '' }; // one of several: it changes
  let verified = -1;
  for (const { seq, agent, event } of events) {
    if (agent === null) continue;
    const known = workers.get(agent);
    if (event.type === 'phase.changed' && agent === lead)
      current = { phase: event.to, since: seq, note: event.note };
    if (event.type === 'coordination.refused' && agent === lead) {
      const { what, phase, key } = event;
      refusals.push({ seq, what, phase, key });
    }
    if (event.type === 'agent.started' && event.parent === lead && event.origin?.phase !== undefined) {
      const { description, phase, readOnly = false } = event.origin;
      const { name, agentType: type } = event;
      workers.set(agent, {
        ...{ id: agent, name, type, description, readOnly },
        ...{ phase, given: seq, ended: null, implemented: null },
      });
    }
    if (event.type === 'agent.ended' && known !== undefined) {
      const implemented = known.phase === 'implementation' ? seq : known.implemented;
      if (known.phase === 'verification') verified = Math.max(verified, known.given);
      workers.set(agent, { ...known, ended: { seq, status: event.status }, implemented });
    }
    if (event.type === 'agent.resumed' && known !== undefined) workers.set(agent, { ...known, ended: null });
    const given = event.type === 'worker.continued' ? workers.get(event.worker) : undefined;
    if (event.type === 'worker.continued' && given !== undefined)
      workers.set(given.id, { ...given, phase: event.phase, given: seq, ended: null });
  }
  return { ...current, workers: [...workers.values()], verified, refusals };
}

/** Workers that have implemented something which no later verification has looked at. */
export function unverified({ workers, verified }: Coordination): RecordedWorker[] {
  return workers.filter(({ implemented }) => implemented !== null && implemented > verified);
}
