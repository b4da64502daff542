/**
 * Where a shell may be after each command of a script.
 *
 * Invariants
 * 1. Every directory that the shell can be in is among the places; what cannot be followed makes all of them unknown.
 * 2. A `cd` that fails leaves the shell where it was, and what `cd -` and `popd` mean with it.
 */
import { isMove, mayMove, steersMoves } from './moving-words.ts';
import { reachedDirectories } from './reach-directory.ts';
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

export interface ShellPlace {
  readonly at: string;
  /** What `cd -` means; null before the first move. */
  readonly before: string | null;
  /** What `popd` goes back to, the next one first. */
  readonly stack: readonly string[];
}

/** Null when they are not known. */
export type ShellPlaces = readonly ShellPlace[] | null;

/** Where the shell is after a command, by how the command ended. */
export interface ShellMove {
  readonly succeeded: ShellPlaces;
  readonly failed: ShellPlaces;
}

/** What the commands before a move say about it. */
export interface MoveGround {
  variables: readonly ShellAssignment[];
  /** Something ran that may have taken directories away. */
  touched: boolean;
  /** A variable that `cd` looks at may be set, or what `popd` goes back to is not known. */
  steered: boolean;
  /** Which has commands and habits that other shells do not have. */
  isBash: boolean;
}

/** One simple command as written. */
export interface MoveCommand {
  words: readonly ShellWord[];
  assignments: readonly ShellAssignment[];
  /** It does not run where the file of a redirect cannot be opened. */
  redirected?: boolean;
}

const MOST_PLACES = 16;

export function placesAt(directories: readonly string[] | null): ShellPlaces {
  return directories?.map((at) => ({ at, before: null, stack: [] })) ?? null;
}

export function directoriesOf(places: ShellPlaces): readonly string[] | null {
  return places === null ? null : [...new Set(places.map(({ at }) => at))];
}

export function staying(places: ShellPlaces): ShellMove {
  return { succeeded: places, failed: places };
}

/** An empty list is what cannot happen. */
export function eitherPlace(...all: readonly ShellPlaces[]): ShellPlaces {
  const possible = all.filter((places) => places?.length !== 0);
  const [first = []] = possible;
  if (possible.every((places) => places === first)) return first;
  const found = new Map<string, ShellPlace>();
  for (const places of possible) {
    if (places === null) return null;
    for (const place of places) found.set(JSON.stringify(place), place);
  }
  return found.size > MOST_PLACES ? null : [...found.values()];
}

/** `left && right` or `left || right`, where the right one began at what the left one ended with. */
export function chained(left: ShellMove, sign: string, right: ShellMove): ShellMove {
  return sign === '&&'
    ? { succeeded: right.succeeded, failed: eitherPlace(left.failed, right.failed) }
    : { succeeded: eitherPlace(left.succeeded, right.succeeded), failed: right.failed };
}

/** What one command makes of the places that the shell may be in. */
export function moved(places: ShellPlaces, command: MoveCommand, ground: MoveGround): ShellMove {
  const { words, assignments, redirected = false } = command;
  const [name = null, ...operands] = words.map(({ value }) => value);
  if (places === null) return UNKNOWN;
  if (!isMove(name)) return staying(mayMove(words) ? null : places);
  const steered = ground.steered || [...assignments, ...ground.variables].some(steersMoves);
  const isStrange = name !== 'cd' && !ground.isBash;
  if (steered || isStrange) return UNKNOWN;
  const outcomes = places.map((place) => movedFrom(place, name ?? '', operands, ground));
  const failures = outcomes.map(({ failed }) => failed);
  return {
    succeeded: eitherPlace(...outcomes.map(({ succeeded }) => succeeded)),
    failed: eitherPlace(...failures, redirected ? places : []),
  };
}

const UNKNOWN: ShellMove = { succeeded: null, failed: null };

function movedFrom(
  place: ShellPlace,
  name: string,
  operands: readonly (string | null)[],
  ground: MoveGround,
): ShellMove {
  if (name === 'popd') return operands.length === 0 ? popped(place, ground) : UNKNOWN;
  const options = name === 'cd' ? optionsOf(operands) : [];
  const rest = operands.slice(options.length);
  const [to, ...more] = rest[0] === '--' ? rest.slice(1) : rest;
  const { at, before, stack } = place;
  if (to === null || more.length > 0 || to === undefined || to === '' || /^[-+]./.test(to)) return UNKNOWN;
  const named = to === '-' ? before : to;
  if (named === null) return UNKNOWN;
  return reachedPlaces(place, named, {
    stack: name === 'pushd' ? [at, ...stack] : stack,
    physically: options.at(-1) === '-P',
    touched: ground.touched,
  });
}

function optionsOf(operands: readonly (string | null)[]): readonly (string | null)[] {
  const first = operands.findIndex((value) => value !== '-L' && value !== '-P');
  return first === -1 ? operands : operands.slice(0, first);
}

function popped(place: ShellPlace, { touched }: MoveGround): ShellMove {
  const [top, ...rest] = place.stack;
  if (top === undefined) return { succeeded: [], failed: [place] };
  return reachedPlaces(place, top, { stack: rest, physically: false, touched });
}

interface Step {
  /** The stack after it. */
  stack: readonly string[];
  physically: boolean;
  touched: boolean;
}

function reachedPlaces(place: ShellPlace, to: string, { stack, physically, touched }: Step): ShellMove {
  const ends = reachedDirectories(place.at, to, { physically, touched });
  if (ends === null) return UNKNOWN;
  const succeeded = ends.directories.map((at) => ({ at, before: place.at, stack }));
  return { succeeded, failed: ends.isSure ? [] : [place] };
}
