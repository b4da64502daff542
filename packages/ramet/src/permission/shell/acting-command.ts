/**
 * The command that acts, for rules that take rights away: behind `env`, `sudo` and their like (`programs/launchers.ts`) whatever their options,
 * and in the directory that these or git are sent to. Giving rights needs more: see `unwrap-command.ts`.
 */
import { basename } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import { launchedWords } from './launcher-words.ts';
import { carrierNamed } from './programs/launchers.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import { unwrapCommand } from './reading/unwrap-command.ts';

const VALUED = /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path)$/;
const DIRECTORY = /^(?:-C|--work-tree)$/;
const ATTACHED = /^--work-tree=(.+)$/;

const DEEPEST = 5;

/** Of git the words behind its own options: the program, then the subcommand. */
export function actingCommand(command: ShellCommand, depth = 0): ShellCommand {
  const name = basename(command.words[0]?.value ?? '');
  if (name === 'git') return behindOptions(command);
  const carrier = carrierNamed(name);
  const [carried = null] = carrier === null ? [] : launchedWords(command, carrier);
  const inner = unwrapCommand(command) ?? carried;
  if (inner === null || inner.words.length === 0) return command;
  return depth >= DEEPEST ? inner : actingCommand(inner, depth + 1);
}

function behindOptions(command: ShellCommand): ShellCommand {
  const [program, ...words] = command.words;
  let directories = command.directories;
  const enter = (folder: string | null | undefined): void => {
    if (typeof folder === 'string')
      directories = directories?.map((place) => openedPath(place, folder) ?? place) ?? null;
  };
  let index = 0;
  for (; index < words.length; index++) {
    const { value, start } = words[index] ?? { value: null, start: '' };
    const text = value ?? start;
    if (!text.startsWith('-')) break;
    const attached = ATTACHED.exec(text)?.[1];
    if (attached !== undefined) enter(attached);
    else if (VALUED.test(text)) {
      index += 1;
      if (DIRECTORY.test(text)) enter(words[index]?.value);
    }
  }
  const rest = words.slice(index);
  return { ...command, directories, words: program === undefined ? rest : [program, ...rest] };
}
