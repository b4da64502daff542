/**
 * What one run of an agent has spent and whether that is too much (RES-2, one agent). Dollars count only while
 * every response had a price: an unknown cost makes a dollar limit unenforceable, which is refused up front.
 */
import type { BudgetLimits } from '../schema/status.ts';
import { addCost, addUsage, NO_USAGE, totalTokens, type Usage } from '../schema/usage.ts';

/** From this share of a limit on, the agent is told to finish. */
const NEAR = 0.8;

export type BudgetState = { level: 'within' | 'near' | 'over'; what: string };

export class Spending {
  readonly #limits: BudgetLimits;
  readonly #startedAt: number;
  usage: Usage = NO_USAGE;
  costUsd: number | null = 0;

  constructor(limits: BudgetLimits, startedAt: number) {
    this.#limits = limits;
    this.#startedAt = startedAt;
  }

  add(usage: Usage, costUsd: number | null): void {
    this.usage = addUsage(this.usage, usage);
    this.costUsd = addCost(this.costUsd, costUsd);
  }

  /** The limit that is closest to being reached, and how close. */
  state(now: number): BudgetState {
    const { usd, tokens, seconds } = this.#limits;
    const shares = [
      usd === undefined
        ? null
        : { share: this.costUsd === null ? 1 : this.costUsd / usd, what: `$${this.#dollars()} of $${usd}` },
      tokens === undefined
        ? null
        : {
            share: totalTokens(this.usage) / tokens,
            what: `${totalTokens(this.usage)} of ${tokens} tokens`,
          },
      seconds === undefined ? null : this.#time(now, seconds),
    ].filter((entry) => entry !== null);
    const worst = shares.sort((a, b) => b.share - a.share)[0];
    if (worst === undefined) return { level: 'within', what: '' };
    return { level: worst.share >= 1 ? 'over' : worst.share >= NEAR ? 'near' : 'within', what: worst.what };
  }

  #dollars(): string {
    return this.costUsd === null ? '(unknown)' : this.costUsd.toFixed(4);
  }

  #time(now: number, seconds: number): { share: number; what: string } {
    const spent = (now - this.#startedAt) / 1000;
    return { share: spent / seconds, what: `${spent.toFixed(0)} of ${seconds} seconds` };
  }
}
