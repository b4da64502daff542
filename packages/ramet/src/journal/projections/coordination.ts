/**
 * The work of a coordinator as it is on record (COORD-1): its phase, its workers, and what was refused. A fold of a few
 * kinds of events, so that a resumed session and every view have the same.
 */
import type { EventOf, JournalEvent, RecordedEvent } from '../../schema/events.ts';
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
  /** The files that it was last given to verify. */
  readonly list: string | null;
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
  /** Where the last verification began that a worker has carried out to its end; -1 before the first. */
  readonly verified: number;
  /** The list of what was there then, as long as nobody has looked whether it still is. */
  readonly toCompare: string | null;
  /** Files that have changed since then, of which the user has not been told. */
  readonly changed: readonly string[];
  readonly refusals: readonly RecordedRefusal[];
  /** Files that were not there before a command of a verification named them to write them. */
  readonly proofs: ReadonlySet<string>;
}

/** What the fold looks at; it ignores every other kind. */
export const COORDINATION_EVENTS: readonly JournalEvent['type'][] = [
  'agent.started',
  'agent.resumed',
  'agent.ended',
  'phase.changed',
  'worker.continued',
  'coordination.refused',
  'verification.begins',
  'verification.compared',
  'verification.writes',
  'message.appended',
];

/** Takes events in order, each once, however often the value is asked for. */
export class CoordinationFold {
  readonly #lead: AgentId;
  readonly #workers = new Map<AgentId, RecordedWorker>();
  readonly #refusals: RecordedRefusal[] = [];
  readonly #proofs = new Set<string>();
  #now: Pick<Coordination, 'phase' | 'since' | 'note'> = { phase: 'research', since: 0, note: '' };
  #verified = -1;
  /** What the next worker is given to verify. */
  #list: string | null = null;
  #toCompare: string | null = null;
  #changed: readonly string[] = [];
  /** The last event that it was given. */
  seq = 0;

  constructor(lead: AgentId) {
    this.#lead = lead;
  }

  get value(): Coordination {
    const workers = [...this.#workers.values()];
    const [verified, proofs, toCompare, changed] = [
      this.#verified,
      this.#proofs,
      this.#toCompare,
      this.#changed,
    ];
    return { ...this.#now, workers, verified, toCompare, changed, refusals: [...this.#refusals], proofs };
  }

  take({ seq, agent, event }: Omit<RecordedEvent, 'time'>): void {
    this.seq = seq;
    if (agent === null) return;
    if (agent === this.#lead) this.#ofLead(seq, event);
    else this.#ofWorker(agent, seq, event);
  }

  #ofLead(seq: number, event: JournalEvent): void {
    if (event.type === 'phase.changed') this.#now = { phase: event.to, since: seq, note: event.note };
    if (event.type === 'coordination.refused') {
      const { what, phase, key } = event;
      this.#refusals.push({ seq, what, phase, key });
    }
    if (event.type === 'worker.continued')
      this.#change(event.worker, { phase: event.phase, given: seq, ended: null, list: this.#list });
    if (event.type === 'verification.begins') this.#list = event.list;
    if (event.type === 'verification.compared') [this.#toCompare, this.#changed] = [null, event.changed];
    // What follows is about something else.
    if (event.type === 'message.appended' && event.cause === 'prompt') this.#changed = [];
  }

  #ofWorker(id: AgentId, seq: number, event: JournalEvent): void {
    if (event.type === 'agent.started') this.#admit(id, seq, event);
    if (event.type === 'verification.writes') for (const path of event.paths) this.#proofs.add(path);
    if (event.type === 'agent.resumed') this.#change(id, { ended: null });
    const known = this.#workers.get(id);
    if (event.type !== 'agent.ended' || known === undefined) return;
    // One that failed or was stopped has proved nothing; what it was to implement may be half there.
    if (known.phase === 'verification' && event.status === 'done' && known.given > this.#verified) {
      this.#verified = known.given;
      [this.#toCompare, this.#changed] = [known.list, []];
    }
    const implemented = known.phase === 'implementation' ? seq : known.implemented;
    this.#change(id, { ended: { seq, status: event.status }, implemented });
  }

  #admit(id: AgentId, seq: number, { parent, name, agentType, origin }: EventOf<'agent.started'>): void {
    if (parent !== this.#lead || origin?.phase === undefined) return;
    const { description, phase, readOnly = false } = origin;
    this.#workers.set(id, {
      ...{ id, name, type: agentType, description, readOnly },
      ...{ phase, given: seq, ended: null, implemented: null, list: this.#list },
    });
  }

  #change(id: AgentId, change: Partial<RecordedWorker>): void {
    const known = this.#workers.get(id);
    if (known !== undefined) this.#workers.set(id, { ...known, ...change });
  }
}

/** Workers that have implemented something which no later verification has looked at. */
export function unverified({ workers, verified }: Coordination): RecordedWorker[] {
  return workers.filter(({ implemented }) => implemented !== null && implemented > verified);
}
