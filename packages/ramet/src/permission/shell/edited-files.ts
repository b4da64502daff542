/**
 * Files that a script certainly changes: those it redirects to, and those that it names to a program whose purpose is to write them. What
 * a program writes by itself, such as a test or a build, is not known. For refusals where commands may run and nothing is to be repaired.
 */
import { basename } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import { actingCommand } from './acting-command.ts';
import { isOperand } from './operand-words.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { understandScript } from './reading/understand-script.ts';

/** Absolute paths, links followed; whether they exist is not asked. */
export async function editedFiles(script: string, cwd: string): Promise<string[]> {
  const { commands, files } = await understandScript(script, { directories: [cwd] });
  const named = [
    ...files.filter(({ access }) => access === 'write').map((file) => ({ ...file, words: [file.word] })),
    ...commands.map(({ layers: [outer] }) => {
      const acting = actingCommand(outer);
      return { words: editedBy(acting), directories: acting.directories };
    }),
  ];
  const paths = named.flatMap(({ words, directories }) =>
    (directories ?? []).flatMap((directory) =>
      words.flatMap(({ value }) => (value === null ? [] : (openedPath(directory, value) ?? []))),
    ),
  );
  return [...new Set(paths)];
}

type Edits = (operands: readonly ShellWord[], options: readonly ShellWord[]) => readonly ShellWord[];

const all: Edits = (operands) => operands;
const last: Edits = (operands) => operands.slice(-1);
const withOption =
  (pattern: RegExp): Edits =>
  (operands, options) =>
    options.some(({ start, value }) => pattern.test(value ?? start)) ? operands : [];

const EDITORS: Readonly<Record<string, Edits>> = {
  sed: withOption(/^(?:-[a-zA-Z]*i|--in-place)/),
  gsed: withOption(/^(?:-[a-zA-Z]*i|--in-place)/),
  perl: withOption(/^-[a-zA-Z0-9]*i/),
  ruby: withOption(/^-[a-zA-Z0-9]*i/),
  ...{ tee: all, truncate: all, ed: all, ex: all, patch: all },
  ...{ cp: last, mv: all, install: last },
  dd: (operands) =>
    operands.flatMap(({ value, ...word }) =>
      value?.startsWith('of=') === true ? [{ ...word, value: value.slice('of='.length) }] : [],
    ),
};

/** The words of a git command that put other content into files of the work tree. */
const GIT_EDITS = /^(?:checkout|restore|rm|mv)$/;

function editedBy({ words }: ShellCommand): readonly ShellWord[] {
  const [program, ...rest] = words;
  const name = basename(program?.value ?? '');
  if (name === 'git') return GIT_EDITS.test(rest[0]?.value ?? '') ? rest.slice(1).filter(isOperand) : [];
  const edits = Object.hasOwn(EDITORS, name) ? EDITORS[name] : undefined;
  const options = rest.filter((word) => !isOperand(word));
  return edits?.(rest.filter(isOperand), options) ?? [];
}
