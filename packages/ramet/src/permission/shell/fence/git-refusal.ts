/** Why a git command may not run in an agent's worktree (WORK-7): where it is sent, what it writes and what it shares. */
import { lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isBareDirectory, linkedDirectory } from '../../../git/repository.ts';
import { isGuarded, type WriteFence } from '../../../sandbox/write-fence.ts';
import { isInside, openedPath } from '../../../system/landing-path.ts';
import { expandWord } from '../reading/expand-word.ts';
import type { ShellAssignment, ShellCommand } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import { type CommandView, viewsOf } from './command-views.ts';
import { type FencedGitCall, gitCall, gitWrites, sharedRefusal, steering } from './fence-git.ts';
import {
  expansionScene,
  type FenceScene,
  notHere,
  outside,
  pathRefusal,
  targetRefusal,
} from './fence-scene.ts';
import { configWrite, hasOwnConfig } from './git-config.ts';
import { isBranchStart, refRefusal } from './git-refs.ts';
import { tracedPlace } from './untraced-move.ts';

interface GitSetting {
  outer: ShellCommand;
  inner: ShellCommand;
  /** It is known to read only. */
  isReader: boolean;
}

export function gitRefusal(scene: FenceScene, view: CommandView, setting: GitSetting): string | null {
  const { outer, inner, isReader } = setting;
  const call = gitCall(view);
  const shared = scene.fence.ownsGit === true ? null : sharedRefusal(call);
  if (shared !== null) return shared;
  if (call.looks && gitWrites(call).length === 0) return null;
  const moves = view.place === null ? call.moves : [view.place, ...call.moves];
  const start = outer.directories ?? [scene.cwd];
  const unnamed = isReader ? null : unnamedMove(scene, moves, start);
  if (unnamed !== null) return unnamed;
  const places = sentTo(scene, moves, start);
  const elsewhere = outside(scene, places);
  if (elsewhere !== undefined) return notHere(scene.fence, elsewhere);
  if (isReader) return null;
  const outsider = places.find((place) => pathRefusal(scene, place, ['/']) !== null);
  if (outsider !== undefined) return notHere(scene.fence, outsider);
  const assigned = [...outer.assignments, ...inner.assignments, ...scene.variables];
  const steered = call.looks ? { gitDirs: [], others: [] } : steering(assigned);
  const gitDirs = [...call.gitDirs, ...steered.gitDirs];
  for (const word of gitDirs) {
    const refusal = gitDirRefusal(scene, word, places);
    if (refusal !== null) return refusal;
  }
  for (const word of [...call.workTrees, ...steered.others, ...gitWrites(call)]) {
    const refusal = targetRefusal(scene, word, places);
    if (refusal !== null) return refusal;
  }
  if (scene.fence.ownsGit === true) return null;
  const at = outer.directories === null ? sentTo(scene, moves, [tracedPlace(scene, outer)]) : places;
  const asked = gitDirs.length === 0 ? at : gitDirs.flatMap((word) => sentTo(scene, [word], at));
  const config = configRefusal(scene, call, { places: at, asked, assigned });
  if (config !== null || !asked.some((place) => isSharedRepository(scene, place))) return config;
  return refRefusal(call, {
    root: scene.fence.root,
    fed: view.fed,
    leavesBranch: scene.understood.commands.some(({ layers: [command] }) => startsBranch(command)),
    isHere: (text) => sentTo(scene, [literal(text)], at).some((place) => isSharedRepository(scene, place)),
  });
}

function literal(value: string): ShellWord {
  return { source: value, value, start: value };
}

function startsBranch(command: ShellCommand): boolean {
  return viewsOf(command).some((view) => view.program === 'git' && isBranchStart(gitCall(view)));
}

/** Each move begins where the one before ended. */
function sentTo(scene: FenceScene, moves: readonly ShellWord[], start: readonly string[]): readonly string[] {
  return moves.reduce<readonly string[]>((places, word) => {
    const texts = expandWord(word, expansionScene(scene)).map(({ text }) => text);
    return places.flatMap((place) => texts.flatMap((text) => openedPath(place, text) ?? []));
  }, start);
}

function unnamedMove(
  scene: FenceScene,
  moves: readonly ShellWord[],
  start: readonly string[],
): string | null {
  for (const [index, word] of moves.entries()) {
    if (expandWord(word, expansionScene(scene)).every(({ lead }) => lead === null)) continue;
    const refusal = targetRefusal(scene, word, sentTo(scene, moves.slice(0, index), start));
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Judged by itself: a work tree beside it says nothing about whose branches move. */
function gitDirRefusal(scene: FenceScene, word: ShellWord, places: readonly string[]): string | null {
  const found = expandWord(word, expansionScene(scene));
  const { root } = scene.fence;
  const isOwn =
    found.every(({ lead }) => lead === null) &&
    sentTo(scene, [word], places).every((place) => isOwnGitDir(scene.fence, place));
  if (isOwn || targetRefusal(scene, word, places) === null) return null;
  return `The git directory ${word.source} is not your worktree's, and git would change branches or files of others there. Leave --git-dir and GIT_DIR out: in ${root} git finds its own.`;
}

function isOwnGitDir({ root }: WriteFence, place: string): boolean {
  const registered = linkedDirectory(root);
  return (
    place === join(root, '.git') ||
    (registered !== null && place === (openedPath('/', registered) ?? registered))
  );
}

interface ConfigScene {
  places: readonly string[];
  /** Where git looks for the repository. */
  asked: readonly string[];
  assigned: readonly ShellAssignment[];
}

const GLOBAL_PLACE = /^(?:HOME|XDG_CONFIG_HOME|GIT_CONFIG_GLOBAL|GIT_CONFIG_SYSTEM)$/;

function configRefusal(
  scene: FenceScene,
  call: FencedGitCall,
  { places, asked, assigned }: ConfigScene,
): string | null {
  const write = configWrite(call);
  if (write === null) return null;
  const { of, advice } = write;
  if (of === 'worktree' && hasOwnConfig(scene.fence.root)) return null;
  if (of === 'global') {
    const given = assigned.filter(({ name }) => GLOBAL_PLACE.test(name));
    const words = given.map(({ value, source = '' }) => ({ source, value, start: value ?? '' }));
    const isOwn = words.length > 0 && words.every((word) => targetRefusal(scene, word, places) === null);
    return isOwn ? null : `git ${call.command} would change the user's configuration of git. ${advice}`;
  }
  if (typeof of !== 'string') {
    return of.map((word) => targetRefusal(scene, word, places)).find((each) => each !== null) ?? null;
  }
  if (!asked.some((place) => isSharedRepository(scene, place))) return null;
  return `git ${call.command} would change the configuration that your worktree shares with the user's checkout and other worktrees. ${advice}`;
}

/** Whether git takes the worktree's repository there, and not one that the agent has in it. */
function isSharedRepository(scene: FenceScene, place: string): boolean {
  const { root } = scene.fence;
  if (isOwnGitDir(scene.fence, place) || isGuarded(scene.fence, place)) return true;
  if (!isInside(place, root)) return false;
  const made = repositoriesMade(scene).filter((each) => each !== root && isInside(each, root));
  for (let current = place; current !== root; current = dirname(current)) {
    if (made.includes(current) || isDirectory(join(current, '.git')) || isBareDirectory(current))
      return false;
  }
  return true;
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** By `git init` and `git clone` of the same script. */
function repositoriesMade(scene: FenceScene): string[] {
  return scene.understood.commands.flatMap(({ layers: [command] }) =>
    viewsOf(command).flatMap((view) => {
      const call = gitCall(view);
      if (view.program !== 'git' || !/^(?:init|clone)$/.test(call.command)) return [];
      const places = sentTo(scene, call.moves, command.directories ?? [tracedPlace(scene, command)]);
      const [named] = gitWrites(call);
      if (named !== undefined) return sentTo(scene, [named], places);
      if (call.command === 'init') return places;
      const from = call.rest.findLast(({ value, start }) => !(value ?? start).startsWith('-'))?.value ?? '';
      const name = basename(from).replace(/\.git$/, '');
      return name === '' ? [] : places.map((place) => resolve(place, name));
    }),
  );
}
