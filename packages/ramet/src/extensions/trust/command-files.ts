/** The files that a command names, as far as that can be told without a shell. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { digestOf } from '../../system/digest.ts';

/** Programs that run what a file says: that of the directory, or the nearest above it. */
const FILES_OF_PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    npm: ['package.json'],
    npx: ['package.json'],
    pnpm: ['package.json'],
    yarn: ['package.json'],
    bun: ['package.json'],
    make: ['Makefile', 'makefile', 'GNUmakefile'],
    just: ['justfile', 'Justfile'],
    cargo: ['Cargo.toml'],
  }),
);

const LARGEST_FILE = 16 << 20;
const LONGEST_WORD = 1_000;
/** Into a file: what is written is not what runs. `<>` also reads, and `->` and `=>` are no redirections. */
const WRITTEN = /(?<![<=-])>{1,2}\|?[ \t]*(?!&)(?:"[^"]*"|'[^']*'|[^\s;|&()<>"'`]+)/g;

/** Stands for the root until words are apart: its own name may have spaces. */
const ROOT = '\u0001';

export interface NamedPath {
  /** Absolute; links are not followed, and nothing needs to be there. */
  readonly path: string;
  /** The command spells it as an absolute path. */
  readonly isAbsolute: boolean;
}

/** What the words of a command would name in each of the directories. */
export function pathsNamed(
  command: string,
  root: string,
  directories: readonly string[],
): { readonly paths: readonly NamedPath[]; readonly isUnclear: boolean } {
  const words = command
    .replace(/"?\$(?:\{CLAUDE_PROJECT_DIR\}|CLAUDE_PROJECT_DIR\b)"?/g, ROOT)
    .replace(WRITTEN, ' ')
    .split(/[\s;|&()<>"'`=,]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(ROOT, root));
  const names = words.filter((word) => word.length <= LONGEST_WORD && !word.includes('\0'));
  const programs = new Set(names.flatMap((word) => FILES_OF_PROGRAMS.get(basename(word)) ?? []));
  const found = new Map<string, NamedPath>();
  for (const directory of new Set(directories)) {
    for (const name of names) {
      const path = resolve(directory, name);
      if (!found.has(path)) found.set(path, { path, isAbsolute: isAbsolute(name) });
    }
    for (const name of programs) {
      const path = nearest(directory, name);
      if (path !== null) found.set(path, { path, isAbsolute: false });
    }
  }
  const isUnclear = words.some((word) => /[$*?]/.test(word) && word.includes('/'));
  return { paths: [...found.values()], isUnclear };
}

/** Not above the checkout, whose files are all that counts. */
function nearest(directory: string, name: string): string | null {
  for (let folder = directory; ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) return path;
    if (folder === dirname(folder) || existsSync(join(folder, '.git'))) return null;
  }
}

/** Null for one that is too large to read, or cannot be read. */
export function contentOf(path: string): { readonly digest: string; readonly bytes: Buffer } | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > LARGEST_FILE) return null;
    const bytes = whatCounts(path, readFileSync(path));
    return { digest: digestOf(bytes), bytes };
  } catch {
    return null;
  }
}

const CHANGES_OFTEN =
  /^(?:version|(?:\w+D|d)ependenc(?:ies|iesMeta)|bundledDependencies|overrides|resolutions)$/;

/** Another package that a project needs changes nothing about the scripts that a command runs. */
function whatCounts(path: string, bytes: Buffer): Buffer {
  if (basename(path) !== 'package.json') return bytes;
  try {
    const fields = Object.entries(JSON.parse(bytes.toString('utf8')));
    const kept = Object.fromEntries(fields.filter(([key]) => !CHANGES_OFTEN.test(key)));
    return Buffer.from(JSON.stringify(kept, null, 2));
  } catch {
    return bytes;
  }
}
