/**
 * The agents that earlier processes of a session have started, as the journal has them: who asked for each, whether it
 * has ended, and whether its parent has been told. One reading serves all of them.
 */
import type { JournalReader } from '../../journal/journal.ts';
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

export interface RecordedChild {
  readonly id: AgentId;
  readonly parent: AgentId;
  readonly started: EventOf<'agent.started'>;
  prompts: number;
  background: boolean;
  /** Null while it was at work, or was resumed since. */
  ended: EventOf<'agent.ended'> | null;
  /** Its parent was sent a notification of its last end. */
  told: boolean;
  /** How many responses its parent had had at its last end. */
  parentResponses: number;
}

const TYPES: readonly JournalEvent['type'][] = [
  'agent.started',
  'agent.ended',
  'agent.resumed',
  'agent.detached',
  'message.received',
  'message.appended',
  'response.completed',
];

export class RecordedChildren {
  readonly #byId = new Map<AgentId, RecordedChild>();
  readonly #responses = new Map<AgentId, number>();

  static read(reader: JournalReader): RecordedChildren {
    const children = new RecordedChildren();
    for (const { agent, event } of reader.events({ types: TYPES })) children.#take(agent ?? '', event);
    return children;
  }

  /** In the order in which they were asked for. */
  of(parent: AgentId): RecordedChild[] {
    return [...this.#byId.values()].filter((child) => child.parent === parent);
  }

  /** Whether its parent can have acted on its last end. */
  hasParentResponded({ parent, parentResponses }: RecordedChild): boolean {
    return this.#responsesOf(parent) > parentResponses;
  }

  #responsesOf(agent: AgentId): number {
    return this.#responses.get(agent) ?? 0;
  }

  #take(agent: AgentId, event: JournalEvent): void {
    if (event.type === 'agent.started') {
      if (event.parent === null) return;
      const background = event.origin?.background ?? false;
      const { parent } = event;
      const child = { id: agent, parent, started: event, prompts: 0, background, ended: null, told: false };
      this.#byId.set(agent, { ...child, parentResponses: this.#responsesOf(parent) });
    } else if (event.type === 'response.completed') {
      if (event.kept) this.#responses.set(agent, this.#responsesOf(agent) + 1);
    } else if (event.type === 'message.received' && event.kind === 'notification') {
      const about = this.#byId.get(event.from ?? '');
      if (about !== undefined) about.told = true;
    } else {
      const child = this.#byId.get(agent);
      if (child === undefined) return;
      note(child, event);
      if (event.type === 'agent.ended') child.parentResponses = this.#responsesOf(child.parent);
    }
  }
}

function note(child: RecordedChild, event: JournalEvent): void {
  if (event.type === 'agent.ended') {
    child.ended = event;
    // A member of a team that goes idle is reported to nobody.
    if (child.started.origin?.member === true && event.status === 'done') child.told = true;
  }
  if (event.type === 'agent.detached') child.background = true;
  if (event.type === 'agent.resumed') Object.assign(child, { ended: null, told: false });
  if (event.type !== 'message.appended') return;
  child.ended = null;
  if (event.cause !== 'prompt') return;
  child.prompts += 1;
  // An agent that has ended resumes in the background, and its end is reported again.
  if (child.prompts > 1) Object.assign(child, { background: true, told: false });
}
