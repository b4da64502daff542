/** Says of an agent that it waits for its provider, once for each wait, and that it goes on (MODEL-2). */
import type { Agent } from '../agent/agent.ts';

export const PROVIDER_CAUSE = 'provider';

export class ProviderWait {
  readonly #agent: Agent;
  #waits = false;
  #hasFailed = false;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  begin(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#agent.setStatus('waiting', PROVIDER_CAUSE);
  }

  /** An attempt has failed: it waits until an answer begins, also while it tries again. */
  failed(): void {
    this.#hasFailed = true;
    this.begin();
  }

  /** Others found that the provider is there. */
  mayGo(): void {
    if (!this.#hasFailed) this.end();
  }

  end(): void {
    this.#hasFailed = false;
    if (!this.#waits) return;
    this.#waits = false;
    this.#agent.setStatus('running', null);
  }
}
