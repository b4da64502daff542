/**
 * A place for a heavy command of an agent (OP-3): those of all agents and the checks of all merges on this machine share as many
 * as it has cores. Everybody takes one; only who finds none waits. The wait is no part of the command's time, and shows as progress.
 *
 * Nobody waits in a circle: what a command starts, and what its agent runs while it is in the background, takes turns in its
 * place. A command in the background keeps its place for a while only, since it may be a server that its agent never ends.
 */
import { describeError } from '../../schema/errors.ts';
import { busyText, type CheckSlots, type HeldSlot, takeSlot } from '../../system/check-slots.ts';
import type { HeavyPlace } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { reportProgress } from '../loop/stop-reason.ts';

/** As long as a command in the foreground may take at most. */
const LONGEST_IN_BACKGROUND_MS = 600_000;

export interface HeavyCall {
  readonly slots: CheckSlots;
  readonly signal: AbortSignal;
}

/** Null if it was interrupted meanwhile, or if places cannot be had: a command runs without one rather than not at all. */
export async function heavyPlace(
  agent: Agent,
  command: string,
  { slots, signal }: HeavyCall,
): Promise<HeavyPlace | null> {
  let hasWaited = false;
  const onWait = (running: number): void => {
    hasWaited = true;
    const text = `waiting for a place: ${busyText(running)}`;
    // The progress of the main agent is its text.
    if (agent.spec.parent === null) agent.warn('place_waited', text);
    else reportProgress(agent, text);
  };
  const { here } = agent;
  try {
    const slot = await takeSlot({ ...slots, within: here.slots.at(-1) ?? slots.within }, { signal, onWait });
    if (hasWaited) reportProgress(agent, command);
    return placeOf(agent, slot);
  } catch (error) {
    if (!signal.aborted) agent.warn('no_place', `heavy commands take no turns here: ${describeError(error)}`);
    return null;
  }
}

function placeOf({ here, runtime: { clock } }: Agent, slot: HeldSlot): HeavyPlace {
  return {
    environment: slot.environment,
    keepUntil(ended) {
      const over = new AbortController();
      here.slots = [...here.slots, slot.name];
      const free = (): void => {
        over.abort();
        here.slots = here.slots.filter((name) => name !== slot.name);
        slot[Symbol.dispose]();
      };
      void clock.sleep(LONGEST_IN_BACKGROUND_MS, over.signal, { keepsAlive: false }).then(free);
      void ended.finally(free);
    },
    [Symbol.dispose]: () => slot[Symbol.dispose](),
  };
}
