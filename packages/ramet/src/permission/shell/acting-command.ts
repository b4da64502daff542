/**
 * The command that acts, for rules that take rights away: behind `env`, `sudo` and their like whatever their options,
 * and in the directory that these or git are sent to. Giving rights needs more: see `unwrap-command.ts`.
 */
import { basename } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { unwrapCommand } from './reading/unwrap-command.ts';

interface CarrierGrammar {
  /** Options whose value is the next word. */
  valued: RegExp;
  /** Those of them that name the directory it runs in. */
  directory: RegExp;
  /** The same with the value attached. */
  attached: RegExp;
}

const NEVER = /^(?!)/;
const CARRIERS: Readonly<Record<string, CarrierGrammar>> = {
  env: {
    valued: /^(?:-[a-zA-Z0-9]*[uC]|--unset|--c[hdir]*)$/,
    directory: /^(?:-[a-zA-Z0-9]*C|--c[hdir]*)$/,
    attached: /^(?:-[iv0]*C|--c[hdir]*=)(.+)$/,
  },
  sudo: {
    valued: /^(?:-[a-zA-Z]*[ugpUhrtTRDC]|--(?:user|group|prompt|host|role|type|chroot|chdir))$/,
    directory: /^(?:-[a-zA-Z]*D|--chdir)$/,
    attached: /^(?:-D|--chdir=)(.+)$/,
  },
  doas: { valued: /^-[uC]$/, directory: NEVER, attached: NEVER },
  ionice: { valued: /^-[cnp]$/, directory: NEVER, attached: NEVER },
  setsid: { valued: NEVER, directory: NEVER, attached: NEVER },
  busybox: { valued: NEVER, directory: NEVER, attached: NEVER },
  xargs: {
    valued: /^(?:-[0rtpox]*[adEILnPs]|--(?:arg-file|delimiter|max-args|max-procs|max-chars))$/,
    ...{ directory: NEVER, attached: NEVER },
  },
  git: {
    valued: /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path)$/,
    directory: /^(?:-C|--work-tree)$/,
    attached: /^--work-tree=(.+)$/,
  },
};

const DEEPEST = 5;

/** Of git the words behind its own options: the program, then the subcommand. */
export function actingCommand(command: ShellCommand, depth = 0): ShellCommand {
  const name = basename(command.words[0]?.value ?? '');
  const grammar = Object.hasOwn(CARRIERS, name) ? CARRIERS[name] : undefined;
  const isPlain = grammar === undefined || name === 'xargs';
  const unwrapped = isPlain ? unwrapCommand(command) : null;
  const inner = unwrapped ?? (grammar === undefined ? null : carried(command, grammar, name));
  if (inner === null || inner.words.length === 0) return command;
  return name === 'git' || depth >= DEEPEST ? inner : actingCommand(inner, depth + 1);
}

function carried(command: ShellCommand, grammar: CarrierGrammar, name: string): ShellCommand {
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
    const split = name === 'env' ? /^(?:-[iv0]*S|--split-string=?)(.*)$/s.exec(text) : null;
    if (split !== null) {
      const script = split[1] === '' ? (words[++index]?.value ?? '') : (split[1] ?? '');
      return { ...command, directories, words: [...splitWords(script), ...words.slice(index + 1)] };
    }
    if (!text.startsWith('-') && !(name !== 'git' && /^\w+=/.test(text))) break;
    const attached = grammar.attached.exec(text)?.[1];
    if (attached !== undefined) enter(attached);
    else if (grammar.valued.test(text)) {
      index += 1;
      if (grammar.directory.test(text)) enter(words[index]?.value);
    }
  }
  const rest = words.slice(index);
  return {
    ...command,
    directories,
    words: name === 'git' && program !== undefined ? [program, ...rest] : rest,
  };
}

function splitWords(script: string): ShellWord[] {
  const texts = script.split(/\s+/).filter((text) => text !== '');
  return texts.map((text) => ({ source: text, value: text, start: text }));
}
