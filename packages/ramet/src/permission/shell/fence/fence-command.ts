/**
 * What the syntax of a command shows of writing outside an agent's worktree (WORK-7), in every mode: files that the
 * shell opens, targets of programs that are known to write, git in another checkout, and what git shares between all
 * worktrees. What only shows when it runs is held by the sandbox, where there is one (`sandbox/isolated-shell.ts`).
 */

import { basename, dirname } from 'node:path';
import { findRepository } from '../../../git/repository.ts';
import { gitWords, refusedBesideOthers } from '../../../git/shared-git/git-words.ts';
import type { WriteFence } from '../../../sandbox/write-fence.ts';
import { landingPath, openedPath } from '../../../system/landing-path.ts';
import { readsOnly } from '../programs/read-only-git.ts';
import { expandWord } from '../reading/expand-word.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import { type CommandLayers, type UnderstoodScript, understandScript } from '../reading/understand-script.ts';
import { carriedScripts } from './carried-scripts.ts';
import { type CommandView, viewsOf } from './command-views.ts';
import {
  expansionScene,
  type FenceScene,
  fedRefusal,
  fenceScene,
  NUMBERED_INPUT,
  notHere,
  type OuterScript,
  outside,
  settledWords,
  targetRefusal,
  writeRefusal,
} from './fence-scene.ts';
import { gitRefusal } from './git-refusal.ts';
import { untracedMove } from './untraced-move.ts';
import { writesWhatItIsFed, writtenNames } from './written-names.ts';

/** Why the script may not run; null when nothing speaks against it. */
export function commandRefusal(fence: WriteFence, script: string, cwd: string): Promise<string | null> {
  return scriptRefusal(fence, script, topScript(cwd));
}

interface ScriptSetting {
  directories: readonly string[] | null;
  cwd: string;
  outer: OuterScript;
  depth: number;
}

function topScript(cwd: string): ScriptSetting {
  return { directories: [cwd], cwd, outer: { variables: [], numbersInputs: false }, depth: 0 };
}

const DEEPEST = 4;

async function scriptRefusal(
  fence: WriteFence,
  script: string,
  setting: ScriptSetting,
): Promise<string | null> {
  const { cwd, depth, outer } = setting;
  const understood = await understandScript(script, { directories: setting.directories });
  const numbersInputs = outer.numbersInputs || NUMBERED_INPUT.test(script);
  const scene = fenceScene(fence, cwd, understood, { ...outer, numbersInputs });
  for (const { word, access, directories } of understood.files) {
    const refusal = access === 'write' ? writeRefusal(scene, word, directories) : null;
    if (refusal !== null) return refusal;
  }
  for (const command of understood.commands) {
    const refusal = refusalOf(scene, command);
    if (refusal !== null) return refusal;
    if (depth >= DEEPEST) continue;
    for (const carried of carriedScripts(scene, script, command)) {
      const inner = { ...setting, directories: command.layers[0].directories, depth: depth + 1 };
      const found = await scriptRefusal(fence, carried, { ...inner, outer: scene });
      if (found !== null) return found;
    }
  }
  const lost = untracedMove(scene);
  return lost !== null && changesWhereItIs(understood, cwd) ? nowhereKnown(fence, lost) : null;
}

/** Something is written by a relative name, or by a program that may write anything, where nobody knows which directory that is in. */
function changesWhereItIs({ files, commands }: UnderstoodScript, cwd: string): boolean {
  const writes = files.some(
    ({ access, directories, word }) =>
      directories === null && access === 'write' && word.value?.startsWith('/') !== true,
  );
  return (
    writes ||
    commands.some(({ layers, transparent }) => {
      const command = layers.at(-1) ?? layers[0];
      const isMove = /^(?:cd|pushd|popd)$/.test(command.words[0]?.value ?? '');
      return !transparent && !isMove && command.directories === null && !readsOnly(command, cwd);
    })
  );
}

function nowhereKnown({ root }: WriteFence, lost: string): string {
  return `Where "${lost}" leads is known only when it runs, or is not yours, and what follows it may write there. Your worktree is ${root}: commands start there. Write cd and the directory out, or leave the move out.`;
}

function refusalOf(scene: FenceScene, { layers, transparent }: CommandLayers): string | null {
  const [outer] = layers;
  const inner = layers.at(-1) ?? outer;
  const isReader = readsOnly(inner, scene.cwd);
  for (const view of viewsOf({ words: settledWords(scene, outer.words) })) {
    const refusal = view.program === 'git' ? gitRefusal(scene, view, { outer, inner, isReader }) : null;
    if (refusal !== null) return refusal;
    const written = isReader || view.program === 'git' ? null : viewRefusal(scene, view, outer);
    if (written !== null) return written;
  }
  const isMove = transparent || isReader || /^(?:cd|git)$/.test(inner.words[0]?.value ?? '');
  const elsewhere = isMove ? undefined : outside(scene, inner.directories);
  return elsewhere === undefined ? null : notHere(scene.fence, elsewhere);
}

const TAKES_AWAY = /^(?:rm|unlink|mv|ln)$/;

function viewRefusal(scene: FenceScene, view: CommandView, { directories }: ShellCommand): string | null {
  const places = view.place === null ? directories : movedTo(scene, view, directories);
  if (places === undefined) return targetRefusal(scene, view.place ?? UNNAMED, directories);
  for (const word of writtenNames(view)) {
    const refusal = writeRefusal(scene, word, places, TAKES_AWAY.test(view.program));
    if (refusal !== null) return refusal;
  }
  return view.fed && writesWhatItIsFed(view) ? fedRefusal(scene) : null;
}

const UNNAMED = { source: '', value: null, start: '' };

/** Undefined where it may be sent outside. */
function movedTo(
  scene: FenceScene,
  { place }: CommandView,
  directories: readonly string[] | null,
): readonly string[] | undefined {
  if (place === null || targetRefusal(scene, place, directories) !== null) return undefined;
  return expandWord(place, expansionScene(scene)).flatMap(({ text }) =>
    (directories ?? [scene.cwd]).flatMap((directory) => openedPath(directory, text) ?? []),
  );
}

/**
 * Whether a script, as far as its text shows, writes outside a directory, or where is known only when it runs. For who
 * may allow a command without a person. What git does to the repository itself is no writing here.
 */
export async function writesOutside(script: string, cwd: string): Promise<boolean> {
  const root = landingPath(cwd) ?? cwd;
  const fence = {
    root,
    from: root,
    scratch: root,
    temporary: [],
    guarded: [dirname(root)],
    ownsGit: true,
  } as const;
  return (await scriptRefusal(fence, script, topScript(cwd))) !== null;
}

/**
 * What in a script, as written, harms others in the same checkout (WORK-1): git commands. Null when nothing is known to.
 * Said before anything runs; what only shows at run time is refused by the shim in git's place.
 */
export async function harmToOthers(script: string, cwd: string): Promise<string | null> {
  if (!/\bgit\b/.test(script)) return null;
  const { commands } = await understandScript(script, { directories: [cwd] });
  const root = findRepository(cwd)?.root;
  for (const { layers } of commands) {
    const harm = harmOfCommand(layers.at(-1) ?? layers[0], root);
    if (harm !== null) return harm;
  }
  return null;
}

function harmOfCommand({ words, directories }: ShellCommand, root: string | undefined): string | null {
  const [program, ...rest] = words.map(({ value }) => value ?? '');
  if (program === undefined || basename(program) !== 'git') return null;
  const asked = gitWords(rest);
  // Elsewhere it may be another repository's business; the shim knows.
  const isHere = directories?.every((place) => findRepository(place)?.root === root) ?? false;
  return isHere && asked.globals.length === 0 ? refusedBesideOthers(asked) : null;
}
