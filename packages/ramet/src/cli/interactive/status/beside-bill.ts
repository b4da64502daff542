/** The bill of forks in the background. Who listens to the session does not hear of them; the record has them. */
import type { JournalEvent } from '../../../schema/events.ts';
import type { BilledPart } from '../chat/chat-tally.ts';

export class BesideBill {
  readonly #forks = new Set<string>();
  readonly #onPart: (part: BilledPart) => void;

  constructor(onPart: (part: BilledPart) => void) {
    this.#onPart = onPart;
  }

  recorded(agent: string | null, event: JournalEvent): void {
    if (agent === null) return;
    if (event.type === 'agent.started' && event.origin?.source !== undefined) this.#forks.add(agent);
    if (!this.#forks.has(agent)) return;
    if (event.type === 'response.completed') this.#onPart(event);
    if (event.type === 'request.failed' && event.usage !== null)
      this.#onPart({ usage: event.usage, costUsd: event.costUsd, responses: 0 });
  }
}
