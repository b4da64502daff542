/**
 * Work that nobody waits for gives way to work that holds up others: an agent that starts, before what is left to do for one that
 * has ended. Both need the cores, and a model that could think meanwhile waits for the first.
 */
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

const LOOK_MS = 5;

/** Each says whether something starts at the moment. Of the process, not of a session: all its sessions share the cores. */
const asked = new Set<() => boolean>();

/** Until it is disposed of, `giveWay` waits while it is true. It must become false by itself before long. */
export function firstOf(isStarting: () => boolean): Disposable {
  asked.add(isStarting);
  return { [Symbol.dispose]: () => void asked.delete(isStarting) };
}

export async function giveWay(): Promise<void> {
  if (asked.size === 0) return;
  // What has just ended lets others begin: they get the chance to say so.
  await turn();
  while ([...asked].some((isStarting) => isStarting())) await wait(LOOK_MS);
}
