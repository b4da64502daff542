/** What the readers of operands share: which words are options, and which of these name an output. */
import type { ShellWord } from './reading/shell-word.ts';

export interface WrittenOperands {
  /** Words that may name a written file. */
  words: readonly ShellWord[];
  /** Those that, as folders, are changed with all they hold: `rm -r docs`. */
  whole: readonly ShellWord[];
  /** Folders in which it writes files that the command does not name: `tar -C docs`. */
  inside?: readonly ShellWord[];
  /** The program itself reads `*` in them, quoted or not. */
  patterns?: boolean;
}

/** The working directory, for a program that takes it when nothing is named. */
export const HERE: ShellWord = { source: '.', value: '.', start: '.' };

const OUTPUT =
  /^(?:-o|-t|--?(?:[\w.-]*(?:output|outfile|out-?dir|xml|report(?!er)|log(?!-?level)|dest|save|write|profile|trace|target-dir|buildinfo)[\w.-]*))$/i;

export function isOperand({ value, start }: ShellWord): boolean {
  return !(value ?? start).startsWith('-');
}

/** An option with a value attached that may be a file, or what stands behind one that names an output. */
export function isOutput({ value, start }: ShellWord, index: number, all: readonly ShellWord[]): boolean {
  const text = value ?? start;
  if (OUTPUT.test(all[index - 1]?.value ?? '')) return true;
  if (!text.startsWith('-')) return false;
  const [option = '', attached] = text.split(/=(.*)/s);
  if (attached !== undefined) return OUTPUT.test(option) || value === null || /[./]/.test(attached);
  return value === null || /^-o./.test(text) || (!text.startsWith('--') && /[./]/.test(text));
}
