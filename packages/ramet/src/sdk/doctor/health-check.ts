/**
 * One thing that `ramet doctor` looks at. A check never throws, sends nothing anywhere and changes nothing but
 * temporary files of its own; what it finds is a value with, where something is amiss, what to do.
 */

import type { Caller } from '../calls/caller.ts';
import type { Place } from '../place.ts';

/** `limited`: works, with something less. `missing`: needed, and not there. */
export type HealthState = 'ok' | 'limited' | 'missing';

export interface HealthCheck {
  name: string;
  state: HealthState;
  found: string;
  /** What to do about it; null where there is nothing to do. */
  remedy: string | null;
}

export interface DoctorContext {
  caller: Caller;
  place: Place;
}

export function ok(name: string, found: string): HealthCheck {
  return { name, state: 'ok', found, remedy: null };
}

export function limited(name: string, found: string, remedy: string | null): HealthCheck {
  return { name, state: 'limited', found, remedy };
}

export function missing(name: string, found: string, remedy: string): HealthCheck {
  return { name, state: 'missing', found, remedy };
}
