/** Options of programs, as `getopt_long` and its like read them: clusters of letters, beginnings of long names. */
import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';

export interface DangerousOptions {
  /** Letters that make the program write or run something. */
  letters?: string;
  /** Letters that take the rest of the word, or the next one, as their value. */
  valued?: string;
  /** Long names without dashes; any beginning of one counts too. */
  names?: readonly string[];
  /** It looks for `--` before it reads options, so none of them takes it for its value: git. */
  separatorFirst?: boolean;
}

/** Is there a word that is, or could turn out to be, one of the dangerous options? */
export function hasDangerousOption(words: readonly ShellWord[], options: DangerousOptions): boolean {
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined || !mayBeOption(word)) continue;
    if (word.value === null) {
      if (word.splits || !isKnownStart(word.start, options)) return true;
      continue;
    }
    if (word.value === '--') {
      if (options.separatorFirst || !mayTakeNext(words[index - 1])) return false;
      continue;
    }
    if (word.value.startsWith('--')) {
      if (isDangerousName(word.value, options)) return true;
      continue;
    }
    const cluster = readCluster(word.value.slice(1), options);
    if (cluster === 'dangerous') return true;
    if (cluster === 'takes next') index++;
  }
  return false;
}

/** After `--name` the `--` may be its value and no end of the options. */
function mayTakeNext(word: ShellWord | undefined): boolean {
  return word !== undefined && mayBeOption(word) && /^--[^=]+$/.test(word.value ?? '--…');
}

/** An option whose end is open, such as `--format=$x` or `-t$x`. */
function isKnownStart(start: string, options: DangerousOptions): boolean {
  if (start.startsWith('--')) return start.includes('=') && !isDangerousName(start, options);
  const letter = start[1];
  return (
    letter !== undefined &&
    (options.valued ?? '').includes(letter) &&
    !(options.letters ?? '').includes(letter)
  );
}

function isDangerousName(word: string, { names = [] }: DangerousOptions): boolean {
  const [name = ''] = word.slice(2).split('=');
  return names.some((dangerous) => dangerous.startsWith(name));
}

function readCluster(letters: string, options: DangerousOptions): 'dangerous' | 'takes next' | 'harmless' {
  for (const [index, letter] of [...letters].entries()) {
    if (options.letters?.includes(letter)) return 'dangerous';
    if (options.valued?.includes(letter)) return index === letters.length - 1 ? 'takes next' : 'harmless';
  }
  return 'harmless';
}

/** Words that are certainly no options, or null when a word could be either. */
export function operandsOf(words: readonly ShellWord[], valued = ''): ShellWord[] | null {
  const operands: ShellWord[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) continue;
    if (!mayBeOption(word)) operands.push(word);
    else if (word.value === null) return null;
    else if (word.value === '--') return [...operands, ...words.slice(index + 1)];
    else if (/^-[^-]/.test(word.value) && valued.includes(word.value.at(-1) ?? ' ')) index++;
  }
  return operands;
}
