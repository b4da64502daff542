/**
 * What a script of a shell loads or runs by names that can be told from its text. It is read sparingly: only what is run counts,
 * what it works on never does, and anything else makes it `open`, which is listed and stops nothing.
 */
import { type LooseCommand, type LooseScript, looseScript } from '../../../permission/shell/loose-script.ts';
import { looseWord } from '../../../permission/shell/loose-word.ts';
import {
  carriedScript,
  type ScriptCommand,
  type ScriptWord,
} from '../../../permission/shell/script-words.ts';
import { executedNames, type StartedProgram, scriptOf, startedPrograms } from '../started-programs.ts';
import { namesIn } from '../word-names.ts';
import { computesNames } from './computed-code.ts';
import { gitLine } from './git-line.ts';
import { JQ, jqFiles } from './jq-modules.ts';
import { isPlain, manifestsOf, RUNS_COMMANDS, RUNS_SCRIPTS, SHELLS } from './known-programs.ts';
import {
  awkRuns,
  codeIn,
  codeLoads,
  copiedNames,
  isFilled,
  leads,
  loadsByOption,
} from './loading-options.ts';
import { isInstalled, loadedBy } from './loading-programs.ts';
import { placed, unmarked } from './own-place.ts';
import { sedRuns } from './sed-script.ts';
import { unclearBuiltin, unclearTexts } from './shell-builtins.ts';
import type {
  CalledGit,
  LoadedCode,
  LoadedName,
  ShellLoads,
  ShellScene,
  ShellText,
  StartGround,
} from './shell-finds.ts';
import { ShellValues } from './shell-values.ts';

const SOURCES = /^(?:\.|source)$/;
const BUILTINS =
  /^(?:caller|compgen|complete|compopt|bind|dirs|enable|hash|history|let|mapfile|readarray|suspend|expr|mktemp|dd|seq|setopt|unsetopt|autoload|emulate|zstyle|print|whence|pkill|nohup|curl|wget|exec)$/;
const MOST_KNOWN = 300;

const known = new Map<string, ShellLoads>();

/** Of scripts that know each other's variables. */
export function shellLoads(texts: readonly ShellText[], scene: ShellScene): ShellLoads {
  const parts = texts.map(({ path, zero, digest }) => [path, zero, digest]);
  const key = JSON.stringify([scene.root, scene.tops, parts]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const reading = new LoadReading(scene);
  for (const text of texts) reading.learn(text);
  reading.readAll();
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, reading);
  return reading;
}

class LoadReading implements ShellLoads {
  readonly names: LoadedName[] = [];
  readonly patterns: LoadedName[] = [];
  readonly places: string[] = [];
  readonly codes: LoadedCode[] = [];
  readonly git: CalledGit[] = [];
  readonly queries: StartedProgram[] = [];
  readonly #given: ScriptCommand['assignments'][number][] = [];
  readonly written: Set<string> = new Set();
  readonly open: Set<string> = new Set();
  readonly #scene: ShellScene;
  readonly #scripts: { from: ShellText; script: LooseScript }[] = [];
  readonly #functions = new Set<string>();
  readonly #values: ShellValues;
  #words = 0;
  /** Folders in which programs are looked for. */
  #paths: readonly string[] = [];

  constructor(scene: ShellScene) {
    this.#scene = scene;
    this.#values = new ShellValues([{ name: 'CLAUDE_PROJECT_DIR', value: scene.root }]);
  }

  learn(from: ShellText, text = from.text): void {
    const script = looseScript(placed(text, from));
    this.#scripts.push({ from, script });
    if (this.#values.learn(script)) this.open.add(from.path);
    for (const name of script.functions) this.#functions.add(name);
    if (!script.isWhole) this.open.add(from.path);
  }

  /** A script inside another is learned meanwhile. */
  readAll(): void {
    this.#values.settle((source) => this.#word(source));
    this.#lead();
    for (const { from, script } of this.#scripts) {
      for (const one of script.outputs) for (const text of this.#word(one).texts) this.written.add(text);
      for (const command of script.commands) this.#command(command, from);
    }
  }

  #word(source: string): ScriptWord {
    if (PLAIN.test(source)) return { texts: [source], open: null, start: source };
    if (++this.#words > MOST_WORDS) return { texts: [], open: 'unknown', start: '' };
    const values = this.#values.for(source);
    const all = this.#scene.tops.map((top) => looseWord(source, values, top));
    const texts = [...new Set(all.flatMap((one) => one.texts.map(unmarked)))];
    const open = all.find((one) => one.open !== null)?.open ?? null;
    const start = open === 'unknown' ? (BEGIN.exec(source)?.[1] ?? '') : (texts[0] ?? '');
    return { texts, open, start };
  }

  #lead(): void {
    const paths: string[] = [];
    for (const { from, script } of [...this.#scripts])
      for (const { name, source = '' } of script.variables) {
        if (name === 'PATH')
          for (const part of source.replaceAll('"', '').split(':')) {
            const { texts, open } = this.#word(part);
            if (open === null) paths.push(...texts);
            else if (!/^\$\{?PATH/.test(part)) this.open.add(from.path);
          }
        else this.#assigned(name, source, from);
      }
    this.#paths = paths.filter((one) => one !== '');
  }

  /** A variable that leads programs to what they load, or holds a command for them. */
  #assigned(name: string, source: string, from: ShellText): void {
    const how = leads(name, source);
    if (how === 'prompt') return void this.open.add(from.path);
    if (how === null) return;
    const word = this.#word(source);
    this.#given.push({ name, ...word });
    if (how === 'files' || word.open !== null) this.open.add(from.path);
    if (how === 'files')
      for (const one of word.texts.flatMap((text) => text.split(/[\s:;]/)).flatMap(namesIn))
        this.names.push({ name: one, by: 'variable', from });
    else for (const text of word.texts) this.#started(text, from);
  }

  /** A command that another program starts: its name, or a script. */
  #started(text: string, from: ShellText): void {
    if (/\s/.test(text)) this.#inside(from, text.replace(/^\|-?/, ''));
    else if (text.includes('/')) this.names.push({ name: text, by: 'kernel', from });
  }

  #command({ words: sources, body, given, input }: LooseCommand, from: ShellText): void {
    const words = sources.map((one) => this.#word(one));
    const [first] = words;
    const own = first?.texts[0] ?? '';
    const isOwnCommand =
      first?.open === null && this.#functions.has(own) && own !== 'git' && !RUNS_SCRIPTS.test(own);
    const isKnown = first?.open === null && !RUNS_COMMANDS.test(own) && !MATTERS.test(own);
    if (isOwnCommand) return;
    if (isKnown && isPlain(own)) {
      if (this.#paths.length > 0) this.#run([own], 'kernel', from);
      for (const name of copiedNames(own, words.slice(1))) this.written.add(name);
      if (loadsByOption({ name: own, rest: words })) this.open.add(from.path);
      return;
    }
    const unknown = (): void => void this.open.add(from.path);
    const inner = carriedScript({ words, assignments: [] });
    if (inner !== null) {
      if (inner.open !== null) unknown();
      for (const text of inner.texts) this.#inside(from, text);
    }
    // What is known of a word that is open still counts.
    const told = words.map(
      (word): ScriptWord =>
        word.texts.length > 0 && word.open === 'unknown' ? { ...word, open: null } : word,
    );
    // `$COMMAND`: a program with words of its own.
    if (startedPrograms(words).isOpen || (/\s/.test(own) && !/["']/.test(sources[0] ?? ''))) unknown();
    const { programs } = startedPrograms(told);
    if (isFilled(programs)) unknown();
    if (GIVES.test(own))
      for (const [, name = '', source = ''] of sources.map((one) => ASSIGNED.exec(one) ?? []))
        if (name !== '') this.#assigned(name, source, from);
    for (const program of programs) {
      const word = told.at(-1 - program.rest.length);
      const behind = words.slice(words.length - program.rest.length);
      this.#program(program, { word, from, inner, body, given, input, words: behind });
    }
  }

  #program(program: StartedProgram, ground: StartGround): void {
    const { word, from, inner, words } = ground;
    const { name, rest } = program;
    if (ENTERS.test(name)) return void this.#enter(words, from);
    const unknown = (): void => void this.open.add(from.path);
    const texts = rest.flatMap((one) => one.texts);
    const led = (text: string, at: number): string[] =>
      LEADS_TO.test(texts[at - 1] ?? '') ? [text] : (LEADS_TO_IN.exec(text)?.slice(1) ?? []);
    this.places.push(...texts.flatMap(led));
    if (name === 'git') this.#git(words, from);
    if (JQ.test(name)) this.queries.push(program);
    if (JQ.test(name)) this.#runs(jqFiles(words), 'jq', from);
    const ownWord = word?.texts ?? [];
    const isNamed = (text: string): boolean => text.includes('/') || this.#paths.length > 0;
    this.#run(ownWord.filter(isNamed), 'kernel', from);
    const isKnown =
      BUILTINS.test(name) ||
      ownWord.some((text) => text.includes('/') && !text.startsWith('/') && !isInstalled(text));
    if (!isKnown && loadedBy(program, word, this.#scene.finds) !== null) unknown();
    if (manifestsOf(name).length > 0 && !NODE.test(name)) unknown();
    if (unclearBuiltin(program, rest) !== null || unclearTexts(program, new Set([inner])) !== null) unknown();
    if (loadsByOption({ name, rest: words })) unknown();
    const isSed = /^g?sed$/.test(name);
    if (isSed && (texts.some((one) => LOADS.test(one)) || sedRuns(rest, () => []).runs)) unknown();
    if (RUNS_SCRIPTS.test(name)) this.#interpreter(program, ground);
  }

  #git(words: readonly ScriptWord[], from: ShellText): void {
    const line = gitLine(words);
    if (line.isOpen || line.command === null) this.open.add(from.path);
    for (const text of line.scripts) this.#started(text, from);
    this.git.push({ ...line, words, assignments: this.#given, from });
  }

  #interpreter(program: StartedProgram, { from, inner, body, given, input, words }: StartGround): void {
    const { name, rest } = program;
    if (name === 'eval') return;
    if (/awk$/.test(name)) return void this.#runs(awkRuns(program), name, from);
    const unknown = (): void => void this.open.add(from.path);
    const { end, patterns } = scriptOf(name, words);
    for (const one of patterns) this.patterns.push({ name: one, by: name, from });
    if (end === 'open') unknown();
    const code = SHELLS.test(name)
      ? undefined
      : codeIn(
          name,
          rest.flatMap(({ texts }) => texts),
        );
    if (code !== undefined && computesNames(name, code)) unknown();
    const isCode = name === 'php' ? code !== undefined : SHELLS.test(name) && inner !== null;
    if (!isCode)
      this.#run(executedNames({ name, rest }, undefined), SOURCES.test(name) ? 'source' : name, from);
    const word = given === null ? null : this.#word(given);
    const spelled = body !== null ? [body] : word?.open === null ? word.texts : [];
    const read = end === 'none' ? spelled : [];
    for (const text of code === undefined ? read : [code]) this.#code(program, text, from);
    if (PYTHON.test(name) && code === undefined && read.length === 0)
      this.codes.push({ program, text: '', from });
    if (end !== 'none' || read.length > 0 || code !== undefined) return;
    const fed = input === null ? null : this.#word(input);
    this.#runs({ files: fed?.texts ?? [], isOpen: fed?.open !== null }, name, from);
  }

  /** A text that an interpreter gets as its script. */
  #code(program: StartedProgram, text: string, from: ShellText): void {
    if (SHELLS.test(program.name) || SOURCES.test(program.name)) this.#inside(from, text);
    else if (PYTHON.test(program.name) || NODE.test(program.name)) this.codes.push({ program, text, from });
    else if (codeLoads(program.name, text)) this.open.add(from.path);
  }

  #enter(words: readonly ScriptWord[], from: ShellText): void {
    const operands = words.filter(({ start, open }) => open !== null || !/^-[LPe@]*$/.test(start));
    this.places.push(...operands.flatMap(({ texts }) => texts));
    if (operands.some(({ open }) => open !== null)) this.open.add(from.path);
  }

  #runs({ files, isOpen }: ReturnType<typeof jqFiles>, by: string, from: ShellText): void {
    if (isOpen) this.open.add(from.path);
    this.#run(files, by, from);
  }

  #run(names: readonly string[], by: string, from: ShellText): void {
    for (const name of names) {
      this.names.push({ name, by, from });
      if (!name.includes('/'))
        for (const folder of this.#paths) this.names.push({ name: `${folder}/${name}`, by: 'kernel', from });
    }
  }

  #inside(from: ShellText, text: string): void {
    const depth = this.#scripts.filter((one) => one.from === from).length;
    if (depth > MOST_INSIDE) this.open.add(from.path);
    else this.learn(from, text);
  }
}

const [MOST_INSIDE, MOST_WORDS] = [60, 10_000];
const PLAIN = /^(?:[\w./:@%+,-]+|\[)$/;
const [NODE, PYTHON] = [/^node(?:js)?$/, /^(?:python|pypy)[\d.]*$/];
const GIVES = /^(?:env|cross-env|sudo|doas)$/;
const ASSIGNED = /^["']?([A-Za-z_]\w*)=(.*?)$/s;
const BEGIN = /^["']?([\w./:=-]*)/;
const ENTERS = /^(?:cd|pushd)$/;
const LEADS_TO = /^(?:-C|--(?:chdir|cwd|directory|prefix))$/;
const LEADS_TO_IN = /^--(?:chdir|cwd|directory|prefix)=(.+)$/s;
const LOADS = /^(?:-\w*f|-[nrEszu]*f.+|--file(?:=.*)?)$/;
/** Of the plain ones: they change what later words mean, are no programs of their own, or run what they are given. */
const MATTERS =
  /^(?:cd|pushd|git|sed|jq|alias|enable|hash|prettier|biome|black|isort|ruff|rustfmt|tsc|goimports|open|xdg-open)$/;
