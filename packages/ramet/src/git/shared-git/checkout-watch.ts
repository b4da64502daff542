/**
 * What a checkout was when an agent got its worktree, kept until the agent has ended (WORK-9). Agents that start together
 * share one look at it: a look costs about a millisecond, and the launch of many is not to wait for it.
 */

import { describeError } from '../../schema/errors.ts';
import { isHookAtWork } from '../worktrees/half-made.ts';
import type { WorktreePlace } from '../worktrees/worktree-place.ts';
import { createCheckouts } from './checkout.ts';
import { type ChangeWatch, checkoutChanges } from './checkout-changes.ts';
import { type CheckoutState, closeCheckoutState, readCheckoutState } from './checkout-state.ts';

interface SharedState {
  readonly state: CheckoutState | null;
  readonly taken: number;
  holders: number;
}

/** By the root of the checkout. */
export type SharedStates = Map<string, SharedState>;

export interface CheckoutWatch {
  /** What nobody known has changed since. Never rejects. To be called once: it ends the watch. */
  end(agent: string | null): Promise<string[]>;
}

const SHARED_MS = 50;

export function watchCheckout(states: SharedStates, place: WorktreePlace): CheckoutWatch {
  const shared = sharedState(states, place);
  shared.holders += 1;
  return {
    async end(agent) {
      try {
        return shared.state === null ? [] : await checkoutChanges(shared.state, watchOf(place, agent));
      } catch (error) {
        return [`whether it changed is not known: ${describeError(error)}`];
      } finally {
        shared.holders -= 1;
        if (shared.holders === 0 && shared.state !== null) closeCheckoutState(shared.state);
      }
    },
  };
}

function sharedState(states: SharedStates, { repository }: WorktreePlace): SharedState {
  const last = states.get(repository.root);
  const now = performance.now();
  if (last !== undefined && last.holders > 0 && now - last.taken < SHARED_MS) return last;
  const fresh = { state: readCheckoutState(repository, last?.state), taken: now, holders: 0 };
  states.set(repository.root, fresh);
  return fresh;
}

function watchOf(place: WorktreePlace, agent: string | null): ChangeWatch {
  const { repository, env, home, registry } = place;
  return {
    ...{ repository, env, agent },
    ofHooks: () => registry.list().flatMap(({ facts }) => facts.hook?.branch ?? []),
    isHookAtWork: () => registry.list().some((row) => isHookAtWork(place, row)),
    others: () =>
      createCheckouts({ home, environment: env })
        .at(repository.root)
        ?.others(agent ?? '') ?? [],
  };
}
