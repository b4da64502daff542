/**
 * What the syntax of a command shows of writing outside an agent's worktree (WORK-7), in every mode: files that the
 * shell opens, targets of programs that are known to write, git in another checkout, and what git shares between all
 * worktrees. What only shows when it runs is held by the sandbox, where there is one (`workspace/isolated-shell.ts`).
 */
import { basename } from 'node:path';
import { openedPath } from '../landing-path.ts';
import { fenceRefusal, isGuarded, type WriteFence } from '../write-fence.ts';
import { readsOnly } from './reads-only.ts';
import type { ShellCommand } from './shell-reading.ts';
import { type UnderstoodScript, understandScript } from './understand-script.ts';
import { untracedMove } from './untraced-move.ts';

/** Why the script may not run; null when nothing speaks against it. */
export async function commandRefusal(fence: WriteFence, script: string, cwd: string): Promise<string | null> {
  const understood = await understandScript(script, { directories: [cwd] });
  for (const { word, access, directories } of understood.files) {
    if (access !== 'write') continue;
    const refusal = firstRefusal(fence, word.value, directories);
    if (refusal !== null) return refusal;
  }
  const commands = understood.commands.flatMap(({ layers, transparent }) =>
    transparent ? [] : [layers.at(-1) ?? layers[0]],
  );
  for (const command of commands) {
    const refusal = refusalOf(fence, command, cwd);
    if (refusal !== null) return refusal;
  }
  const isOwn = (path: string): boolean => fenceRefusal(fence, path, { byCommand: true }) === null;
  const lost = untracedMove(understood, { script, isOwn });
  return lost !== null && changesWhereItIs(understood, cwd) ? nowhereKnown(fence, lost) : null;
}

/** Something is written by a relative name, or by a program that may write anything, where nobody knows which directory that is in. */
function changesWhereItIs({ files, commands }: UnderstoodScript, cwd: string): boolean {
  const writes = files.some(
    ({ access, directories, word }) =>
      directories === null && access === 'write' && !isAbsolutePath(word.value),
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

function isAbsolutePath(value: string | null): boolean {
  return value?.startsWith('/') === true;
}

function nowhereKnown({ root }: WriteFence, lost: string): string {
  return `Where "${lost}" leads is known only when it runs, and what follows it may write there. Your worktree is ${root}: commands start there. Write the directory out, or leave the cd out.`;
}

function firstRefusal(
  fence: WriteFence,
  value: string | null,
  directories: readonly string[] | null,
): string | null {
  if (value === null) return null;
  for (const directory of directories ?? []) {
    const place = openedPath(directory, value);
    const refusal = place === null ? null : fenceRefusal(fence, place, { byCommand: true });
    if (refusal !== null) return refusal;
  }
  return null;
}

function refusalOf(fence: WriteFence, command: ShellCommand, cwd: string): string | null {
  const { words, directories } = command;
  const program = basename(words[0]?.value ?? '');
  const values = words.slice(1).map(({ value }) => value);
  if (program === 'git') return gitRefusal(fence, values, directories);
  for (const target of writtenBy(program, values)) {
    const refusal = firstRefusal(fence, target, directories);
    if (refusal !== null) return refusal;
  }
  const elsewhere = program === 'cd' || readsOnly(command, cwd) ? undefined : outside(fence, directories);
  return elsewhere === undefined ? null : notHere(fence, elsewhere);
}

function outside(fence: WriteFence, directories: readonly string[] | null): string | undefined {
  return directories?.find((directory) => isGuarded(fence, openedPath(directory, '.') ?? directory));
}

function notHere({ root }: WriteFence, elsewhere: string): string {
  return `The command could run in ${elsewhere}, which is not yours. Your worktree is ${root}: commands start there. Leave the cd out, or join what follows a cd to it with && so that nothing runs where the cd failed.`;
}

const EVERY_NAME = /^(?:rm|rmdir|mv|touch|mkdir|tee|chmod|chown|chgrp|truncate|unlink|shred|mkfifo|mknod)$/;
const LAST_NAME = /^(?:cp|ln|install|rsync)$/;
const IN_PLACE = /^(?:sed|perl|gsed)$/;

/** Names of files that a program is known to write, as far as its words say so. */
function writtenBy(program: string, values: readonly (string | null)[]): (string | null)[] {
  const names = values.filter((value) => value !== null && !value.startsWith('-'));
  if (EVERY_NAME.test(program)) return names;
  if (LAST_NAME.test(program)) return [...names.slice(-1), ...targetOption(values)];
  if (IN_PLACE.test(program))
    return values.some((value) => /^-\w*i|^--in-place/.test(value ?? '')) ? names : [];
  if (program === 'dd')
    return values.flatMap((value) => (value?.startsWith('of=') ? [value.slice('of='.length)] : []));
  return [];
}

function targetOption(values: readonly (string | null)[]): (string | null)[] {
  return values.flatMap((value, index) => {
    if (value === '-t' || value === '--target-directory') return [values[index + 1] ?? null];
    return value?.startsWith('--target-directory=') ? [value.slice('--target-directory='.length)] : [];
  });
}

/** What may be asked of the repository from another checkout: it does not even refresh that one's index. */
const LOOKS =
  /^(?:log|show|rev-parse|rev-list|cat-file|ls-tree|blame|merge-base|describe|shortlog|for-each-ref)$/;
const VALUED = /^(?:-c|--namespace|--exec-path|--config-env|--super-prefix)$/;
const ELSEWHERE = /^--(?:git-dir|work-tree)(?:=(.*))?$/s;

function gitRefusal(
  fence: WriteFence,
  values: readonly (string | null)[],
  directories: readonly string[] | null,
): string | null {
  let places = directories;
  let at = 0;
  for (; at < values.length; at++) {
    const value = values[at] ?? '';
    const other = ELSEWHERE.exec(value);
    if (value === '-C' || other !== null) {
      const to = other?.[1] ?? values[++at] ?? null;
      places = to === null ? null : (places?.flatMap((place) => openedPath(place, to) ?? []) ?? null);
    } else if (VALUED.test(value)) at++;
    else if (!value.startsWith('-')) break;
  }
  const [command = '', first = ''] = values.slice(at);
  const shared = sharedRefusal(command ?? '', first ?? '');
  if (shared !== null) return shared;
  const elsewhere = LOOKS.test(command ?? '') ? undefined : outside(fence, places);
  return elsewhere === undefined ? null : notHere(fence, elsewhere);
}

function sharedRefusal(command: string, first: string): string | null {
  if (command === 'stash' && first !== 'list' && first !== 'show') {
    return 'git stash is refused in a worktree: all worktrees of a repository share one stash, and others would find or lose your work. Commit on your branch instead; everything you have is also kept after each turn.';
  }
  if (command === 'worktree' && first !== 'list') {
    return 'git worktree is refused here: Ramet makes and removes worktrees. Work in the one you have.';
  }
  return null;
}
