/**
 * Options that name a folder which a program writes in: `tar -xf a.tar -C docs`, `npm --prefix docs install`. What it
 * puts there counts as written, though no word names it.
 */
import { HERE, isOperand } from './operand-words.ts';
import type { ShellWord } from './reading/shell-word.ts';

interface FolderGrammar {
  /** Short options: `-C docs`, `-xC docs`, `-Cdocs`. */
  letters: string;
  /** Long options besides those that name a folder everywhere. */
  names?: RegExp;
  /** Operands that are such folders. */
  operands?: RegExp;
  /** It writes there only with one of these options, or with such a first word. */
  only?: RegExp;
  first?: RegExp;
}

const TAR: FolderGrammar = {
  ...{ letters: 'C', names: /^(?:one-top-level|cd)$/ },
  ...{ only: /^(?:-[a-zA-Z]*x[a-zA-Z]*|--(?:extr?a?c?t?|get))$/, first: /^[a-zA-Z]*x/ },
};
const SEVEN_ZIP: FolderGrammar = { letters: 'o' };
const PIP: FolderGrammar = { letters: 't', names: /^(?:target|root|src)$/ };
const DOCUMENTS: FolderGrammar = { letters: 'd' };
const ELSE: FolderGrammar = { letters: 'C' };

const FOLDERS: Readonly<Record<string, FolderGrammar>> = {
  ...{ tar: TAR, gtar: TAR, bsdtar: TAR, cpio: { letters: 'D' } },
  ...{ unzip: { letters: 'd' }, '7z': SEVEN_ZIP, '7za': SEVEN_ZIP, '7zr': SEVEN_ZIP, '7zz': SEVEN_ZIP },
  ...{ unrar: { letters: '', operands: /\/$/ }, unsquashfs: { letters: 'd', names: /^dest$/ } },
  patch: { letters: 'd' },
  git: { letters: '', first: /^(?:apply|am|checkout-index|subtree|read-tree)$/ },
  cmake: { letters: 'B', names: /^(?:build|install)$/ },
  meson: { letters: 'C', operands: /./ },
  wget: { letters: 'P' },
  ...{ pip: PIP, pip3: PIP, uv: PIP, cargo: { letters: 'C', names: /^root$/ } },
  ...{ split: { letters: '', operands: /\/$/ }, csplit: { letters: 'f' }, mktemp: { letters: 'p' } },
  ...{ hugo: DOCUMENTS, mkdocs: DOCUMENTS, mdbook: DOCUMENTS, jekyll: DOCUMENTS, javac: DOCUMENTS },
};

const OUTPUT_FOLDER =
  /^(?:(?:[\w-]+-)?(?:out|output|dest|destination)|(?:[\w-]*-)?(?:out|output|dest|target|build|install)-?(?:dir|directory|folder|path|root)|basetemp)$/i;
const FOLDER = /^(?:directory|dir|chdir|cwd|prefix|directory-prefix|modules-folder|tmpdir)$/;

/** The folders that these options of any program name, and those of the program itself. */
export function writtenFolders(name: string, words: readonly ShellWord[]): ShellWord[] {
  const grammar = (Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : null) ?? ELSE;
  if (!writesThere(grammar, words)) return [];
  const { letters, names, operands } = grammar;
  const isNamed = (option: string): boolean =>
    FOLDER.test(option) || OUTPUT_FOLDER.test(option) || names?.test(option) === true;
  return [
    ...valuesOf(words, (text) => longValue(text, isNamed) ?? shortValue(text, letters)),
    // The letters of `tar xfC a.tar docs` take their values in turn.
    ...(grammar === TAR && /^[a-zA-Z]*C/.test(words[0]?.start ?? '') ? words.slice(1) : []),
    ...words.filter((word) => isOperand(word) && operands?.test(word.value ?? '')),
    ...(buildsHere(name, words) ? [HERE] : []),
  ];
}

function writesThere({ only, first }: FolderGrammar, words: readonly ShellWord[]): boolean {
  if (only === undefined && first === undefined) return true;
  if (first?.test(words[0]?.start ?? '')) return true;
  return words.some(({ value, start }) => only?.test(value ?? start) || (value === null && start === ''));
}

/** Of a program that writes nothing else: a test runner, a checker. */
export function outputFolders(words: readonly ShellWord[]): ShellWord[] {
  return valuesOf(words, (text) => longValue(text, (option) => OUTPUT_FOLDER.test(option)));
}

/** `read` answers with the value that is attached to an option, '' if the next word is it, null for other words. */
function valuesOf(words: readonly ShellWord[], read: (text: string) => string | null): ShellWord[] {
  return words.flatMap(({ value, start }, index) => {
    const attached = read(value ?? start);
    if (attached === '') return words[index + 1] ?? [];
    return attached === null ? [] : { source: attached, value: attached, start: attached };
  });
}

function longValue(text: string, isNamed: (option: string) => boolean): string | null {
  const [, option, attached = ''] = /^--?([a-zA-Z][\w-]+)(?:=(.*))?$/s.exec(text) ?? [];
  return option !== undefined && isNamed(option) ? attached : null;
}

function shortValue(text: string, letters: string): string | null {
  if (letters === '' || !/^-[a-zA-Z0-9]/.test(text)) return null;
  const at = text.search(new RegExp(`[${letters}]`));
  return at === -1 ? null : text.slice(at + 1);
}

/** Without an argument these build or install in the working directory. */
const BUILDS =
  /^(?:[bg]?make|ninja|samu|just|task|rake|scons|tup|ant|gradlew?|yarn|bundle|tsc|vue-tsc|webpack|tsup)$/;
const ONLY_TELLS = /^(?:-[hvVn]|--?(?:help|version|dry-run|just-print|recon|noEmit|list))$/;

function buildsHere(name: string, words: readonly ShellWord[]): boolean {
  return BUILDS.test(name) && !words.some((word) => isOperand(word) || ONLY_TELLS.test(word.value ?? ''));
}
