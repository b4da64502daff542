/**
 * Where a shell may be after each command of a script.
 *
 * Invariants
 * 1. Every directory that the shell can be in is among the places; what cannot be followed makes all of them unknown.
 * 2. A `cd` that fails leaves the shell where it was. It counts as sure to succeed only where the directory is there now
 *    and nothing ran before it that could take a directory away.
 * 3. Names are joined as the shell does it: `..` takes the last name away, also where that name is a link. Where no such
 *    directory is there, the shell tries the name as the system reads it.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openedPath } from '../../../system/landing-path.ts';
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
  /** Which has commands and habits that other shells do not have. */
  isBash: boolean;
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

/** These may change the directory, or how names of directories are read. */
const MOVES = /^(?:cd|pushd|popd|eval|source|\.|shopt|dirs|enable)$/;
const PASSES_ON = /^(?:command|builtin|exec|time|env|nice|nohup|timeout|stdbuf)$/;
/** Variables that `cd` looks at. */
const STEERS = /^(?:CDPATH|OLDPWD|PWD|HOME|DIRSTACK)$/;

/** What one command makes of the places that the shell may be in. */
export function moved(
  places: ShellPlaces,
  { words, assignments }: { words: readonly ShellWord[]; assignments: readonly ShellAssignment[] },
  ground: MoveGround,
): ShellMove {
  const [name = null, ...operands] = words.map(({ value }) => value);
  if (!/^(?:cd|pushd|popd)$/.test(name ?? '')) return staying(mayMove(name, operands) ? null : places);
  const steered = [...assignments, ...ground.variables].some((variable) => STEERS.test(variable.name));
  const isStrange = name !== 'cd' && !ground.isBash;
  if (places === null || steered || isStrange) return staying(null);
  const outcomes = places.map((place) => movedFrom(place, name ?? '', operands, ground));
  return {
    succeeded: eitherPlace(...outcomes.map(({ succeeded }) => succeeded)),
    failed: eitherPlace(...outcomes.map(({ failed }) => failed)),
  };
}

function mayMove(name: string | null, operands: readonly (string | null)[]): boolean {
  if (name === 'set') return operands.some((value) => value === null || /^[-+]\w*P|physical/.test(value));
  if (PASSES_ON.test(name ?? '')) return operands.some((value) => MOVES.test(value ?? ''));
  return MOVES.test(name ?? '');
}

const UNKNOWN: ShellMove = { succeeded: null, failed: null };

function movedFrom(
  place: ShellPlace,
  name: string,
  operands: readonly (string | null)[],
  ground: MoveGround,
): ShellMove {
  const [to, ...more] = operands.slice(optionCount(operands));
  if (to === null || more.length > 0) return UNKNOWN;
  const { at, before, stack } = place;
  if (name === 'popd') return to === undefined ? popped(place, ground) : UNKNOWN;
  if (to === undefined || /^[-+]./.test(to) || (to === '-' && before === null)) return UNKNOWN;
  const kept = name === 'pushd' ? [at, ...stack] : stack;
  const physically = operands.slice(0, optionCount(operands)).includes('-P');
  const named = to === '-' ? (before ?? at) : to;
  return reached(place, physically ? (openedPath(at, named) ?? named) : named, kept, ground);
}

function optionCount(operands: readonly (string | null)[]): number {
  const first = operands.findIndex((value) => value !== '-L' && value !== '-P');
  return operands[first] === '--' ? first + 1 : first === -1 ? operands.length : first;
}

function popped(place: ShellPlace, ground: MoveGround): ShellMove {
  const [top, ...rest] = place.stack;
  return top === undefined ? { succeeded: [], failed: [place] } : reached(place, top, rest, ground);
}

function reached(place: ShellPlace, to: string, stack: readonly string[], ground: MoveGround): ShellMove {
  const logical = resolve(place.at, to);
  const isSure = !ground.touched && isOpenDirectory(logical);
  const physical = isSure || climbs(to, logical) ? null : openedPath(place.at, to);
  const ends = physical === null || physical === openedPath('/', logical) ? [logical] : [logical, physical];
  const succeeded = ends.map((at) => ({ at, before: place.at, stack }));
  return { succeeded, failed: isSure ? [] : [place] };
}

/** To a directory above that is there: what the shell is in goes away before that one does. */
function climbs(to: string, logical: string): boolean {
  return /^\.\.(?:\/\.\.)*\/?$/.test(to) && isOpenDirectory(logical);
}

function isOpenDirectory(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const LEAVES_DIRECTORIES =
  /^(?:cd|pushd|popd|pwd|echo|printf|ls|cat|head|tail|wc|grep|rg|true|false|:|test|\[|exit|export|set|date|which|type|dirname|basename|readlink|realpath)$/;

/** Whether directories are what they were after a command of this name. */
export function leavesDirectories(name: string | null): boolean {
  return LEAVES_DIRECTORIES.test(name ?? '');
}

/** `exit`, which nothing after it in its shell comes after. With more words, or a redirect, it can fail. */
export function endsShell(words: readonly ShellWord[]): boolean {
  const [name, status, ...more] = words.map(({ value }) => value);
  return name === 'exit' && more.length === 0 && (status === undefined || /^\d{1,3}$/.test(status ?? ''));
}
