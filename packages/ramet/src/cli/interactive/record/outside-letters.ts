/**
 * What other processes write to the lead of a team that this terminal hosts (`ramet team send lead`, `ramet team attach`).
 * Each message is shown as it comes, and wakes the lead as the message of a member does.
 *
 * Invariant: the lead is not woken while a question is open or work of an earlier process waits for a yes. What came
 * meanwhile wakes it when the question is answered, or goes with the next prompt.
 */
import type { AgentId } from '../../../schema/ids.ts';
import type { SessionOptions } from '../../../sdk/options.ts';
import { excerpt } from '../../../views/text/format.ts';
import { type CommandIo, callFrom } from '../../io.ts';
import type { Chat } from '../chat/chat.ts';
import type { QuestionDesk } from '../chat/questions/question-desk.ts';

type Recorded = Parameters<NonNullable<SessionOptions['onRecord']>>[1];

interface LetterReader {
  readonly chat: Pick<Chat, 'session' | 'openWork' | 'lastExchanges'>;
  readonly io: CommandIo;
  readonly worker: {
    /** The last turn did not come to its end: only a person has it continue. */
    readonly isPaused: boolean;
    newsCame(): void;
  };
  readonly desk: Pick<QuestionDesk, 'isEmpty'>;
  say(line: string): void;
}

const SHOWN_LENGTH = 400;

export class OutsideLetters {
  readonly #waiting = new Set<string>();
  #reader: LetterReader | null = null;
  #opening: string | null = null;

  /** Nothing is shown before. */
  deliverTo(reader: LetterReader): void {
    this.#reader = reader;
  }

  /** The terminal can show them: what was sent while no process hosted the team comes now. */
  async fetchEarlier(): Promise<void> {
    const reader = this.#reader;
    const isWritten = reader?.chat.session?.team?.members().some(({ unread }) => unread > 0);
    if (reader === null || isWritten !== true) return;
    const { lookForLetters } = await import('../../../sdk/calls/teams.ts');
    lookForLetters(callFrom(reader.io));
  }

  /** Whether the lead has some that are in no request yet. */
  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** A lead that has had no prompt begins with this one; null for any other. */
  get opening(): string | null {
    return this.areWaiting && this.#reader?.chat.lastExchanges(1).length === 0 ? this.#opening : null;
  }

  recorded(agent: AgentId | null, event: Recorded): void {
    if (agent === null || agent !== this.#reader?.chat.session?.agent.id) return;
    if (event.type === 'message.received') {
      const { item, from, mail } = event;
      if (from !== null || mail === undefined) return;
      this.#waiting.add(item);
      // Other messages may be on their way with it.
      queueMicrotask(() => void this.#came(item, mail));
    } else if (event.type === 'message.taken') this.#waiting.delete(event.item);
    else if (event.type === 'message.appended')
      for (const item of event.delivers ?? []) this.#waiting.delete(item);
  }

  /** A question was answered or withdrawn. */
  look(): void {
    if (this.areWaiting && this.#mayWake) this.#reader?.worker.newsCame();
  }

  get #mayWake(): boolean {
    const reader = this.#reader;
    return reader?.desk.isEmpty === true && reader.chat.openWork.length === 0;
  }

  async #came(item: string, mail: number): Promise<void> {
    const reader = this.#reader;
    const team = reader?.chat.session?.id;
    if (reader === null || team === undefined) return;
    const { TEAM_BEGINS, textOfLetter } = await import('../../../sdk/calls/teams.ts');
    this.#opening = TEAM_BEGINS;
    const text = excerpt(textOfLetter(team, mail, callFrom(reader.io)) ?? '', SHOWN_LENGTH);
    const waits = reader.worker.isPaused || reader.chat.openWork.length > 0;
    const when = this.#waiting.has(item) && waits ? ' (read with your next prompt)' : '';
    reader.say(`message from the command line: ${text}${when}`);
    this.look();
  }
}
