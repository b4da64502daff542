/**
 * The files that a command may run, as far as that can be told before it runs (SEC-1). It is read as a shell reads it.
 *
 * Invariants
 * 1. Each word that is known is looked for in each directory that the command can change into: those that its words name.
 * 2. Programs that run what a folder or a file without its ending names get all that can be meant, and programs that are
 *    told by a file what to run get that file, with the scripts of `package.json` followed.
 * 3. Where a word that decides what runs is not known, the command is unclear: every file of the directories it starts in
 *    counts.
 */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import {
  carriedScript,
  plainCommand,
  type ScriptCommand,
  type ScriptWord,
  scriptWords,
} from '../../permission/shell/script-words.ts';
import {
  FEEDS,
  GIT_HOOK_FOLDERS,
  GIT_LOOKS,
  gitAlias,
  INLINE,
  isConfigurationOf,
  isPlain,
  manifestsOf,
  PLACES,
  REPLACES,
  RUNS_FOLDERS,
  RUNS_PACKAGE_SCRIPTS,
  RUNS_SCRIPTS,
  SHELLS,
  TELLS_COMMANDS,
} from './known-programs.ts';
import { packageFiles, type SearchGround, searchGround, stemFiles } from './module-files.ts';
import { checkoutOf, everyFile, isDirectory, isTemporary, nearest, scriptsOf } from './repository-look.ts';
import { isAboutWorkspaces, scriptOf, startedPrograms } from './started-programs.ts';
import { type CommandReach, isName, isPath, type NamedPath, namesIn, roughWords } from './word-names.ts';

/** Of folders that count whole. */
export const MOST_LISTED = 3_000;
const MOST_WORDS = 2_000;
const MOST_DIRECTORIES = 24;
const DEEPEST_SCRIPT = 4;

/** One text is a script, several are the words of one command, with `NAME=value` for its environment. */
export function commandReach(
  texts: readonly string[],
  root: string,
  directories: readonly string[],
): CommandReach {
  const reading = new ReachReading(root, directories);
  const [script = '', ...more] = texts;
  if (more.length === 0) reading.script(script, 0);
  else reading.words(texts);
  return reading.reach();
}

interface ReadGround {
  /** A program that reads its script gets one that is known. */
  isFed: boolean;
  depth: number;
  /** That script is part of the command. */
  hasBody?: boolean;
}

class ReachReading {
  readonly #root: string;
  readonly #starts: readonly string[];
  readonly #directories = new Set<string>();
  readonly #names = new Set<string>();
  readonly #paths = new Map<string, NamedPath>();
  readonly #folders = new Set<string>();
  readonly #unclear = new Set<string>();
  readonly #unknown = new Set<string>();
  readonly #ground: SearchGround;

  constructor(root: string, directories: readonly string[]) {
    this.#root = root;
    this.#ground = searchGround(this.#directories, [root, ...directories]);
    this.#starts = [...new Set(directories)];
    for (const directory of this.#starts) this.#directories.add(directory);
  }

  reach(): CommandReach {
    const [unclear = null] = this.#unclear;
    if (unclear !== null) for (const start of this.#starts) this.#folders.add(start);
    return {
      paths: [...this.#paths.values()],
      folders: [...this.#folders],
      unclear,
      unknown: [...this.#unknown],
    };
  }

  script(text: string, depth: number): void {
    // Always set, so that what would count otherwise does not.
    const plain = text.replace(/\$\{CLAUDE_PROJECT_DIR:?[-=?][^}]*\}/g, '$' + '{CLAUDE_PROJECT_DIR}');
    const tops = [...new Set([this.#root, ...this.#starts.map(checkoutOf)])];
    const read = tops.map((top) =>
      scriptWords(plain, {
        directories: this.#starts,
        root: top,
        variables: { CLAUDE_PROJECT_DIR: this.#root },
      }),
    );
    for (const { unclear } of read) for (const reason of unclear) this.#unclear.add(reason);
    const commands = read.flatMap((one) => one.commands);
    const inputs = read.flatMap((one) => one.inputs);
    const isFed = /<<|<\s*\S/.test(text) && inputs.every(({ open }) => open === null);
    this.#read(commands, [...roughWords(plain, this.#root), ...inputs.flatMap((one) => one.texts)], {
      isFed: isFed && !text.includes('|'),
      hasBody: text.includes('<<'),
      depth,
    });
  }

  words(texts: readonly string[]): void {
    const assigned = texts.map((text) => /^([A-Za-z_]\w*)=(.*)$/s.exec(text));
    const variables = Object.fromEntries(
      assigned.flatMap((one) => (one ? [[one[1] ?? '', one[2] ?? '']] : [])),
    );
    const words = texts
      .filter((_, index) => assigned[index] == null)
      .map((text) => text.replace(/\$\{CLAUDE_PROJECT_DIR\}/g, this.#root));
    const command = plainCommand(words, variables);
    const inner = carriedScript(command);
    if (inner !== null) for (const text of inner.texts) this.script(text, 1);
    this.#read(
      [command],
      texts.flatMap((text) => roughWords(text, this.#root)),
      { isFed: false, depth: 0 },
    );
  }

  #read(
    commands: readonly ScriptCommand[],
    rough: readonly string[],
    { isFed, depth, hasBody = false }: ReadGround,
  ): void {
    const words = commands.flatMap((one) => [...one.words, ...one.assignments]);
    const names = new Set([...rough, ...words.flatMap(({ texts }) => texts.flatMap(namesIn))]);
    if (names.size > MOST_WORDS) this.#unclear.add('its length');
    for (const name of [...names].slice(0, MOST_WORDS)) if (isName(name)) this.#names.add(name);
    this.#enterAll();
    for (const directory of this.#directories)
      for (const name of this.#names) this.#add(resolve(directory, name), isAbsolute(name));
    for (const command of commands) this.#command(command, { isFed, depth, hasBody });
  }

  /** Every directory that a name, or names one after the other, lead to. */
  #enterAll(): void {
    const found = [...this.#directories];
    for (const directory of found)
      for (const name of this.#names) {
        const path = resolve(directory, name);
        if (this.#directories.has(path) || !(this.#isOurs(path) || isTemporary(path))) continue;
        if (!isDirectory(path)) continue;
        if (this.#directories.size >= MOST_DIRECTORIES)
          return void this.#unclear.add('all the folders it names');
        this.#directories.add(path);
        found.push(path);
      }
  }

  #command({ words, assignments }: ScriptCommand, { isFed, depth, hasBody }: Required<ReadGround>): void {
    for (const { name, texts, open } of assignments) {
      if (open !== null && PLACES.test(name)) this.#unclear.add(`the value of ${name}`);
      for (const text of texts.flatMap((one) => one.split(':')))
        if (PLACES.test(name) || text.includes('/')) this.#folder(text);
      if (PLACES.test(name)) for (const text of texts) this.#stems(text);
    }
    const { programs, unknown, isOpen } = startedPrograms(words);
    if (isOpen) this.#unclear.add('the program it starts');
    for (const name of unknown) this.#unknown.add(name);
    const isReplaced = words.some(({ start }) => REPLACES.test(start));
    const isStream = isFed && !programs.some(({ name }) => FEEDS.test(name));
    for (const { name, rest } of programs) {
      this.#manifests(name, words, depth);
      if (name === 'cd' || name === 'pushd') {
        if (rest.some(({ open }) => open !== null)) this.#unclear.add('the folder it changes into');
      } else if (RUNS_SCRIPTS.test(name))
        this.#runner(name, rest, isStream && !(hasBody && SHELLS.test(name)));
      else if (RUNS_FOLDERS.test(name))
        for (const { texts } of rest) for (const text of texts) this.#folder(text);
      if (hasBody && RUNS_SCRIPTS.test(name)) this.#stems([...this.#names].join(' '));
      if (name === 'git') this.#git(words);
      else if (FEEDS.test(name) && isReplaced) this.#unclear.add(`what ${name} fills in`);
      // Many a program runs a script that it is given without its ending.
      if (!isPlain(name))
        for (const { texts } of rest) for (const text of texts) if (isPath(text)) this.#stems(text);
    }
  }

  /** `sh x`, `node -r a b`, `python3 -m c`: what it names, or all that can be meant. */
  #runner(name: string, words: readonly ScriptWord[], isFed: boolean): void {
    words.forEach(({ texts }, at) => {
      const isInline = words[at - 1]?.texts.some((text) => INLINE.test(text)) === true;
      for (const text of texts) {
        this.#stems(text);
        if (isInline) for (const path of packageFiles(text, this.#ground)) this.#add(path, false);
        // `perl -Ilib`: the value is in the same word.
        if (/^-[A-Z]./.test(text)) this.#folder(text.slice(2));
      }
    });
    const { folders, patterns, end } = scriptOf(words);
    for (const one of folders) this.#folder(one);
    for (const one of patterns) this.#pattern(one);
    if (end === 'open') this.#unclear.add(`what ${name} runs`);
    else if (end === 'none' && !isFed && !/awk$/.test(name)) this.#unclear.add(`what ${name} reads`);
  }

  /** Hooks that are committed, and settings that it is given: `git -c core.hooksPath=x`. */
  #git(words: readonly ScriptWord[]): void {
    const texts = words.flatMap((word) => word.texts);
    for (const text of texts) if (/^[\w.-]+=/.test(text)) this.#folder(text.slice(text.indexOf('=') + 1));
    const alias = gitAlias(texts);
    if (alias !== null) this.#unclear.add(`git ${alias}`);
    if (texts.some((text) => GIT_LOOKS.test(text))) return;
    const tops = this.#starts.map(checkoutOf);
    for (const top of tops)
      for (const folder of GIT_HOOK_FOLDERS)
        if (isDirectory(join(top, folder))) this.#folders.add(join(top, folder));
  }

  #manifests(program: string, words: readonly ScriptWord[], depth: number): void {
    if (RUNS_PACKAGE_SCRIPTS.test(program) && isAboutWorkspaces(program, words)) {
      const all = everyFile(checkoutOf(this.#root), MOST_LISTED);
      if (all === null) this.#unclear.add('packages that it does not name');
      for (const { path } of all ?? [])
        if (basename(path) === 'package.json') {
          this.#add(path, false);
          this.#scripts(path, words, depth);
        }
    }
    for (const directory of this.#directories) {
      for (const name of manifestsOf(program)) {
        const path = nearest(directory, name);
        if (path === null) continue;
        this.#add(path, false);
        if (TELLS_COMMANDS.test(program)) this.#unknown.add(program);
        if (name === 'package.json' && RUNS_PACKAGE_SCRIPTS.test(program)) this.#scripts(path, words, depth);
      }
      for (const { name } of this.#ground.list(directory))
        if (isConfigurationOf(program, name)) this.#add(join(directory, name), false);
    }
  }

  /** Those that a word of the command names, with what runs before and after them. */
  #scripts(path: string, words: readonly ScriptWord[], depth: number): void {
    const asked = words.flatMap(({ texts }) => texts);
    for (const [name, script] of scriptsOf(path, asked)) {
      if (depth >= DEEPEST_SCRIPT) return void this.#unclear.add('scripts that call scripts');
      const inner = new ReachReading(this.#root, [dirname(path)]);
      inner.script(script, depth + 1);
      const { paths, folders, unclear, unknown } = inner.reach();
      for (const one of paths) this.#paths.set(one.path, one);
      for (const one of folders) this.#folders.add(one);
      for (const one of unknown) this.#unknown.add(one);
      if (unclear !== null) this.#unclear.add(`${unclear} in the script ${name}`);
    }
  }

  #stems(text: string): void {
    for (const path of stemFiles(text, this.#ground)) this.#add(path, false);
  }

  /** All of it, if that is what the name leads to. */
  #folder(name: string): void {
    if (!isName(name)) return;
    for (const directory of this.#directories) {
      const path = resolve(directory, name);
      if (this.#isOurs(path) && isDirectory(path)) this.#folders.add(path);
    }
  }

  #pattern(text: string): void {
    const before = text.slice(0, text.search(/[*?[]/));
    this.#folder(before.includes('/') ? before.slice(0, before.lastIndexOf('/') + 1) : '.');
  }

  #add(path: string, isAbsolute: boolean): void {
    if (!this.#paths.has(path)) this.#paths.set(path, { path, isAbsolute });
  }

  #isOurs(path: string): boolean {
    return this.#ground.isOurs(path);
  }
}
