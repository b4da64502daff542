/**
 * What could stand at the end of a command line, read from commander's own tree of commands: a new command or
 * flag is completed as soon as it exists. What a value can be follows from its placeholder (`<session>`,
 * `<file>`) or its choices.
 */
import type { Argument, Command, Option } from 'commander';
import { MODEL_TIERS } from '../../model/catalog.ts';

export interface Suggestion {
  text: string;
  description: string;
}

export interface Suggestions {
  found: Suggestion[];
  /** File names are wanted: the shell knows them best. */
  files: boolean;
}

export interface CompletionSources {
  sessions(): Suggestion[];
  /** Of the session that `word` names up to its dot. */
  agents(word: string): Suggestion[];
  /** The local branches of this repository. */
  branches(): Suggestion[];
  /** Agent types. */
  types(): Suggestion[];
  /** Names of worktrees. */
  worktrees(): Suggestion[];
}

const FILE_PLACEHOLDERS: readonly string[] = ['file', 'directory', 'path'];
const NOTHING: Suggestions = { found: [], files: false };

/** `words` is the command line after the program's name; the last is the one to complete, maybe empty. */
export function suggest(program: Command, words: readonly string[], sources: CompletionSources): Suggestions {
  const { before, current, prefix } = split(words);
  const { command, rest } = commandOf(program, before);
  const options = visibleOptions(command);
  const last = options.find((option) => isNamed(option, rest.at(-1)) && takesValue(option));
  if (last !== undefined && !rest.slice(0, -1).includes('--'))
    return starting(current, valuesOf(last, current, program, sources), prefix);
  const optionsLeft = rest.includes('--') ? [] : options.filter((option) => !isUsed(option, rest));
  if (current.startsWith('-')) return starting(current, named(optionsLeft.map(optionSuggestion)));
  const positional = positionals(rest, options).length;
  const values = positional === 0 && rest.length === 0 ? named(subcommands(command)) : NOTHING;
  const argument = argumentAt(command, positional);
  const more = argument === undefined ? NOTHING : valuesOf(argument, current, program, sources);
  const all = { found: [...values.found, ...more.found], files: more.files };
  if (current === '' && all.found.length === 0 && !all.files) return named(optionsLeft.map(optionSuggestion));
  return starting(current, all);
}

/** `--model=so` is the value `so` of `--model`. Bash hands it over as three words, others as one. */
function split(words: readonly string[]): { before: string[]; current: string; prefix: string } {
  const before = words.slice(0, -1).filter((word) => word !== '=');
  const current = words.at(-1) ?? '';
  if (current === '=') return { before, current: '', prefix: '' };
  const [, option, value] = /^(--[^=]+=)(.*)$/s.exec(current) ?? [];
  if (option === undefined) return { before, current, prefix: '' };
  return { before: [...before, option.slice(0, -1)], current: value ?? '', prefix: option };
}

function commandOf(
  program: Command,
  before: readonly string[],
): { command: Command; rest: readonly string[] } {
  let command = program;
  let depth = 0;
  for (const word of before) {
    const next = visibleCommands(command).find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  return { command, rest: before.slice(depth) };
}

function visibleOptions(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

/** With the command `help`, which commander adds by itself. */
function visibleCommands(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function subcommands(command: Command): Suggestion[] {
  return visibleCommands(command).map((one) => ({ text: one.name(), description: one.description() }));
}

function optionSuggestion({ long, short, description }: Option): Suggestion {
  return { text: long ?? short ?? '', description };
}

function isNamed({ long, short }: Option, word: string | undefined): boolean {
  return word !== undefined && (word === long || word === short);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function isUsed(option: Option, words: readonly string[]): boolean {
  return !option.variadic && words.some((word) => isNamed(option, word));
}

/** The words that are neither options nor their values. */
function positionals(words: readonly string[], options: readonly Option[]): string[] {
  return words.filter((word, index) => {
    const previous = words[index - 1];
    const isValue = options.some((option) => isNamed(option, previous) && takesValue(option));
    return !isValue && !word.startsWith('-');
  });
}

function argumentAt(command: Command, position: number): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return command.registeredArguments[position] ?? (last?.variadic ? last : undefined);
}

function valuesOf(
  value: Option | Argument,
  current: string,
  program: Command,
  sources: CompletionSources,
): Suggestions {
  if (value.argChoices) return named(value.argChoices.map((text) => ({ text, description: '' })));
  const placeholder = 'flags' in value ? (/[<[]([\w-]+)/.exec(value.flags)?.[1] ?? '') : value.name();
  if (FILE_PLACEHOLDERS.includes(placeholder)) return { found: [], files: true };
  switch (placeholder) {
    case 'session':
    case 'sessions':
      return named(sources.sessions());
    case 'target':
      return named(current.includes('.') ? sources.agents(current) : sources.sessions());
    case 'branch':
      return named(sources.branches());
    case 'worktree':
    case 'worktrees':
      return named(sources.worktrees());
    case 'type':
      return named(sources.types());
    case 'model':
      return named(MODEL_TIERS.map((tier) => ({ text: tier, description: '' })));
    case 'command':
      return named(subcommands(program));
    default:
      return NOTHING;
  }
}

function named(found: Suggestion[]): Suggestions {
  return { found, files: false };
}

function starting(current: string, { found, files }: Suggestions, prefix = ''): Suggestions {
  const matching = found.filter(({ text }) => text.startsWith(current));
  return { found: matching.map((one) => ({ ...one, text: prefix + one.text })), files };
}
