/**
 * Which branches may land when a check has to pass. All together are checked first; only when that fails are the culprits
 * looked for, by halves.
 *
 * Invariants
 * 1. The head that is returned has passed the check, or is the start.
 * 2. A branch is blamed only when everything before it passes and it together with that does not.
 * 3. Where the start itself fails, nobody is blamed and nothing lands.
 */

import type { Integration, IntegrationHead } from './integration.ts';
import type { CheckOutcome } from './run-check.ts';

export interface CheckedChain<Item> extends MergeChain<Item> {
  culprits: { item: Item; outcome: CheckOutcome }[];
  /** The check on the start, where it failed there. */
  startFails: CheckOutcome | null;
}

export interface CheckedWork<Item> {
  integrate: Integrate<Item>;
  check(head: IntegrationHead): Promise<CheckOutcome>;
}

export async function buildCheckedChain<Item>(
  start: IntegrationHead,
  items: readonly Item[],
  { integrate, check }: CheckedWork<Item>,
): Promise<CheckedChain<Item>> {
  const good: ChainStep<Item>[] = [];
  const aside: MergeChain<Item>['aside'] = [];
  const culprits: CheckedChain<Item>['culprits'] = [];
  let rest = items;
  for (;;) {
    const base = good.at(-1)?.head ?? start;
    const chain = await buildChain(base, rest, integrate);
    const steps = [...good, ...chain.steps];
    const done = { steps, aside: [...aside, ...chain.aside], culprits, startFails: null };
    if (chain.steps.length === 0) return done;
    const whole = await check(headOf(base, chain));
    if (whole.passed) return done;
    const ground = culprits.length === 0 ? await check(start) : null;
    if (ground !== null && !ground.passed) return { ...done, steps: [], startFails: ground };
    const { step, outcome } = await firstFailing(chain.steps, whole, check);
    culprits.push({ item: step.item, outcome });
    good.push(...chain.steps.slice(0, chain.steps.indexOf(step)));
    // What was set aside behind the culprit may fit without it.
    const position = rest.indexOf(step.item);
    aside.push(...chain.aside.filter(({ item }) => rest.indexOf(item) < position));
    rest = rest.slice(position + 1);
  }
}

async function firstFailing<Item>(
  steps: readonly ChainStep<Item>[],
  whole: CheckOutcome,
  check: (head: IntegrationHead) => Promise<CheckOutcome>,
): Promise<{ step: ChainStep<Item>; outcome: CheckOutcome }> {
  let passing = -1;
  let failing = steps.length - 1;
  let outcome = whole;
  while (failing - passing > 1) {
    const middle = Math.floor((passing + failing) / 2);
    const step = steps[middle];
    if (step === undefined) break;
    const found = await check(step.head);
    if (found.passed) passing = middle;
    else {
      failing = middle;
      outcome = found;
    }
  }
  const step = steps[failing];
  if (step === undefined) throw new Error('a chain without steps has no culprit');
  return { step, outcome };
}

/** Branches on top of each other, one at a time; those that do not fit are set aside and the rest goes on without them. */
export interface ChainStep<Item> {
  item: Item;
  head: IntegrationHead;
}

export interface SetAside<Item> {
  item: Item;
  outcome: Exclude<Integration, { kind: 'made' }>;
}

interface MergeChain<Item> {
  steps: ChainStep<Item>[];
  aside: SetAside<Item>[];
}

type Integrate<Item> = (head: IntegrationHead, item: Item) => Promise<Integration>;

async function buildChain<Item>(
  start: IntegrationHead,
  items: readonly Item[],
  integrate: Integrate<Item>,
): Promise<MergeChain<Item>> {
  const chain: MergeChain<Item> = { steps: [], aside: [] };
  let head = start;
  for (const item of items) {
    const outcome = await integrate(head, item);
    if (outcome.kind === 'made') {
      head = outcome.head;
      chain.steps.push({ item, head });
    } else chain.aside.push({ item, outcome });
  }
  return chain;
}

function headOf<Item>(start: IntegrationHead, { steps }: MergeChain<Item>): IntegrationHead {
  return steps.at(-1)?.head ?? start;
}
