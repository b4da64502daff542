/** Names of files that programs are known to write, as far as their words say so. */

import type { ShellWord } from '../reading/shell-word.ts';
import { type CommandView, tailOf } from './command-views.ts';

const EVERY_NAME =
  /^(?:rm|rmdir|mv|touch|mkdir|tee|chmod|chown|chgrp|truncate|unlink|shred|mkfifo|mknod|sponge|ed|ex|chattr|setfacl|setfattr|gzip|gunzip|bzip2|bunzip2|xz|unxz|zstd|mktemp|patch)$/;
const LAST_NAME = /^(?:cp|ln|install|rsync|scp)$/;
/** The second name, where there is one. */
const SECOND_NAME = /^(?:split|csplit|uniq|xxd)$/;
const FIRST_NAME = /^(?:zip|ar)$/;
const IN_PLACE = /^(?:sed|perl|gsed|ruby)$/;
const BY_OPTION =
  /^(?:dd|tar|bsdtar|find|fd|sort|shuf|curl|wget|unzip|make|gmake|ninja|npm|pnpm|yarn|iconv|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|go|rustc|openssl|pandoc|ld)$/;

/** Letters of options whose value is the next word, and names no file that is written. */
const VALUED: Readonly<Record<string, string>> = {
  ...{ touch: 'rdt', truncate: 'sr', mkdir: 'mZ', install: 'mogS', split: 'lbnCa', csplit: 'bn', cp: 'S' },
  ...{ ln: 'S', mv: 'S', rsync: 'efB', scp: 'PioFclJS', patch: 'pFiDzgBVYr', xxd: 'lscgo', uniq: 'fsw' },
  ...{ shred: 'ns', mknod: 'm', mkfifo: 'm', setfacl: 'mxM', setfattr: 'nvx', zstd: 'T' },
};

/** A program that is known here, with what its letters mean. */
export function isWriter(program: string): boolean {
  return [EVERY_NAME, LAST_NAME, SECOND_NAME, FIRST_NAME, IN_PLACE, BY_OPTION].some((names) =>
    names.test(program),
  );
}

/** Of programs that take any names they are fed for files to write. */
export function writesWhatItIsFed(view: CommandView): boolean {
  return EVERY_NAME.test(view.program) || writesInPlace(view);
}

export function writtenNames(view: CommandView): ShellWord[] {
  const { program, words } = view;
  if (/^(?:tar|bsdtar)$/.test(program)) return ofTar(words);
  if (program === 'find') return ofFind(words);
  if (program === 'dd') return words.flatMap((word) => (/^of=/.test(word.start) ? tailOf(word, 3) : []));
  return [...byPlace(view), ...byOptions(program, words)];
}

function byPlace(view: CommandView): ShellWord[] {
  const { program, words } = view;
  if (IN_PLACE.test(program)) return writesInPlace(view) ? withoutScript(program, words) : [];
  const names = operands(words, VALUED[program] ?? '');
  if (EVERY_NAME.test(program)) return names;
  if (program === 'install' && words.some(({ value }) => /^-\w*d|^--directory/.test(value ?? '')))
    return names;
  if (program === 'ln' && names.length === 1) return [];
  if (LAST_NAME.test(program)) return valuesOf(words, TARGET).length > 0 ? [] : names.slice(-1);
  if (SECOND_NAME.test(program)) return names.slice(1, 2);
  return FIRST_NAME.test(program) ? names.slice(0, 1) : [];
}

function isOption({ value, start }: ShellWord): boolean {
  return (value ?? start).startsWith('-') && value !== '-';
}

function operands(words: readonly ShellWord[], valued: string): ShellWord[] {
  return words.filter((word, index) => {
    const [, letter = ''] = /^-\w*(\w)$/.exec(words[index - 1]?.value ?? '') ?? [];
    return (
      !isOption(word) && !(letter !== '' && `${valued}`.includes(letter)) && !/^[;+]$/.test(word.value ?? '')
    );
  });
}

function writesInPlace({ program, words }: CommandView): boolean {
  return IN_PLACE.test(program) && words.some(({ start }) => /^-\w*i|^--in-place/.test(start));
}

function withoutScript(program: string, words: readonly ShellWord[]): ShellWord[] {
  const carriers = program.endsWith('sed') ? /^(?:-[nErsz]*[ef]|--expression|--file)$/ : /^-\w*[eEMIm]$/;
  const given = words.some(({ start }) => /^--(?:expression|file)=/.test(start));
  const separate = words.some(({ value }) => carriers.test(value ?? ''));
  const names = words.filter(
    (word, index) => !isOption(word) && !carriers.test(words[index - 1]?.value ?? ''),
  );
  return given || separate ? names : names.slice(1);
}

const TARGET = /^(?:-t|--target-directory)$/;
const OUTPUT =
  /^(?:-o|--output|--out|--outfile|--out-file|--outDir|--outdir|--out-dir|--output-dir|--output-file|--output-document|--output-directory|--directory-prefix|--target-directory|--cookie-jar|--dump-header)$/;
/** What single letters mean to some programs only. */
const LETTERS: Readonly<Record<string, RegExp>> = {
  ...{
    cp: TARGET,
    mv: TARGET,
    ln: TARGET,
    install: TARGET,
    curl: /^-[a-zA-Z]*[ocD]$/,
    wget: /^-[a-z]*[OPo]$/,
    unzip: /^-d$/,
  },
  ...{
    mktemp: /^(?:-p|--tmpdir)$/,
    patch: /^-[dor]$/,
    make: /^-C$|^--directory$/,
    gmake: /^-C$/,
    ninja: /^-C$/,
  },
  ...{ npm: /^--prefix$|^-C$/, pnpm: /^(?:-C|--dir)$/, yarn: /^--cwd$/, openssl: /^-out$/, csplit: /^-f$/ },
};
const ATTACHED =
  /^(?:sort|shuf|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|curl|wget|make|mktemp|cp|mv|ln|install|unzip|iconv)$/;

function byOptions(program: string, words: readonly ShellWord[]): ShellWord[] {
  const own = LETTERS[program];
  const found = [...valuesOf(words, OUTPUT), ...(own === undefined ? [] : valuesOf(words, own))];
  if (!ATTACHED.test(program)) return found;
  const letters = own ?? OUTPUT;
  const attached = words.flatMap((word) =>
    /^-\w./.test(word.start) && letters.test(word.start.slice(0, 2)) ? tailOf(word, 2) : [],
  );
  return [...found, ...attached];
}

/** The words behind options of these names, and what `--name=` carries. */
export function valuesOf(words: readonly ShellWord[], names: RegExp): ShellWord[] {
  return words.flatMap((word, index) => {
    if (names.test(word.value ?? '')) return words[index + 1] ?? [];
    const [whole, name = ''] = /^(--[\w-]+)=/.exec(word.start) ?? [];
    return whole !== undefined && names.test(name) ? tailOf(word, whole.length) : [];
  });
}

function ofTar(words: readonly ShellWord[]): ShellWord[] {
  const [first] = words;
  const bundle = words.filter(({ value }, index) =>
    (index === 0 ? /^-?[a-zA-Z]+$/ : /^-[a-zA-Z]+$/).test(value ?? ''),
  );
  const letters = bundle.map(({ value }) => value).join('');
  const has = (letter: RegExp, name: RegExp): boolean =>
    letter.test(letters) || words.some(({ value }) => name.test(value ?? ''));
  const file = words.flatMap((word, index) =>
    (word === first ? /^-?[a-zA-Z]*f$/ : /^-[a-zA-Z]*f$/).test(word.value ?? '')
      ? (words[index + 1] ?? [])
      : [],
  );
  const archives = [...file, ...valuesOf(words, /^--file$/)];
  if (has(/[cru]/, /^--(?:create|append|update)$/)) return archives;
  if (!has(/x/, /^--(?:extract|get)$/)) return [];
  return valuesOf(words, /^(?:-C|--directory)$/);
}

const RUNS = /^-(?:exec|execdir|ok|okdir)$/;

/** Where it looks counts once it deletes what it finds, or hands that to a program that writes. */
function ofFind(words: readonly ShellWord[]): ShellWord[] {
  const listed = valuesOf(words, /^-(?:fprint0?|fls|fprintf)$/);
  const runs = words.flatMap(({ value }, index) =>
    RUNS.test(value ?? '') ? [words.slice(index + 1).map((word) => word.value ?? '')] : [],
  );
  const changes =
    words.some(({ value }) => value === '-delete') ||
    runs.some((inner) => inner.slice(0, 8).some((name) => isWriter(name.split('/').at(-1) ?? '')));
  const end = words.findIndex(({ value, start }) => /^[-(!]/.test(value ?? start));
  return changes ? [...words.slice(0, end === -1 ? undefined : end), ...listed] : listed;
}
