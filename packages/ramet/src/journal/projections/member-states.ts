/**
 * What each member of a team is, as everybody is shown it: the roster knows who idles, is to end or has ended, and the journal
 * of the session what an agent at work does (AGENT-5).
 */
import { JournalError, UserMistake } from '../../schema/errors.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { isUnderWay } from '../../schema/status.ts';
import { LEAD, type ShownMember, type TeamMember } from '../../schema/team.ts';
import type { JournalReader } from '../journal.ts';
import type { AgentOverview } from './agent-overview.ts';
import { emptyBoard, extendBoard } from './status.ts';

/** Reads on from where it read last. */
export class MemberStates {
  readonly #open: () => JournalReader;
  readonly #board = emptyBoard();
  /** Agents that were told something to do. */
  readonly #asked = new Set<AgentId>();

  constructor(open: () => JournalReader) {
    this.#open = open;
  }

  /** `isHosted`: the process in which they work lives. It is to be asked before the members are read. */
  shown(members: readonly TeamMember[], isHosted: boolean): ShownMember[] {
    const hasBegun = members.some(({ agent }) => agent !== null);
    if (hasBegun) this.#readOn();
    return members.map((member) => shownMember(member, this.#find(member), isHosted));
  }

  /** A lead that has had no prompt yet is at nothing. */
  #find({ name, agent }: TeamMember): AgentOverview | undefined {
    if (agent === null || (name === LEAD && !this.#asked.has(agent))) return undefined;
    return this.#board.agents.get(agent);
  }

  #take(recorded: RecordedEvent): void {
    extendBoard(this.#board, recorded);
    if (recorded.agent !== null && recorded.event.type === 'message.appended')
      this.#asked.add(recorded.agent);
  }

  #readOn(): void {
    try {
      const reader = this.#open();
      try {
        for (const recorded of reader.events({ after: this.#board.seq })) this.#take(recorded);
      } finally {
        reader.close();
      }
    } catch (error) {
      // The journal was removed, or cannot be read: the roster is all that is known.
      if (!(error instanceof JournalError || error instanceof UserMistake)) throw error;
    }
  }
}

export function shownMember(
  member: TeamMember,
  agent: Pick<AgentOverview, 'status' | 'cause' | 'worktree'> | undefined,
  isHosted: boolean,
): ShownMember {
  const branch = agent?.worktree?.branch ?? null;
  return { ...member, branch, ...stateNow(member, agent, isHosted) };
}

function stateNow(
  { state }: TeamMember,
  agent: Pick<AgentOverview, 'status' | 'cause'> | undefined,
  isHosted: boolean,
): Pick<ShownMember, 'state' | 'cause'> {
  if (state === 'stopping' || state === 'stopped') return { state, cause: null };
  const status = agent?.status ?? (state === 'working' ? 'running' : 'done');
  if (!isHosted && isUnderWay(status)) return { state: 'interrupted', cause: 'process_ended' };
  if (isUnderWay(status)) return { state: status, cause: agent?.cause ?? null };
  // It has begun, and its journal does not say so yet.
  if (isHosted && state === 'working') return { state: 'running', cause: null };
  if (status === 'interrupted') return { state: status, cause: agent?.cause ?? null };
  return { state: 'idle', cause: null };
}
