/** Where a script begins that a command of another script carries, and what that one says about its moves. */
import { landingPath } from '../../../system/landing-path.ts';
import { leavesDirectories, steersMoves } from './moving-words.ts';
import type { MoveKnowledge } from './script-ground.ts';
import { type ExactReading, hasLoops } from './script-scan.ts';
import type { ShellCommand, ShellReading } from './shell-reading.ts';

export interface PlaceInside {
  directories: readonly string[] | null;
  known: MoveKnowledge;
}

/** A shell runs what these name before its script. */
const RUNS_FIRST = /^(?:BASH_ENV|ENV)$/;

/** `layers`: the command and what it wraps, the carrier last. */
export function placeInside(
  layers: readonly ShellCommand[],
  around: ShellReading & Partial<Pick<ExactReading, 'steered' | 'features'>>,
  known: MoveKnowledge,
): PlaceInside {
  const [outer] = layers;
  const variables = [...around.variables, ...layers.flatMap(({ assignments }) => assignments)];
  const others = around.commands.filter((command) => command !== outer);
  const directories = variables.some(({ name }) => RUNS_FIRST.test(name)) ? null : outer?.directories;
  const isAgain = runsAgain(outer, around.features);
  const touched =
    known.touched || isAgain || others.some(({ words }) => !leavesDirectories(words[0]?.value ?? null));
  // What `eval` runs shares the stack of directories.
  const hasStack = others.some(({ words }) => words.some(({ value }) => value === 'pushd'));
  const steered = known.steered || around.steered || hasStack || variables.some(steersMoves);
  return { directories: withLandings(directories ?? null), known: { touched, steered } };
}

/** Each round finds what the last one left. */
function runsAgain(outer: ShellCommand | undefined, features: ReadonlySet<string> | undefined): boolean {
  const isLoop = features === undefined || hasLoops(features);
  return isLoop || outer?.words.some(({ value }) => value === 'xargs') === true;
}

/** A new shell may know its directory by the name that the links in it lead to. */
function withLandings(directories: readonly string[] | null): readonly string[] | null {
  if (directories === null) return null;
  return [...new Set([...directories, ...directories.map((each) => landingPath(each) ?? each)])];
}
