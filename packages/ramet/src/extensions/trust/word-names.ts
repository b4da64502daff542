/** What the words of a command may name, and which files it may run. */
import type { ScriptWord } from '../../permission/shell/script-words.ts';
import { dataIn } from './argument-data.ts';

export interface NamedPath {
  /** Absolute; links are not followed, and nothing needs to be there. */
  readonly path: string;
  /** The command spells it as an absolute path that leads out of the checkouts it may start in. */
  readonly isAbsolute: boolean;
  /** The command itself writes it, in a temporary folder: in any case before it runs it, or as a copy of another. */
  readonly written?: WrittenAs | undefined;
  /** Of what was read of it to find out what it loads. */
  readonly digest?: string | undefined;
}

export type WrittenAs = 'replaced' | 'copied';

export interface CommandReach {
  readonly paths: readonly NamedPath[];
  /** Every file in these counts. */
  readonly folders: readonly string[];
  /** Why it is not known what it runs; null where it is. */
  readonly unclear: string | null;
  /** Of a script in Python that imports what only it knows: every file that Python can load counts in these folders. */
  readonly imports: { readonly script: string; readonly folders: readonly string[] } | null;
  /** Programs that are not known here: what they load is not known either. */
  readonly unknown: readonly string[];
  /** What else loads files that no word names. It is only listed: nobody has to trust it again for that. */
  readonly loads: readonly string[];
  /** Compilers that it starts. */
  readonly built: readonly string[];
  /** Files and folders that these are told to write. */
  readonly outputs: readonly string[];
  /** What it runs by a name of its own: each with the paths that it can have. */
  readonly executed: readonly { readonly name: string; readonly paths: readonly string[] }[];
}

const LONGEST_WORD = 1_000;
/** Into a file: what is written is not what runs. `<>` also reads, and `->` and `=>` are no redirections. */
const WRITTEN = /(?<![<=-])>{1,2}\|?[ \t]*(?!&)(?:"[^"]*"|'[^']*'|[^\s;|&()<>"'`]+)/g;

/** Without knowing the language: what stands between blanks, quotes and signs. */
export function roughWords(text: string, root: string): string[] {
  return text
    .replace(/"?\$(?:\{CLAUDE_PROJECT_DIR\}|CLAUDE_PROJECT_DIR\b)"?/g, ROOT)
    .replace(WRITTEN, ' ')
    .split(/[\s;|&()<>"'`=,]+/)
    .map((word) => word.replace(ROOT, root));
}

/** Stands for the root until words are apart: its own name may have spaces. */
const ROOT = '\u0001';
const MOST_LETTERS = 6;

/** What a word may name: itself, or what stands behind a sign or letters of an option: `--x=a`, `-ra`, `@a`, `a:b`, `!a`. */
export function namesIn(word: string): string[] {
  const parts = word.split(/[=:@!]/);
  const letters = /^-[A-Za-z]/.test(word) ? Math.min(MOST_LETTERS, word.length - 2) : 0;
  return [word, ...parts, ...Array.from({ length: letters }, (_, index) => word.slice(index + 2))];
}

const CODE = /[\s"'`()]/;

/**
 * A word that is code for an interpreter names files as that gets it: without the quotes and backslashes of the shell.
 * Scripts that are carried to a shell are read by themselves.
 */
export function namesInWords(words: readonly ScriptWord[], { carried, quiet, root }: WordGround): string[] {
  return words.flatMap((word) => {
    const isData = new Set(quiet.has(word) ? dataIn(word) : []);
    return word.texts.flatMap((text) => {
      const isCode = CODE.test(text) && !carried.has(word);
      const inCode = isCode ? roughWords(text, root).filter((name) => !isData.has(name)) : [];
      return [...namesIn(text), ...inCode];
    });
  });
}

interface WordGround {
  readonly carried: ReadonlySet<ScriptWord | null>;
  /** Code that runs nothing that it reads. */
  readonly quiet: ReadonlySet<ScriptWord>;
  readonly root: string;
}

export function isName(word: string): boolean {
  return word !== '' && word.length <= LONGEST_WORD && !word.includes('\0');
}

export function isPath(word: string): boolean {
  return /^[\w@.-]*\/[\w@./-]+$/.test(word);
}
