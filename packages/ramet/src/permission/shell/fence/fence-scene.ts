/** Where the words of a script may lead, held against the fence of a worktree. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { fenceRefusal, type WriteFence } from '../../../sandbox/write-fence.ts';
import { openedPath } from '../../../system/landing-path.ts';
import { isInside } from '../../../system/path-inside.ts';
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
  /** Links to places outside that the script itself makes. */
  readonly links: readonly string[];
}

export function fenceScene(
  fence: WriteFence,
  cwd: string,
  understood: UnderstoodScript,
  outer: readonly ShellAssignment[],
): FenceScene {
  const scene: FenceScene = {
    fence,
    cwd,
    understood,
    variables: [...understood.variables, ...outer],
    links: [],
  };
  return { ...scene, links: linksMade(scene) };
}

export function expansionScene({ fence, cwd, variables }: FenceScene): ExpansionScene {
  // What holds `$PWD` may have been set anywhere: of the places a script goes to, the first is the one it is about.
  return { variables, directories: [cwd], root: fence.root, temporary: fence.temporary[0] ?? '/tmp' };
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
      return `${named} leads outside your worktree ${scene.fence.root} by a link that the command makes, and you write only there. Write inside it.`;
    const place = openedPath(directory, text);
    const refusal = place === null ? null : fenceRefusal(scene.fence, place, { byCommand: true });
    if (refusal !== null) return refusal;
  }
  return null;
}

export function throughLink({ links }: FenceScene, path: string): boolean {
  return links.some((link) => isInside(path, link));
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
  const texts = names.map((word) => expandWord(word, expansionScene(scene))[0]?.text ?? '');
  const target = texts.length > 1 ? (texts.at(-1) ?? '.') : '.';
  const link = resolve(directory, target);
  const sources = texts.length > 1 ? texts.slice(0, -1) : texts;
  return sources.flatMap((source) => {
    const from = isAbsolute(source) ? directory : texts.length > 1 ? dirname(link) : directory;
    if (pathRefusal(scene, source, [from]) === null) return [];
    const inside = resolve(link, basename(source));
    return existsSync(link) && statSync(link).isDirectory() ? [inside] : [link, inside];
  });
}
