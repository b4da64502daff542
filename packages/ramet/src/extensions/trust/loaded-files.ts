/**
 * The files that scripts of a repository load in turn: what a script of a shell sources or runs by a name that can be told, and what a
 * module in JavaScript or TypeScript imports by a relative one.
 *
 * Invariants
 * 1. What is certainly loaded counts. What a script works on does not, nor what it writes itself, nor packages.
 * 2. A file that may load more than this is `open`: it is listed and stops nothing.
 * 3. Reading is bounded; what is beyond the bounds makes the file that names it open.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { landingPath } from '../../system/landing-path.ts';
import { gitLoads } from './git-loads.ts';
import { linkedPaths } from './linked-paths.ts';
import type { SearchGround } from './module-files.ts';
import { jqModules } from './programs/jq-modules.ts';
import { codeLoads } from './programs/loading-options.ts';
import type { LoadGround } from './programs/loading-programs.ts';
import {
  importedModules,
  isFile,
  isLinkedPackage,
  MODULE_ENDING,
  moduleImports,
} from './programs/module-imports.ts';
import { languageOf, type ScriptLanguage } from './programs/script-language.ts';
import type { CalledGit, LoadedCode, LoadedName, ShellLoads, ShellText } from './programs/shell-finds.ts';
import { shellLoads } from './programs/shell-loads.ts';
import { checkoutOf, isDirectory, isTemporary, namePattern } from './repository-look.ts';
import { contentOf } from './trusted-content.ts';

export interface LoadedFiles {
  readonly paths: readonly string[];
  /** Files that load what only they know. */
  readonly open: readonly string[];
  /** Python that a script runs: its files, and its code with the script that holds it. */
  readonly python: readonly string[];
  readonly codes: readonly LoadedCode[];
  /** Folders that scripts change into. */
  readonly places: readonly string[];
  /** Of all that was read, in one look. */
  readonly digests: ReadonlyMap<string, string>;
  /** No program is started with these. */
  readonly imported: ReadonlySet<string>;
}

export interface LoadPlace {
  readonly root: string;
  readonly search: SearchGround;
  readonly finds: LoadGround;
}

/** A file that may run, with the program that runs it where that is known. */
export interface RunFile {
  readonly path: string;
  readonly by: string | null;
  /** Behind `#!`. */
  readonly line: string | null;
}

/** With which Node begins a folder. */
const BEGINNING = { relative: ['./'], named: [] };
const NODE = /^(?:node(?:js)?|bun|tsx|ts-node)$/;
const MOST_FILES = 300;
const MOST_ROUNDS = 8;
const MOST_PLACES = 24;
const LARGEST = 512 << 10;
const MATCHES_MOST = 100;
export function loadedFiles(files: readonly RunFile[], place: LoadPlace): LoadedFiles {
  const walk = new LoadWalk(place);
  for (const file of files) walk.start(file);
  walk.finish();
  return walk;
}

class LoadWalk implements LoadedFiles {
  readonly #place: LoadPlace;
  readonly #paths = new Set<string>();
  readonly #open = new Set<string>();
  readonly #python = new Set<string>();
  readonly #shell = new Map<string, ShellText>();
  readonly #modules = new Set<string>();
  readonly digests: Map<string, string> = new Map();
  readonly imported: Set<string> = new Set();
  readonly #realFolders = new Map<string, string>();
  codes: readonly LoadedCode[] = [];
  places: readonly string[];

  constructor(place: LoadPlace) {
    this.#place = place;
    this.places = [...place.search.directories];
  }

  get paths(): string[] {
    return [...this.#paths];
  }

  get open(): string[] {
    return [...this.#open];
  }

  get python(): string[] {
    return [...this.#python];
  }

  start({ path, by, line }: RunFile): void {
    this.#follow(path, languageOf(path, by, line), path);
  }

  /** Scripts know each other's variables, so each new one is a reason to look at all again. */
  finish(): void {
    for (let round = 0; this.#shell.size > 0; round++) {
      const before = this.#shell.size;
      const loads = shellLoads([...this.#shell.values()], this.#scene());
      this.codes = loads.codes;
      for (const path of loads.open) this.#open.add(path);
      this.#enter(loads);
      for (const one of loads.names) this.#named(one, loads);
      for (const one of loads.patterns) this.#matching(one);
      for (const one of loads.git) this.#git(one, loads);
      for (const one of loads.codes) this.#code(one);
      this.#queried(loads);
      if (this.#shell.size === before) return;
      if (round >= MOST_ROUNDS) return void this.#open.add([...this.#shell.values()].at(-1)?.path ?? '');
    }
  }

  #scene(): Parameters<typeof shellLoads>[1] {
    const { root, search, finds } = this.#place;
    return { root, tops: [...new Set([root, ...[...search.directories].map(checkoutOf)])], finds };
  }

  #enter({ places }: ShellLoads): void {
    const found = new Set(this.places);
    for (const folder of found)
      for (const name of places)
        for (const path of linkedPaths(folder, name))
          if (found.size < MOST_PLACES && !found.has(path) && this.#isOwn(path) && isDirectory(path))
            found.add(path);
    this.places = [...found];
  }

  #isOwn(path: string): boolean {
    return (this.#place.search.isOurs(path) || isTemporary(path)) && !path.includes('/node_modules/');
  }

  #named({ name, by, from }: LoadedName, { written }: ShellLoads): void {
    if (name === '' || name.includes('\0')) return;
    if (written.has(name)) this.#open.add(from.path);
    // Packages have their place in what is not followed.
    const ended = NODE.test(by) ? ['', '.js', '/index.js', '/package.json', '.cjs', '.mjs', '.ts'] : [''];
    const modules = by.startsWith('py') ? ['', '.py', '/__main__.py', '/__init__.py'] : ended;
    for (const folder of this.places)
      for (const path of modules.flatMap((ending) => linkedPaths(folder, `${name}${ending}`))) {
        if (!this.#isOwn(path)) continue;
        if (NODE.test(by) && isDirectory(path)) this.#imports(BEGINNING, path, from);
        if (!isFile(path)) continue;
        if (this.#isWritten(path, written)) this.#open.add(from.path);
        else this.#found(path, by, from);
      }
  }

  /** As code that lies in this folder. */
  #imports(names: Parameters<typeof importedModules>[0], folder: string, from: ShellText): void {
    const ground = { ...this.#place.search, folders: [folder] };
    const found = importedModules(names, join(folder, 'code.js'), ground);
    for (const path of found) this.#found(path, 'import', from);
  }

  /** By the script itself, whose own text decides what is in it. */
  #isWritten(path: string, written: ReadonlySet<string>): boolean {
    return [...written].some((name) => this.places.some((folder) => resolve(folder, name) === path));
  }

  #found(path: string, by: string, from: ShellText): void {
    if (this.#paths.size >= MOST_FILES) return void this.#open.add(from.path);
    this.#paths.add(path);
    // Data, of what is imported, unless its ending says more.
    if (by === 'jq' || path.endsWith('.json') || (by === 'import' && !MODULE_ENDING.test(path))) return;
    const language = by === 'source' ? 'shell' : languageOf(path, by, null);
    if (language === 'python') this.#python.add(path);
    else this.#follow(path, language, by === 'source' ? from.zero : path);
  }

  #follow(path: string, language: ScriptLanguage, zero: string): void {
    if (language === 'shell') this.#script(path, zero);
    else if (language === 'module') this.#module(path);
    else if (language === 'other') this.#other(path);
  }

  #matching(one: LoadedName): void {
    const slash = one.name.lastIndexOf('/');
    const [before, last] = [one.name.slice(0, slash + 1), one.name.slice(slash + 1)];
    if (/[*?[]/.test(before)) return void this.#open.add(one.from.path);
    const pattern = namePattern(last);
    for (const folder of this.places)
      for (const at of linkedPaths(folder, before === '' ? '.' : before)) {
        const isMatch = ({ name }: { name: string }): boolean => pattern.test(name) && !name.startsWith('.');
        const names = this.#place.search.list(at).filter(isMatch);
        if (names.length > MATCHES_MOST) this.#open.add(one.from.path);
        for (const { name } of names.slice(0, MATCHES_MOST)) {
          const path = join(at, name);
          if (this.#isOwn(path) && isFile(path)) this.#found(path, one.by, one.from);
        }
      }
  }

  /** What `.git/config` names runs wherever git does. */
  #git(one: CalledGit, { git }: ShellLoads): void {
    const call = { ...one, settings: git.flatMap(({ settings }) => settings) };
    for (const top of this.#scene().tops) {
      const { scripts, paths, programs, isOpen } = gitLoads(call, top, this.places);
      if (isOpen) this.#open.add(call.from.path);
      for (const { path, text } of scripts) this.#add({ path, zero: path, text, digest: text });
      const isOwnFile = (path: string): boolean => this.#isOwn(path) && isFile(path);
      for (const path of paths.filter(isOwnFile)) this.#paths.add(path);
      for (const path of programs.filter(isOwnFile)) this.#found(path, 'kernel', call.from);
    }
  }

  #queried({ queries }: ShellLoads): void {
    const ground = { ...this.#place.search, directories: new Set(this.places) };
    for (const path of queries.flatMap((one) => jqModules(one, ground))) this.#paths.add(path);
  }

  /** Code that a script has JavaScript run: what it imports is looked for where it may start. */
  #code({ program, text, from }: LoadedCode): void {
    if (!/^node/.test(program.name) || text === '') return;
    const { isOpen, started, scripts, ...names } = moduleImports(text, text);
    if (isOpen) this.#open.add(from.path);
    for (const folder of this.places) this.#imports(names, folder, from);
    for (const one of [...scripts, ...started.map((name) => `node '${name}'`)])
      this.#add({ path: from.path, zero: from.path, text: one, digest: one });
  }

  #script(path: string, zero: string): void {
    const read = this.#read(path);
    if (read === null || read.text.includes('\0')) return;
    for (const at of new Set([path, landingPath(path) ?? path]))
      this.#add({ path: at, zero: zero === path ? at : zero, ...read });
  }

  #add(text: ShellText): void {
    const key = JSON.stringify([text.path, text.zero, text.digest]);
    if (this.#shell.size < MOST_FILES) this.#shell.set(key, text);
    else this.#open.add(text.path);
  }

  #read(path: string): { text: string; digest: string } | null {
    const content = contentOf(path);
    if (content === null || content.bytes.length > LARGEST) {
      if (content !== null) this.#open.add(path);
      return null;
    }
    this.digests.set(path, content.digest);
    return { text: content.bytes.toString('utf8'), digest: content.digest };
  }

  #module(path: string): void {
    const found = [path];
    for (const at of found) {
      if (this.#modules.has(at)) continue;
      this.#modules.add(at);
      if (at !== path) {
        this.#paths.add(at);
        this.imported.add(at);
      }
      if (this.#modules.size > MOST_FILES) return void this.#open.add(path);
      const read = MODULE_ENDING.test(at) || at === path ? this.#read(at) : null;
      if (read === null) continue;
      const { isOpen, packages, started, scripts, ...names } = moduleImports(read.text, read.digest);
      if (isOpen || packages.some((name) => isLinkedPackage(name, at, this.#place.search)))
        this.#open.add(path);
      const folders = [...new Set([dirname(at), this.#realFolder(at)])];
      found.push(...importedModules(names, at, { ...this.#place.search, folders }));
      for (const text of [...scripts, ...started.map((name) => `node '${name}'`)])
        this.#add({ path: at, zero: at, text, digest: text });
    }
  }

  /** Node looks from where a file really is. */
  #realFolder(path: string): string {
    const folder = dirname(path);
    const entry = this.#place.search.list(folder).find(({ name }) => name === basename(path));
    if (entry?.isFile() !== true) return dirname(landingPath(path) ?? path);
    const real = this.#realFolders.get(folder) ?? landingPath(folder) ?? folder;
    this.#realFolders.set(folder, real);
    return real;
  }

  #other(path: string): void {
    const read = this.#read(path);
    if (read !== null && codeLoads('', read.text)) this.#open.add(path);
  }
}
