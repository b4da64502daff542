/** Moves to a directory that a script does not name, or that lies outside an agent's worktree: `cd $X`. */
import { resolve } from 'node:path';
import { expandWord } from '../reading/expand-word.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import { viewsOf } from './command-views.ts';
import { expansionScene, type FenceScene, fedRefusal, pathRefusal } from './fence-scene.ts';

/** The first such move as it is written; null where every directory is named, and is the agent's own. */
export function untracedMove(scene: FenceScene): string | null {
  let at = scene.cwd;
  for (const { layers } of scene.understood.commands) {
    const to = afterCommand(scene, layers[0], at);
    if (to === null) return layers[0].source;
    at = to;
  }
  return null;
}

/** Where a command runs that stands behind moves to directories that variables hold. */
export function tracedPlace(scene: FenceScene, command: ShellCommand): string {
  let at = scene.cwd;
  for (const { layers } of scene.understood.commands) {
    if (layers[0] === command) break;
    at = afterCommand(scene, layers[0], at) ?? at;
  }
  return at;
}

/** Where the shell is after the command; null when nobody knows. */
function afterCommand(scene: FenceScene, command: ShellCommand, at: string): string | null {
  const view = viewsOf(command).find(({ program }) => /^(?:cd|pushd)$/.test(program));
  if (view === undefined) return at;
  const target = view.words.find(({ value }) => value === null || !/^-(?:[LPe@]+|-)$/.test(value));
  // Without a word it goes home, which is no agent's own.
  if (target === undefined) return view.program === 'cd' ? null : at;
  if (target.value === '-') return scene.cwd;
  const searched = [...command.assignments, ...scene.variables].some(
    ({ name, value }) => name === 'CDPATH' && value !== '',
  );
  return searched ? null : endOf(scene, target, at);
}

/** Where it leads from `at`; null when it may lead elsewhere. */
function endOf(scene: FenceScene, target: ShellWord, at: string): string | null {
  const ends: string[] = [];
  for (const { text, lead } of expandWord(target, expansionScene(scene))) {
    if (lead === 'unknown') return null;
    if (lead === 'computed' ? fedRefusal(scene) !== null : pathRefusal(scene, text, [at]) !== null)
      return null;
    ends.push(resolve(at, text));
  }
  // What follows may begin at any of them: the shortest is the nearest to the top.
  return ends.sort((one, other) => one.length - other.length)[0] ?? at;
}
