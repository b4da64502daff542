/** Where the words of a script may lead, held against the fence of a worktree. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { findRepository, linkedDirectory } from '../../../git/repository.ts';
import { fenceRefusal, isGuarded, type WriteFence } from '../../../sandbox/write-fence.ts';
import { isInside, openedPath } from '../../../system/landing-path.ts';
import { type ExpansionScene, expandWord } from '../reading/expand-word.ts';
import type { ShellAssignment } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import type { UnderstoodScript } from '../reading/understand-script.ts';
import { viewsOf } from './command-views.ts';

export interface FenceScene {
  readonly fence: WriteFence;
  readonly cwd: string;
  readonly understood: UnderstoodScript;
  readonly variables: readonly ShellAssignment[];
  /** Links that the script itself makes, to places outside or to ones that are known only when it runs. */
  readonly links: readonly string[];
  /** Numbers of descriptors may stand for files that the script only opens to read: through `/dev/fd/N` they are written. */
  readonly numbersInputs: boolean;
}

/** What a script is part of. */
export interface OuterScript {
  readonly variables: readonly ShellAssignment[];
  readonly numbersInputs: boolean;
}

export function fenceScene(
  fence: WriteFence,
  cwd: string,
  understood: UnderstoodScript,
  outer: OuterScript,
): FenceScene {
  const scene: FenceScene = {
    fence,
    cwd,
    understood,
    variables: [...understood.variables, ...outer.variables],
    links: [],
    numbersInputs: outer.numbersInputs,
  };
  return { ...scene, links: linksMade(scene) };
}

export function expansionScene({ fence, cwd, variables }: FenceScene): ExpansionScene {
  // What holds `$PWD` may have been set anywhere: of the places a script goes to, the first is the one it is about.
  return {
    ...{ variables, directories: [cwd], root: fence.root, temporary: fence.temporary[0] ?? '/tmp' },
    gitDirectories() {
      const own = linkedDirectory(fence.root);
      const common = findRepository(fence.root)?.commonDirectory;
      return own === null || common === undefined ? null : { own, common };
    },
  };
}

/** With the words that variables of the script hold in their place, where the script says which. */
export function settledWords(scene: FenceScene, words: readonly ShellWord[]): readonly ShellWord[] {
  return words.flatMap((word): ShellWord | ShellWord[] => {
    if (word.value !== null || !/[$`]/.test(word.source)) return word;
    const [only, ...more] = expandWord(word, expansionScene(scene));
    if (only === undefined || more.length > 0 || only.lead !== null || !only.exact) return word;
    const texts = word.splits === true ? only.text.split(/\s+/).filter((text) => text !== '') : [only.text];
    return texts.map((value) => ({ source: word.source, value, start: value }));
  });
}

/** Why nothing may be written at what the word names; `takesAway`: a link itself may go. */
export function targetRefusal(
  scene: FenceScene,
  word: ShellWord,
  directories: readonly string[] | null,
  takesAway = false,
): string | null {
  for (const { text, lead } of expandWord(word, expansionScene(scene))) {
    if (lead === 'unknown') return unknownTarget(scene.fence, word.source);
    const refusal =
      lead === 'computed' ? fedRefusal(scene) : pathRefusal(scene, text, directories, takesAway);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** `9< file`, `{name}< file`, `5<&0`. */
export const NUMBERED_INPUT: RegExp = /[\d}]<(?!<)|[<>]&\s*(?:0|\$)/;

/** Here it would be what Ramet itself has open. */
const OWN_OUTPUT = /^\/(?:dev\/(?:stdout|stderr|fd\/[1-9]\d*)|proc\/self\/fd\/[1-9]\d*)$/;

/** The same for a file that a program or the shell writes: its own output is none. */
export function writeRefusal(
  scene: FenceScene,
  word: ShellWord,
  directories: readonly string[] | null,
  takesAway = false,
): string | null {
  const isOutput = !takesAway && word.value !== null && OWN_OUTPUT.test(word.value);
  if (!isOutput) return targetRefusal(scene, word, directories, takesAway);
  if (!scene.numbersInputs) return null;
  return `Where "${word.source}" leads is known only when it runs, since the command gives numbers to its inputs. Write >&2 or >&1 instead, or a file in your worktree ${scene.fence.root}.`;
}

function unknownTarget({ root }: WriteFence, source: string): string {
  return `Where "${source}" leads is known only when it runs, and the command would write there. Name the path, or begin it with $RAMET_WORKTREE, which is ${root}.`;
}

export function pathRefusal(
  scene: FenceScene,
  text: string,
  directories: readonly string[] | null,
  takesAway = false,
): string | null {
  if (text === '' || text === '-') return null;
  for (const directory of directories ?? [scene.cwd]) {
    const named = resolve(directory, text);
    if (throughLink(scene, named) && !(takesAway && scene.links.includes(named)))
      return `${named} goes through a link that the command makes, which leads outside your worktree ${scene.fence.root} or to a place known only when it runs. Make the link in one command and write in the next, inside your worktree.`;
    const place = openedPath(directory, text);
    const refusal = place === null ? null : fenceRefusal(scene.fence, place, { byCommand: true });
    if (refusal !== null) return refusal;
  }
  return null;
}

function throughLink({ links }: FenceScene, path: string): boolean {
  return links.some((link) => isInside(path, link));
}

/** The first directory that belongs to others. */
export function outside(scene: FenceScene, directories: readonly string[] | null): string | undefined {
  return directories?.find(
    (directory) =>
      throughLink(scene, directory) || isGuarded(scene.fence, openedPath(directory, '.') ?? directory),
  );
}

export function notHere({ root }: WriteFence, elsewhere: string): string {
  return `The command could run in ${elsewhere}, which is not yours. Your worktree is ${root}: commands start there. Leave the cd out, or join what follows a cd to it with && so that nothing runs where the cd failed.`;
}

/** Names that commands hand to others are found where the script tells them to look: one outside is enough. */
export function fedRefusal(scene: FenceScene): string | null {
  for (const { layers } of scene.understood.commands) {
    const [{ words, directories }] = layers;
    for (const word of words.slice(1)) {
      const refusal = namedRefusal(scene, word, directories);
      if (refusal !== null) return refusal;
    }
  }
  return null;
}

function namedRefusal(
  scene: FenceScene,
  word: ShellWord,
  directories: readonly string[] | null,
): string | null {
  for (const { text, lead } of expandWord(word, expansionScene(scene))) {
    // Patterns and scripts of other languages are no paths.
    if (lead !== null || !/^(?:\/[^/]|\.\.(?:\/|$))/.test(text) || /[\s\\^$()|]/.test(text)) continue;
    if (OWN_OUTPUT.test(text) && !scene.numbersInputs) continue;
    const place = resolve(directories?.[0] ?? scene.cwd, text);
    if (!existsSync(place) && (dirname(place) === '/' || !existsSync(dirname(place)))) continue;
    const refusal = pathRefusal(scene, text, directories);
    if (refusal !== null) return refusal;
  }
  return null;
}

function linksMade(scene: FenceScene): string[] {
  return scene.understood.commands.flatMap(({ layers: [command] }) =>
    viewsOf(command).flatMap(({ program, words }) => {
      if (program !== 'ln') return [];
      const names = words.filter(({ value, start }) => !(value ?? start).startsWith('-'));
      return (command.directories ?? [scene.cwd]).flatMap((directory) => linksIn(scene, directory, names));
    }),
  );
}

function linksIn(scene: FenceScene, directory: string, names: readonly ShellWord[]): string[] {
  const found = names.flatMap((word) => expandWord(word, expansionScene(scene))[0] ?? []);
  const target = found.length > 1 ? (found.at(-1)?.text ?? '.') : '.';
  const link = resolve(directory, target);
  const sources = found.length > 1 ? found.slice(0, -1) : found;
  const isFolder = statSync(link, { throwIfNoEntry: false })?.isDirectory() === true;
  return sources.flatMap(({ text, lead }) => {
    const from = isAbsolute(text) ? directory : found.length > 1 ? dirname(link) : directory;
    if (lead === null && pathRefusal(scene, text, [from]) === null) return [];
    // The name of what is not known may be that of any place that others have.
    const { guarded, from: checkout } = scene.fence;
    const ends = lead === null ? [text] : [text, checkout, ...guarded];
    const named = ends.map((end) => basename(end)).filter((name) => !/^\.{0,2}$/.test(name));
    const inside = named.map((name) => resolve(link, name));
    return isFolder ? inside : [link, ...inside];
  });
}
