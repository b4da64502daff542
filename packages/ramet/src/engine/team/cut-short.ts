/**
 * Members whose last run did not come to its own end: a person, a limit or an error has cut it short. What they had been told
 * by then is no reason to wake them: they would meet the same again, for as long as the session lasts. Something new is, and so is a
 * prompt for the lead. What they have not read stays unread on record.
 */
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';

export class CutShort {
  readonly #team: StoredTeam;
  /** By name: the last message that its own record has. */
  readonly #had = new Map<string, number>();

  constructor(team: StoredTeam) {
    this.#team = team;
  }

  ended(name: string, { state }: Agent, { status }: Pick<AgentResult, 'status'>): void {
    if (status !== 'done') this.#had.set(name, state.mail);
  }

  has(name: string): boolean {
    return this.#had.has(name);
  }

  /** Whether messages wait that are a reason to wake it. */
  isWrittenTo(name: string): boolean {
    const had = this.#had.get(name);
    return had === undefined || this.#team.mail.unread(name, had).length > 0;
  }

  /** It works again. */
  begins(name: string): void {
    this.#had.delete(name);
  }

  forget(): void {
    this.#had.clear();
  }
}
