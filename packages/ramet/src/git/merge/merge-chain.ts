/** Branches on top of each other, one at a time; those that do not fit are set aside and the rest goes on without them. */
import type { Integration, IntegrationHead } from './integration.ts';

export interface ChainStep<Item> {
  item: Item;
  head: IntegrationHead;
}

export interface SetAside<Item> {
  item: Item;
  outcome: Exclude<Integration, { kind: 'made' }>;
}

export interface MergeChain<Item> {
  steps: ChainStep<Item>[];
  aside: SetAside<Item>[];
}

export type Integrate<Item> = (head: IntegrationHead, item: Item) => Promise<Integration>;

export async function buildChain<Item>(
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

export function headOf<Item>(start: IntegrationHead, { steps }: MergeChain<Item>): IntegrationHead {
  return steps.at(-1)?.head ?? start;
}
