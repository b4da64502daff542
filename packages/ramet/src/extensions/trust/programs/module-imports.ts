/**
 * What a file in JavaScript or TypeScript imports by names that are written out, as far as these are relative, and whether it may
 * load or start more than that.
 */
import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { landingPath } from '../../../system/landing-path.ts';
import { readSmallText } from '../../../system/regular-file.ts';
import { linkedPaths } from '../linked-paths.ts';
import type { SearchGround } from '../module-files.ts';

export const MODULE_ENDING: RegExp = /\.[cm]?[jt]sx?$/;

export interface ModuleImports {
  /** Relative names: `./x`, `../x.js`. */
  readonly relative: readonly string[];
  /** Names of files by their whole URL: `new URL('./x', import.meta.url)`. */
  readonly named: readonly string[];
  /** Names of packages. */
  readonly packages: readonly string[];
  /** Files that it starts, as seen from where it runs, and commands for a shell. */
  readonly started: readonly string[];
  readonly scripts: readonly string[];
  /** Only the running program knows all that it loads. */
  readonly isOpen: boolean;
}

const QUOTED = '(["\'`])((?:(?!\\1)[^\\\\\\n$]|\\\\.)+)\\1';
/** Types are gone when it runs. */
const TYPES = /\b(?:import|export)\s+type\s+(?:\w+|\*(?:\s+as\s+\w+)?|\{[^{}]*\})\s*from\s*(["'])[^"'\n]*\1/g;
const FROM = new RegExp(`\\bfrom\\s*${QUOTED}`, 'g');
const BARE = new RegExp(`\\bimport\\s*${QUOTED}`, 'g');
const REMARK = '\\s*(?:/\\*[^*]*\\*/\\s*)?';
const CALLED = new RegExp(
  `\\b(?:import|require|require\\.resolve|import\\.meta\\.resolve)\\s*\\(${REMARK}${QUOTED}\\s*[,)]`,
  'g',
);
const COMPUTED = new RegExp(`(?<![\\w$.])(?:import|require)\\s*\\((?!${REMARK}${QUOTED}\\s*[,)])`);
const URLS = new RegExp(
  `\\bnew\\s+URL\\s*\\(\\s*${QUOTED}\\s*,\\s*(?:import\\.meta\\.url|__filename|\`file:)`,
  'g',
);
const STARTED = new RegExp(`\\b(?:fork|Worker)\\s*\\(\\s*${QUOTED}`, 'g');
const EXECUTED = new RegExp(`\\b(?:exec|execSync)\\s*\\(\\s*${QUOTED}`, 'g');
const SPAWNED = new RegExp(
  `\\b(?:spawn|spawnSync|execFile|execFileSync)\\s*\\(\\s*(?:${QUOTED}|process\\.execPath)\\s*,\\s*\\[([^\\][]*)\\]`,
  'g',
);
const COMMENTS = /^\s*\/\/.*$|^\s*\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))/gm;
const OPENS =
  /\b(?:child_process|worker_threads|createRequire|node:vm|node:module|dlopen|_load|runInThisContext)\b|(?<![\w$.])(?:eval|Function)\s*\(|['"]vm['"]|['"]module['"]|import\.meta\.glob|require\.(?:context|main\.require|cache|extensions|call|apply|bind)|[=:[(,]\s*require\s*(?:[;,})\]\n]|$)|\b(?:module|mainModule|globalThis)\s*\.\s*require\b|\bBun\.(?:\$|spawn)|\bDeno\.Command|from\s*['"](?:execa|zx|cross-spawn|shelljs|tinyexec)['"]/;

const known = new Map<string, ModuleImports>();
const MOST_KNOWN = 2_000;

/** `digest` is that of the text: the same text imports the same. */
export function moduleImports(text: string, digest: string): ModuleImports {
  const before = known.get(digest);
  if (before !== undefined) return before;
  const read = readModule(text);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(digest, read);
  return read;
}

function readModule(text: string): ModuleImports {
  const code = text.replace(COMMENTS, '').replace(TYPES, '');
  const names = (pattern: RegExp): string[] => Array.from(code.matchAll(pattern), ([, , name = '']) => name);
  const imported = [...new Set([FROM, BARE, CALLED].flatMap(names))].map((one) =>
    one.replace(/(?<=.)[?#].*$/s, ''),
  );
  return {
    relative: imported.filter(isRelative),
    named: names(URLS).filter((one) => !/^\w+:/.test(one)),
    packages: imported.filter((one) => !isRelative(one) && !/^(?:node|data|https?):/.test(one)),
    started: names(STARTED),
    scripts: [...names(EXECUTED), ...Array.from(code.matchAll(SPAWNED), spawned)],
    isOpen: OPENS.test(code) || COMPUTED.test(code) || imported.some((one) => /^(?:#|\/|file:)/.test(one)),
  };
}

function isRelative(name: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(name);
}

/** As a shell would read it. */
function spawned([, , program = 'node', list = '']: RegExpMatchArray): string {
  const words = Array.from(list.matchAll(/(["'`])((?:(?!\1)[^\\$])*)\1|[^\s,][^,]*/g), ([, , text]) =>
    text === undefined ? '"$1"' : `'${text.replaceAll("'", "'\\''")}'`,
  );
  return [`'${program}'`, ...words].join(' ');
}

/** In the order in which Node and those that read TypeScript look for them. */
const ENDINGS = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts', '.tsx', '.mts', '.cts', '.jsx'];
/** What a file is called that is compiled into one of this name. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
  '.jsx': ['.tsx'],
};
const CODE = /\.(?:[cm]?[jt]sx?|node|wasm|(?:ba|z)?sh|py|rb|pl)$/;

/** Files of the repository that a module loads by these names. What `new URL` names may be data, unless it looks like code. */
export function importedModules(
  { relative, named }: Pick<ModuleImports, 'relative' | 'named'>,
  path: string,
  /** With `folders` from which it looks: where it is named, and where it really is. */
  ground: SearchGround & { readonly folders: readonly string[] },
): string[] {
  const { folders } = ground;
  const found = new Set<string>();
  for (const folder of folders) {
    // Its version and its packages are data.
    for (const name of relative.filter((one) => basename(one) !== 'package.json'))
      for (const one of linkedPaths(folder, name))
        for (const file of filesNamed(one, path, ground)) found.add(file);
    for (const name of named)
      for (const one of linkedPaths(folder, name)) if (CODE.test(one) && isFile(one)) found.add(one);
  }
  return [...found].filter((one) => ground.isOurs(one) && !one.includes('/node_modules/'));
}

function filesNamed(path: string, by: string, ground: SearchGround): readonly string[] {
  const names = new Set(ground.list(dirname(path)).map((entry) => entry.name));
  const name = basename(path);
  if (names.has(name) && isFile(path)) return [path];
  const stem = path.slice(0, path.length - extname(path).length);
  const sources = (SOURCES[extname(path)] ?? []).map((ending) => `${stem}${ending}`);
  const ended = [...ENDINGS.map((ending) => `${path}${ending}`), ...sources].filter((one) =>
    names.has(basename(one)),
  );
  const [first] = ended;
  // Programs that read TypeScript take another first.
  if (first !== undefined) return /\.[cm]?tsx?$/.test(by) ? ended : [first];
  return names.has(name) ? filesOfFolder(path, by, ground) : [];
}

function filesOfFolder(path: string, by: string, ground: SearchGround): readonly string[] {
  const manifest = join(path, 'package.json');
  const main = mainOf(manifest);
  const begin = main === null ? [] : [manifest, ...filesNamed(join(path, main), by, ground)];
  const index = ground.list(path).filter(({ name }) => /^index\.(?:[cm]?[jt]sx?|json|node)$/.test(name));
  return begin.length > 1 ? begin : [...begin, ...index.map(({ name }) => join(path, name))];
}

function mainOf(manifest: string): string | null {
  try {
    const { main } = Object(JSON.parse(readSmallText(manifest)));
    return typeof main === 'string' && !/^\.?\/?$/.test(main) ? main : null;
  } catch {
    return null;
  }
}

/** A package of the repository itself, behind a link of `node_modules`. */
export function isLinkedPackage(name: string, path: string, { isOurs }: SearchGround): boolean {
  const own = name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
  for (let folder = dirname(path); isOurs(folder); folder = dirname(folder)) {
    const place = join(folder, 'node_modules', own);
    try {
      const stats = lstatSync(place, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const real = stats.isSymbolicLink() ? landingPath(place) : null;
      return real !== null && isOurs(real) && !real.includes('/node_modules/');
    } catch {
      return false;
    }
  }
  return false;
}

export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
