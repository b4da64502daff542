/**
 * The files that a command may run, as far as that can be told before it runs (SEC-1). It is read as a shell reads it.
 *
 * Invariants
 * 1. Each word that is known is looked for in each directory that the command can change into: those that its words name.
 * 2. Programs that run what a folder or a file without its ending names get all that can be meant, and programs that are
 *    told by a file what to run get that file, with the scripts of `package.json` followed.
 * 3. Where a word that decides what runs is not known, every file of the directories that it starts in counts.
 * 4. What these files load in turn counts as far as names tell (`follow-loads.ts`); what else they may load is listed.
 */
import { isAbsolute } from 'node:path';
import { carriedScript, type ScriptCommand, type ScriptWord } from '../../permission/shell/script-words.ts';
import { contentReach, isFedNames } from './content-reach.ts';
import { type DataWords, dataWords, onlyChecks, testRunner } from './data-words.ts';
import { followLoads } from './follow-loads.ts';
import { linkedPaths } from './linked-paths.ts';
import { compiledFolders, packageFiles, type SearchGround, searchGround } from './module-files.ts';
import { NamedFinds } from './named-finds.ts';
import { isOfProcess } from './process-links.ts';
import { computesNames } from './programs/computed-code.ts';
import { type GitContent, gitContent, gitRuns } from './programs/git-runs.ts';
import { jqModules } from './programs/jq-modules.ts';
import {
  FEEDS,
  isInline,
  isPlain,
  REPLACES,
  RUNS_FOLDERS,
  RUNS_SCRIPTS,
  SHELLS,
} from './programs/known-programs.ts';
import { loadedBy } from './programs/loading-programs.ts';
import { PythonReading } from './programs/python-modules.ts';
import {
  isUnclearValue,
  movesIn,
  unclearBuiltin,
  unclearTexts,
  writesCode,
} from './programs/shell-builtins.ts';
import { ReachFinds } from './reach-finds.ts';
import { readScript, readWords } from './read-script.ts';
import { checkoutOf } from './repository-look.ts';
import {
  executedNames,
  readsCommands,
  type StartedProgram,
  scriptOf,
  startedPrograms,
} from './started-programs.ts';
import { toldFiles } from './told-files.ts';
import { type CommandReach, isName, isPath, namesInWords, roughWords } from './word-names.ts';

const MOST_WORDS = 2_000;
const DEEPEST_SCRIPT = 4;

/**
 * One text is a script, several are the words of one command, with `NAME=value` for its environment. `answers`: what it
 * prints decides about calls.
 */
export function commandReach(
  texts: readonly string[],
  root: string,
  directories: readonly string[],
  answers = false,
): CommandReach {
  const reading = new ReachReading(root, directories, answers);
  const [script = '', ...more] = texts;
  if (more.length === 0) reading.script(script, 0);
  else reading.words(texts);
  return reading.reach();
}

interface ReadGround extends Pick<CommandGround, 'isFed' | 'depth' | 'data'> {
  fed?: readonly string[];
  /** A script that it is fed is part of the command. */
  hasBody?: boolean;
}

interface CommandGround {
  /** A program that reads its script gets one that is known. */
  isFed: boolean;
  depth: number;
  /** That script is part of the command. */
  hasBody: boolean;
  data: DataWords;
  /** What the script changes into. */
  moves: readonly ScriptWord[];
  /** Scripts in words, which are read by themselves. */
  carried: ReadonlySet<ScriptWord | null>;
}

class ReachReading {
  readonly #root: string;
  readonly #starts: readonly string[];
  readonly #directories: Set<string>;
  readonly #names = new Set<string>();
  readonly #answers: boolean;
  /** What Python has compiled is kept where agents cannot write. */
  #hasOwnPython = true;
  readonly #found = new ReachFinds();
  /** Their output may be what runs, if it is not clear what does. */
  readonly #gitContent: GitContent[] = [];
  readonly #ground: SearchGround;
  readonly #named: NamedFinds;
  readonly #python: PythonReading;

  constructor(root: string, directories: readonly string[], answers: boolean) {
    this.#root = root;
    this.#answers = answers;
    this.#directories = new Set(directories);
    this.#starts = [...this.#directories];
    this.#ground = searchGround(this.#directories, [root, ...directories, ...directories.map(checkoutOf)]);
    this.#named = new NamedFinds(this.#found, this.#ground);
    this.#python = new PythonReading(this.#ground);
  }

  reach(): CommandReach {
    const [root, search, named, python] = [this.#root, this.#ground, this.#named, this.#python];
    followLoads(this.#found, { root, search, named, python, hasOwnPython: this.#hasOwnPython });
    if (this.#found.unclear.size > 0) for (const one of this.#gitContent) this.#found.addAll(one);
    return this.#found.reach(this.#starts);
  }

  script(text: string, depth: number): void {
    const tops = this.#tops();
    const script = readScript(text, this.#root, this.#starts, tops);
    const { plain, commands, inputs, outputs, unclear } = script;
    for (const reason of unclear) this.#found.unclear.add(reason);
    this.#hasOwnPython &&= !script.losesPython;
    const isFed = /<<|<\s*\S/.test(text) && inputs.every(({ open }) => open === null);
    const isWhole = unclear.length === 0;
    const data = dataWords(plain, commands, { root: this.#root, answers: this.#answers, outputs, isWhole });
    const fed = inputs.flatMap((one) => one.texts);
    if (data.runsCopies && writesCode(text, commands)) this.#found.unclear.add('a script that it writes');
    const rough = roughWords(plain, this.#root).filter((one) => !fed.includes(one));
    this.#read(commands, rough, {
      ...{ fed: data.isAll ? [] : fed, isFed: isFed && !text.includes('|') },
      ...{ depth, data, hasBody: text.includes('<<') },
    });
    // In a folder that it enters git may name another top.
    if (text.includes('--show-toplevel') && this.#tops().length > tops.length) this.script(text, depth);
  }

  #tops(): string[] {
    return [...new Set([this.#root, ...[...this.#directories].map(checkoutOf)])];
  }

  words(texts: readonly string[]): void {
    const { command, words } = readWords(texts, this.#root);
    const inner = carriedScript(command);
    if (inner !== null) for (const text of inner.texts) this.script(text, 1);
    const [root, answers] = [this.#root, this.#answers];
    const data = dataWords(words.join(' '), [command], { root, answers, outputs: [], isWhole: true });
    const outer = texts.filter((text) => inner?.texts.includes(text) !== true);
    this.#read(
      [command],
      outer.flatMap((text) => roughWords(text, root)),
      { isFed: false, depth: 0, data },
    );
  }

  #read(
    commands: readonly ScriptCommand[],
    rough: readonly string[],
    { fed = [], isFed, depth, hasBody = false, data }: ReadGround,
  ): void {
    const words = commands.flatMap((one) => [...one.words, ...one.assignments]);
    const carried = new Set(commands.map(carriedScript));
    const place = { carried, quiet: data.codes, root: this.#root };
    const namesOf = (some: readonly ScriptWord[]): string[] => namesInWords(some, place);
    const names = new Set([...rough, ...fed, ...namesOf(words)]);
    if (names.size > MOST_WORDS) this.#found.unclear.add('its length');
    if ([...names].some(isOfProcess)) this.#found.unclear.add('a path that leads through a process');
    for (const name of [...names].slice(0, MOST_WORDS)) if (isName(name)) this.#names.add(name);
    if (!this.#named.enterAll(this.#directories, this.#names))
      this.#found.unclear.add('all the folders it names');
    const run = new Set([
      ...rough.filter((name) => !data.names.has(name)),
      ...fed,
      ...namesOf(words.filter((word) => !data.words.has(word) && !data.given.has(word))),
    ]);
    for (const directory of this.#directories)
      for (const name of this.#names) {
        if (!run.has(name)) continue;
        // `$PWD/x` is spelled like a path of the machine, and leads into the checkout.
        for (const path of linkedPaths(directory, name))
          this.#found.add(path, isAbsolute(name) && !this.#ground.isOurs(path), data.written.get(name));
      }
    const moves = movesIn(commands);
    for (const command of commands) this.#command(command, { isFed, depth, hasBody, data, moves, carried });
  }

  #command(command: ScriptCommand, ground: CommandGround): void {
    const { words, assignments } = command;
    const { isFed, depth, hasBody, data } = ground;
    for (const assigned of assignments) {
      if (isUnclearValue(assigned)) this.#found.unclear.add(`the value of ${assigned.name}`);
      if (!data.given.has(assigned)) this.#named.assigned(assigned);
    }
    const { programs, unknown, isOpen } = startedPrograms(words);
    if (isOpen) this.#found.unclear.add('the program it starts');
    for (const name of unknown) this.#found.unknown.add(name);
    const isReplaced = words.some(({ start }) => REPLACES.test(start));
    const isStream = isFed && !programs.some(({ name }) => FEEDS.test(name));
    for (const program of programs) {
      const [name, rest] = [program.name, program.rest.filter((word) => !data.words.has(word))];
      const own = words.at(-1 - program.rest.length);
      const loads = loadedBy(program, own, this.#named);
      if (loads !== null) this.#found.loads.add(loads);
      this.#told(name, command, depth);
      for (const path of this.#python.started(program, data.text)) this.#found.add(path);
      for (const path of jqModules(program, this.#ground)) this.#found.add(path);
      this.#content(program, data, isFedNames(programs));
      if (rest.length < program.rest.length || onlyChecks(program)) {
        const runner = testRunner(program);
        if (runner !== null) this.#found.unknown.add(runner);
        if (runner !== null && runner !== name) this.#told(runner, command, depth);
        for (const { texts } of rest) for (const text of texts) this.#named.stems(text);
        continue;
      }
      for (const one of executedNames({ name, rest }, own)) {
        const isItself = !RUNS_SCRIPTS.test(name) || own?.texts.includes(one) === true;
        this.#found.execute(one, isItself ? 'kernel' : name, this.#ground);
      }
      const why = unclearBuiltin({ name, rest }, ground.moves) ?? unclearTexts(program, ground.carried);
      if (why !== null) this.#found.unclear.add(why);
      if (RUNS_SCRIPTS.test(name)) this.#runner(name, rest, isStream && !(hasBody && SHELLS.test(name)));
      else if (RUNS_FOLDERS.test(name))
        for (const { texts } of rest) for (const text of texts) this.#named.folder(text);
      if (hasBody && RUNS_SCRIPTS.test(name)) this.#named.stems([...this.#names].join(' '));
      if (name === 'git') this.#git(words);
      else if (FEEDS.test(name) && isReplaced) this.#found.unclear.add(`what ${name} fills in`);
      // Many a program runs a script that it is given without its ending.
      if (!isPlain(name))
        for (const { texts } of rest) for (const text of texts) if (isPath(text)) this.#named.stems(text);
    }
  }

  /** `sh x`, `node -r a b`, `python3 -m c`: what it names, or all that can be meant. */
  #runner(name: string, words: readonly ScriptWord[], isFed: boolean): void {
    const isInlineAt = (at: number): boolean =>
      words[at - 1]?.texts.some((text) => isInline(name, text)) === true;
    // The script that `sh -c` carries is read by itself.
    const isCarried = SHELLS.test(name) && words.some((_, at) => isInlineAt(at));
    words.forEach(({ texts }, at) => {
      const isInline = isInlineAt(at);
      if (isInline && isCarried) return;
      for (const text of texts) {
        this.#named.stems(text);
        if (isInline) for (const path of packageFiles(text, this.#ground)) this.#found.add(path, false);
        if (isInline && computesNames(name, text)) this.#found.unclear.add(`what ${name} runs`);
        // `perl -Ilib -Mlib=x`: the value is in the same word.
        if (/^-[A-Z]./.test(text)) for (const one of text.slice(2).split('=')) this.#named.folder(one);
      }
    });
    if (/^(?:python|pypy)/.test(name) && !this.#hasOwnPython)
      for (const folder of compiledFolders(this.#found.paths, this.#ground)) this.#found.folders.add(folder);
    const { folders, patterns, end } = scriptOf(name, words);
    if (!isCarried) for (const one of folders) this.#named.folder(one);
    for (const one of patterns) this.#named.pattern(one);
    if (end === 'open') this.#found.unclear.add(`what ${name} runs`);
    else if (end === 'none' && !isFed && !/awk$/.test(name)) this.#found.unclear.add(`what ${name} reads`);
  }

  #content(program: StartedProgram, data: DataWords, isFed: boolean): void {
    const ground = { answers: this.#answers, isFed, directories: this.#directories };
    const found = contentReach(program, data, ground);
    if (found.isOpen) this.#found.unknown.add(program.name);
    for (const one of found.patterns) this.#named.pattern(one);
    for (const one of found.folders) this.#named.folder(one);
    if (found.unclear !== null) this.#found.unclear.add(found.unclear);
    if (readsCommands(program)) this.#found.unclear.add(`what ${program.name} reads`);
    if (program.name !== 'git') return;
    if (data.carries) this.#found.addAll(gitContent(program.rest, this.#starts));
    else this.#gitContent.push(gitContent(program.rest, this.#starts));
  }

  #git(words: readonly ScriptWord[]): void {
    const { names, folders, alias } = gitRuns(words, this.#starts);
    for (const one of names) this.#named.folder(one);
    for (const one of folders) this.#found.folders.add(one);
    if (alias !== null) this.#found.unclear.add(`git ${alias}`);
    if (words.some(({ start }) => start.startsWith('--config-env')))
      this.#found.unclear.add('git --config-env');
  }

  /** By files that are not named. */
  #told(program: string, command: ScriptCommand, depth: number): void {
    toldFiles(program, command.words, {
      ...{ command, ground: this.#ground, root: this.#root, found: this.#found },
      ...{ isDeepest: depth >= DEEPEST_SCRIPT, isNested: depth > 1 },
      follow: (script, directory) => {
        const inner = new ReachReading(this.#root, [directory], this.#answers);
        inner.script(script, depth + 1);
        return inner.reach();
      },
    });
  }
}
