/** Notices agents that have been silent for longer than the stall limit (AGENT-7): once for each silence. */
import { LONGEST_TIMER_MS } from '../../schema/clock.ts';
import type { Agent } from '../agent/agent.ts';

/** How often it looks, as a share of the limit. */
const SHARE = 0.25;

export class StallWatch implements Disposable {
  readonly #limitMs: number;
  readonly #onStall: (agent: Agent, silentMs: number) => void;
  readonly #lastSign = new Map<Agent, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(limitMs: number, onStall: (agent: Agent, silentMs: number) => void) {
    this.#limitMs = limitMs;
    this.#onStall = onStall;
  }

  /** The agent has just done something, or been told to. */
  noteLife(agent: Agent): void {
    this.#lastSign.set(agent, agent.runtime.clock.now());
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => this.look(), Math.min(this.#limitMs * SHARE, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  /** It has ended, or waits for others: silence means nothing now. */
  forget(agent: Agent): void {
    this.#lastSign.delete(agent);
    if (this.#lastSign.size === 0) this[Symbol.dispose]();
  }

  look(): void {
    for (const [agent, since] of this.#lastSign) {
      const silentMs = agent.runtime.clock.now() - since;
      if (silentMs < this.#limitMs) continue;
      this.#lastSign.set(agent, Number.POSITIVE_INFINITY);
      this.#onStall(agent, silentMs);
    }
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
