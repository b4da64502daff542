/**
 * What a run of an agent has spent and whether that is too much (RES-2). Spendings form a tree: what a child spends
 * counts against the limits of all its ancestors, and an agent that has reached any of them stops.
 *
 * Invariants
 * 1. `usage` and `costUsd` are the run's own; `totalUsage` and `totalCostUsd` are those of the run and all below it,
 *    and these are what limits are held against.
 * 2. Dollars count only while every response had a price, tokens while every count was possible: what is unknown
 *    reaches every limit of its kind above it.
 */
import type { BudgetLimits } from '../../schema/status.ts';
import { addCost, addUsage, isUncertain, NO_USAGE, totalTokens, type Usage } from '../../schema/usage.ts';

/** From this share of a limit on, the agent is told to finish. */
const NEAR = 0.8;

export interface BudgetState {
  level: 'within' | 'near' | 'over';
  /** The limit that is closest; null without limits. */
  limit: keyof BudgetLimits | null;
  /** How close, and whose limit it is when it is not the agent's own. */
  what: string;
}

export interface SpendingPlace {
  /** Whose budget this is, as descendants are told: `session`, `main agent`. */
  label?: string | undefined;
  parent?: Spending | undefined;
}

/** One spending of a chain as plain data, for a process that holds budgets it does not keep itself (EXEC-2). */
export interface SpendingRecord {
  limits: BudgetLimits;
  startedAt: number;
  label: string;
  totalUsage: Usage;
  totalCostUsd: number | null;
}

interface Spent {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** What a run had taken before the process that ran it ended. */
export interface CarriedSpending extends Spent {
  readonly turns: number;
  /** What the agents below it had taken. */
  readonly below: Spent;
}

interface LimitShare {
  limit: keyof BudgetLimits;
  share: number;
  what: string;
}

export class Spending {
  readonly #limits: BudgetLimits;
  readonly #startedAt: number;
  readonly #label: string;
  readonly #parent: Spending | undefined;
  usage: Usage = NO_USAGE;
  costUsd: number | null = 0;
  totalUsage: Usage = NO_USAGE;
  totalCostUsd: number | null = 0;

  constructor(limits: BudgetLimits, startedAt: number, { label, parent }: SpendingPlace = {}) {
    this.#limits = limits;
    this.#startedAt = startedAt;
    this.#label = label ?? 'parent agent';
    this.#parent = parent;
  }

  add(usage: Usage, costUsd: number | null): void {
    this.usage = addUsage(this.usage, usage);
    this.costUsd = addCost(this.costUsd, costUsd);
    for (const each of this.#upwards()) {
      each.totalUsage = addUsage(each.totalUsage, usage);
      each.totalCostUsd = addCost(each.totalCostUsd, costUsd);
    }
  }

  /** Takes over what an earlier process had spent on the same work: its ancestors' runs of now did not. */
  carry({ usage, costUsd, below }: CarriedSpending): void {
    this.usage = addUsage(this.usage, usage);
    this.costUsd = addCost(this.costUsd, costUsd);
    this.totalUsage = addUsage(addUsage(this.totalUsage, usage), below.usage);
    this.totalCostUsd = addCost(addCost(this.totalCostUsd, costUsd), below.costUsd);
  }

  /** The limit, of the run or of an ancestor, that is closest to being reached, and how close. */
  state(now: number): BudgetState {
    let worst: LimitShare | null = null;
    for (const each of this.#upwards()) {
      for (const share of each.#shares(now)) {
        if (worst !== null && worst.share >= share.share) continue;
        worst = each === this ? share : { ...share, what: `the ${each.#label}'s budget: ${share.what}` };
      }
    }
    if (worst === null) return { level: 'within', limit: null, what: '' };
    const { share, limit, what } = worst;
    return { level: share >= 1 ? 'over' : share >= NEAR ? 'near' : 'within', limit, what };
  }

  /** Itself and everything above it, itself first. */
  records(): SpendingRecord[] {
    return Array.from(this.#upwards(), (each) => ({
      limits: each.#limits,
      startedAt: each.#startedAt,
      label: each.#label,
      totalUsage: each.totalUsage,
      totalCostUsd: each.totalCostUsd,
    }));
  }

  /** The spending that `records` tell of, the first of them below all others; undefined for none. */
  static of(records: readonly SpendingRecord[]): Spending | undefined {
    return records.reduceRight<Spending | undefined>((parent, { limits, startedAt, label }) => {
      return new Spending(limits, startedAt, { label, parent });
    }, undefined);
  }

  /** Takes over the totals of a chain of the same length: where they are kept is where all of them are known. */
  follow(records: readonly SpendingRecord[]): void {
    let index = 0;
    for (const each of this.#upwards()) {
      const { totalUsage, totalCostUsd } = records[index++] ?? each;
      each.totalUsage = totalUsage;
      each.totalCostUsd = totalCostUsd;
    }
  }

  /** Itself first, so that of equal limits its own is named. */
  *#upwards(): Generator<Spending> {
    for (let each: Spending | undefined = this; each !== undefined; each = each.#parent) yield each;
  }

  #shares(now: number): LimitShare[] {
    const { usd, tokens, seconds } = this.#limits;
    const spent = isUncertain(this.totalUsage) ? null : totalTokens(this.totalUsage);
    const elapsed = (now - this.#startedAt) / 1000;
    const cost = this.totalCostUsd;
    const shares: LimitShare[] = [];
    const add = (limit: keyof BudgetLimits, most: number, taken: number | null, what: string): void => {
      shares.push({ limit, share: taken === null ? 1 : taken / most, what });
    };
    if (usd !== undefined)
      add('usd', usd, cost, `$${cost === null ? '(unknown)' : cost.toFixed(4)} of $${usd}`);
    if (tokens !== undefined) add('tokens', tokens, spent, `${spent ?? '(unknown)'} of ${tokens} tokens`);
    if (seconds !== undefined)
      add('seconds', seconds, elapsed, `${elapsed.toFixed(0)} of ${seconds} seconds`);
    return shares;
  }
}
