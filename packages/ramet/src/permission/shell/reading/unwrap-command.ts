/**
 * Looks through programs that only run another one: what counts is the command inside. A wrapper with an option
 * that is not known here is not looked through, so its command is judged under the wrapper's name, which no
 * built-in list allows.
 */
import type { ShellDialect } from './script-scan.ts';
import type { ShellAssignment, ShellCommand } from './shell-reading.ts';
import { type ShellWord, UNKNOWN_WORDS } from './shell-word.ts';

/** How the arguments of a wrapper are read, up to the command. */
interface WrapperGrammar {
  /** Options without a value. */
  flags?: RegExp;
  /** Options whose value is the next word. */
  valued?: RegExp;
  /** Words before the command, such as the duration of `timeout`. */
  operands?: number;
  assignments?: boolean;
  /** It runs the command on what it reads: `xargs`. */
  adds?: boolean;
}

const WRAPPERS: Readonly<Record<string, WrapperGrammar>> = {
  time: { flags: /^-p$/ },
  timeout: {
    flags: /^(?:--preserve-status|--foreground|-v|--verbose|-[sk].+|--(?:signal|kill-after)=.+)$/,
    valued: /^(?:-s|-k|--signal|--kill-after)$/,
    operands: 1,
  },
  nice: { flags: /^(?:-n-?\d+|-\d+|--adjustment=-?\d+)$/, valued: /^(?:-n|--adjustment)$/ },
  nohup: {},
  stdbuf: { flags: /^(?:-[ioe](?:L|\d+)|--(?:input|output|error)=(?:L|\d+))$/, valued: /^-[ioe]$/ },
  command: { flags: /^-p$/ },
  builtin: {},
  exec: {},
  env: {
    // Not `-i` and `-u`: what keeps git from running the folder's programs is in the environment.
    assignments: true,
  },
  xargs: {
    flags:
      /^(?:-0|-r|-t|-0r|-r0|-[nPL]\d+|-d.+|--null|--no-run-if-empty|--(?:max-args|max-procs|delimiter)=.+)$/,
    valued: /^-[nPLd]$/,
    adds: true,
  },
};

/** The command inside; null when this is no wrapper, or one that cannot be looked through. */
export function unwrapCommand(command: ShellCommand): ShellCommand | null {
  const [name, ...rest] = command.words;
  const grammar = Object.hasOwn(WRAPPERS, name?.value ?? '') ? WRAPPERS[name?.value ?? ''] : undefined;
  if (grammar === undefined) return null;
  const read = readOptions(grammar, rest);
  if (read === null) return null;
  const { assignments, words } = read;
  if (words.length === 0) return null;
  const inside = read.replacement === null ? words : words.map((word) => replaced(word, read.replacement));
  return {
    words: grammar.adds && read.replacement === null ? [...inside, UNKNOWN_WORDS] : inside,
    assignments,
    source: [
      ...assignments.map(({ name, value }) => `${name}=${value}`),
      ...words.map(({ source }) => source),
    ].join(' '),
    directories: command.directories,
  };
}

interface ReadOptions {
  assignments: ShellAssignment[];
  words: readonly ShellWord[];
  /** The text that `xargs -I` puts its input in place of. */
  replacement: string | null;
}

function readOptions(grammar: WrapperGrammar, words: readonly ShellWord[]): ReadOptions | null {
  const assignments: ShellAssignment[] = [];
  let replacement: string | null = null;
  let operands = grammar.operands ?? 0;
  for (let index = 0; index < words.length; index++) {
    const { value } = words[index] ?? UNKNOWN_WORDS;
    if (value === null) return null;
    const assigned = grammar.assignments ? /^(\w+)=(.*)$/s.exec(value) : null;
    if (assigned !== null) assignments.push({ name: assigned[1] ?? '', value: assigned[2] ?? '' });
    else if (value === '--') continue;
    else if (grammar.adds && /^-I/.test(value)) {
      replacement = value === '-I' ? (words[++index]?.value ?? null) : value.slice(2);
      if (replacement === null) return null;
    } else if (grammar.valued?.test(value)) {
      // What an open value splits into would be read on as the command.
      if (words[++index]?.splits) return null;
    } else if (grammar.flags?.test(value)) continue;
    else if (value.startsWith('-')) return null;
    else if (operands > 0) operands--;
    else return { assignments, words: words.slice(index), replacement };
  }
  return { assignments, words: [], replacement };
}

function replaced(word: ShellWord, replacement: string | null): ShellWord {
  if (replacement === null || replacement === '') return UNKNOWN_WORDS;
  const at = (word.value ?? word.source).indexOf(replacement);
  return at === -1 ? word : { ...word, value: null, start: word.start.slice(0, at) };
}

/** The script that `bash -c` or `eval` would run and how it is read, when it is known; null for other commands. */
export function innerScript(
  { words }: ShellCommand,
  dialect: ShellDialect,
): { script: string | null; dialect: ShellDialect } | null {
  const [name, ...rest] = words;
  if (name?.value === 'eval') return { script: joined(rest), dialect };
  const shell = /^(?:\/(?:usr\/)?bin\/)?((?:ba|da)?sh)$/.exec(name?.value ?? '')?.[1];
  if (shell === undefined) return null;
  const own = shell === 'bash' ? 'bash' : 'posix';
  const flag = rest.findIndex(({ value }) => value !== null && /^-[a-z]*c$/.test(value));
  const options = rest.slice(0, Math.max(flag, 0));
  if (flag === -1 || !/^-[eux]*c$/.test(rest[flag]?.value ?? '')) return { script: null, dialect: own };
  if (!options.every(({ value }) => /^-[eux]+$/.test(value ?? ''))) return { script: null, dialect: own };
  return { script: rest[flag + 1]?.value ?? null, dialect: own };
}

function joined(words: readonly ShellWord[]): string | null {
  const values = words.map(({ value }) => value);
  return values.includes(null) ? null : values.join(' ');
}
