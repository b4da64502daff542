/** The files that programs which fetch something write it to, as far as their words say so. */
import { basename, join } from 'node:path';
import { isOperand } from './operand-words.ts';
import type { ShellWord } from './reading/shell-word.ts';

interface DownloadGrammar {
  /** Letters that take the rest of the word, or the next one. */
  valued: string;
  /** Options that name a file, by letter or whole long name. */
  files: string;
  /** That name the folder in which files are put. */
  folder: string;
  /** With these the end of the address is the name of the file. */
  remote: RegExp;
  /** What `folder` counts for: named files too, or the ends of addresses alone. */
  allInFolder: boolean;
}

const HTTPIE: DownloadGrammar = {
  ...{ valued: 'opasA', files: '-o --output', folder: '', remote: /^(?!)/, allInFolder: false },
};

const PROGRAMS: Readonly<Record<string, DownloadGrammar>> = {
  curl: {
    valued: 'AbcCdDeEFhHKmoPQrtTuUwxXyYz',
    files:
      '-o -D -c --output --dump-header --cookie-jar --stderr --trace --trace-ascii --etag-save --hsts --alt-svc --libcurl',
    folder: '--output-dir',
    remote: /^(?:-O|--remote-name|--remote-name-all)$/,
    allInFolder: true,
  },
  wget: {
    valued: 'aABDeiIlnoOPQRtTUwX',
    files:
      '-O -o -a --output-document --output-file --append-output --save-cookies --hsts-file --warc-file --rejected-log',
    folder: '-P --directory-prefix',
    // Without them a name that is taken gets a number.
    remote: /^(?:-[NrmpcP]|--(?:timestamping|recursive|mirror|page-requisites|continue|directory-prefix))$/,
    allInFolder: false,
  },
  ...{ http: HTTPIE, https: HTTPIE, xh: HTTPIE },
  aria2c: {
    valued: 'oldijsxkMm',
    files: '-o -l --out --log',
    folder: '-d --dir',
    remote: /^-[a-z]$/,
    allInFolder: true,
  },
};

/** Null for a program that is none of these. */
export function downloadedFiles(program: string, words: readonly ShellWord[]): ShellWord[] | null {
  const grammar = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined;
  if (grammar === undefined) return null;
  const options = optionsOf(words, grammar);
  const [fileNames, folderNames] = [grammar.files.split(' '), grammar.folder.split(' ')];
  const folder = options.find(({ name }) => folderNames.includes(name))?.value?.value ?? null;
  const inFolder = (word: ShellWord): ShellWord =>
    folder === null || word.value === null ? word : literal(join(folder, word.value));
  const named = options.flatMap(({ name, value }) =>
    fileNames.includes(name) && value !== null ? [value] : [],
  );
  const ends = options.some(({ name }) => grammar.remote.test(name)) ? words.flatMap(endOfAddress) : [];
  return [...(grammar.allInFolder ? named.map(inFolder) : named), ...ends.map(inFolder)];
}

interface GivenOption {
  /** A letter with its dash, or a long name in full. */
  name: string;
  value: ShellWord | null;
}

function optionsOf(words: readonly ShellWord[], { valued, files, folder }: DownloadGrammar): GivenOption[] {
  const longNames = `${files} ${folder}`.split(' ').filter((name) => name.startsWith('--'));
  return words.flatMap((word, index) => {
    const text = word.value ?? word.start;
    const next = words[index + 1] ?? null;
    if (isOperand(word) || text === '-') return [];
    if (text.startsWith('--')) return [longOption(word, next, longNames)];
    return lettersOf(word, next, valued);
  });
}

/** A beginning of a long name counts as the name. */
function longOption(word: ShellWord, next: ShellWord | null, longNames: readonly string[]): GivenOption {
  const text = word.value ?? word.start;
  const [given = '', attached] = text.split(/=(.*)/s);
  const name = longNames.find((long) => long === given) ?? longNames.find((long) => long.startsWith(given));
  if (attached === undefined) return { name: name ?? given, value: next };
  return { name: name ?? given, value: word.value === null ? null : literal(attached) };
}

function lettersOf(word: ShellWord, next: ShellWord | null, valued: string): GivenOption[] {
  const text = word.value ?? word.start;
  const found: GivenOption[] = [];
  for (let at = 1; at < text.length; at++) {
    const name = `-${text.charAt(at)}`;
    const isValued = valued.includes(text.charAt(at));
    const rest = text.slice(at + 1);
    // `-nv` and its like take one letter.
    if (name === '-n' && isValued) at += 1;
    else if (isValued) {
      found.push({ name, value: rest === '' ? next : word.value === null ? null : literal(rest) });
      break;
    } else found.push({ name, value: null });
  }
  return found;
}

/** `a.md` of `http://host/docs/a.md?raw=1`, in which the shell sees a pattern. */
function endOfAddress({ value, source }: ShellWord): ShellWord[] {
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(value ?? source.replace(/["']/g, ''))?.[1] ?? '';
  const name = basename(path);
  return name === '' ? [] : [literal(name)];
}

function literal(value: string): ShellWord {
  return { source: value, value, start: value };
}
