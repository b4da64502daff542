/**
 * What a script of a shell loads or runs by names that can be told from its text. It is read sparingly: only what is run counts,
 * what it works on never does, and anything else makes it `open`, which is listed and stops nothing.
 */
import { type LooseCommand, type LooseScript, looseScript } from '../../../permission/shell/loose-script.ts';
import { looseWord } from '../../../permission/shell/loose-word.ts';
import { carriedScript, type ScriptWord } from '../../../permission/shell/script-words.ts';
import { executedNames, type StartedProgram, scriptOf, startedPrograms } from '../started-programs.ts';
import { namesIn } from '../word-names.ts';
import { computesNames } from './computed-code.ts';
import { isInline, isPlain, manifestsOf, RUNS_COMMANDS, RUNS_SCRIPTS, SHELLS } from './known-programs.ts';
import { type LoadGround, loadedBy } from './loading-programs.ts';
import { placed, unmarked } from './own-place.ts';
import { sedRuns } from './sed-script.ts';
import { unclearBuiltin, unclearTexts } from './shell-builtins.ts';
import { ShellValues } from './shell-values.ts';

export interface ShellText {
  /** The file that holds it. */
  readonly path: string;
  /** What `$0` is in it: another file where that one sources it. */
  readonly zero: string;
  readonly text: string;
  readonly digest: string;
}

export interface LoadedName {
  readonly name: string;
  /** What runs it; `source` where it becomes part of the script. */
  readonly by: string;
  readonly from: ShellText;
}

/** Code in a script that an interpreter gets. */
export interface LoadedCode {
  readonly program: StartedProgram;
  readonly text: string;
  readonly from: ShellText;
}

export interface ShellLoads {
  readonly names: readonly LoadedName[];
  /** Names of files of which all count that match. */
  readonly patterns: readonly LoadedName[];
  /** Folders that it changes into. */
  readonly places: readonly string[];
  readonly codes: readonly LoadedCode[];
  readonly git: readonly (readonly string[])[];
  /** Names of files that it writes. */
  readonly written: ReadonlySet<string>;
  /** Of these, only the running script knows all that it loads. */
  readonly open: ReadonlySet<string>;
}

const SOURCES = /^(?:\.|source)$/;
const BUILTINS =
  /^(?:caller|compgen|complete|compopt|bind|dirs|enable|hash|history|let|mapfile|readarray|suspend|expr|mktemp|dd|seq|setopt|unsetopt|autoload|emulate|zstyle|print|whence|pkill|nohup|curl|wget|exec)$/;
/** Of a variable that programs load files by. */
const LEADS =
  /^(?:BASH_ENV|ENV|NODE_(?:OPTIONS|PATH)|LD_PRELOAD|DYLD_INSERT_LIBRARIES|PERL5(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|PYTHON(?:PATH|STARTUP|HOME)|GIT_(?:CONFIG\w*|DIR|TEMPLATE_DIR|EXEC_PATH|SSH\w*|EXTERNAL_DIFF)|LUA_\w+|CLASSPATH|ZDOTDIR)$/;
const MOST_KNOWN = 300;

const known = new Map<string, ShellLoads>();

export interface ShellScene {
  readonly root: string;
  /** Of each checkout that it may be in. */
  readonly tops: readonly string[];
  readonly finds: LoadGround;
}

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
  readonly git: string[][] = [];
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
    return { texts, open: all.find(({ open }) => open !== null)?.open ?? null, start: texts[0] ?? '' };
  }

  /** Variables that lead programs to what they load. */
  #lead(): void {
    const paths: string[] = [];
    for (const { from, script } of this.#scripts)
      for (const { name, source = '' } of script.variables) {
        if (name === 'PATH')
          for (const part of source.replaceAll('"', '').split(':')) {
            const { texts, open } = this.#word(part);
            if (open === null) paths.push(...texts);
            else if (!/^\$\{?PATH/.test(part)) this.open.add(from.path);
          }
        if (!LEADS.test(name)) continue;
        this.open.add(from.path);
        for (const one of this.#word(source)
          .texts.flatMap((text) => text.split(/[\s:;]/))
          .flatMap(namesIn))
          this.names.push({ name: one, by: 'variable', from });
      }
    this.#paths = paths.filter((one) => one !== '');
  }

  #command({ words: sources, body, input }: LooseCommand, from: ShellText): void {
    const words = sources.map((one) => this.#word(one));
    const [first] = words;
    const own = first?.texts[0] ?? '';
    if (
      first?.open === null &&
      (this.#functions.has(own) || (isPlain(own) && !MATTERS.test(own) && !RUNS_COMMANDS.test(own)))
    ) {
      if (this.#paths.length > 0 && !this.#functions.has(own)) this.#run([own], 'kernel', from);
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
    const { isOpen } = startedPrograms(words);
    // `$COMMAND`: a program with words of its own.
    if (isOpen || (/\s/.test(own) && !/["']/.test(sources[0] ?? ''))) unknown();
    for (const program of startedPrograms(told).programs) {
      const word = told.at(-1 - program.rest.length);
      const behind = words.slice(words.length - program.rest.length);
      this.#program(program, { word, from, inner, body, input, words: behind });
    }
  }

  #program(program: StartedProgram, { word, from, inner, body, input, words }: ProgramGround): void {
    const { name, rest } = program;
    const unknown = (): void => void this.open.add(from.path);
    const texts = rest.flatMap((one) => one.texts);
    if (ENTERS.test(name)) return void this.#enter(words, from);
    for (const [at, text] of texts.entries()) if (LEADS_TO.test(texts[at - 1] ?? '')) this.places.push(text);
    if (name === 'git') this.git.push(texts);
    const ownWord = word?.texts ?? [];
    this.#run(
      ownWord.filter((text) => text.includes('/')),
      'kernel',
      from,
    );
    if (this.#paths.length > 0)
      this.#run(
        ownWord.filter((text) => !text.includes('/')),
        'kernel',
        from,
      );
    const isKnown =
      BUILTINS.test(name) || ownWord.some((text) => text.includes('/') && !text.startsWith('/'));
    if (!isKnown && loadedBy(program, word, this.#scene.finds) !== null) unknown();
    if (manifestsOf(name).length > 0 && !/^node(?:js)?$/.test(name)) unknown();
    if (unclearBuiltin(program, rest) !== null || unclearTexts(program, new Set([inner])) !== null) unknown();
    if (/^g?sed$/.test(name) && (texts.some((one) => LOADS.test(one)) || sedRuns(rest, () => []).runs))
      unknown();
    if (RUNS_SCRIPTS.test(name)) this.#interpreter(program, { from, inner, body, input, words });
  }

  #interpreter(
    program: StartedProgram,
    { from, inner, body, input, words }: Omit<ProgramGround, 'word'>,
  ): void {
    const { name, rest } = program;
    const unknown = (): void => void this.open.add(from.path);
    const texts = rest.flatMap((one) => one.texts);
    if (name === 'eval') return;
    if (/awk$/.test(name)) {
      const files = texts.flatMap((text, at) =>
        /^(?:-\w*f|--file)$/.test(texts[at - 1] ?? '') ? [text] : [],
      );
      this.#run(files, name, from);
      if (texts.some((text) => /\bsystem\s*\(|\|\s*"|\bgetline\b/.test(text))) unknown();
      return;
    }
    const { end, patterns } = scriptOf(name, words);
    for (const one of patterns) this.patterns.push({ name: one, by: name, from });
    if (end === 'open') unknown();
    const isShell = SHELLS.test(name);
    const code = texts.find((_, at) => isInline(name, texts[at - 1] ?? ''));
    if (code !== undefined && computesNames(name, code)) unknown();
    if (!isShell || inner === null)
      this.#run(executedNames({ name, rest }, undefined), SOURCES.test(name) ? 'source' : name, from);
    if (code !== undefined && !isShell) this.codes.push({ program, text: code, from });
    else if (body !== null && isShell) this.#inside(from, body);
    else if (body !== null || PYTHON.test(name)) this.codes.push({ program, text: body ?? '', from });
    if (end !== 'none' || body !== null || code !== undefined) return;
    const fed = input === null ? null : this.#word(input);
    if (fed === null || fed.open !== null) unknown();
    this.#run(fed?.texts ?? [], name, from);
  }

  #enter(words: readonly ScriptWord[], from: ShellText): void {
    const operands = words.filter(({ start, open }) => open !== null || !/^-[LPe@]*$/.test(start));
    for (const { texts, open } of operands) {
      this.places.push(...texts);
      if (open !== null) this.open.add(from.path);
    }
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

interface ProgramGround {
  readonly word: ScriptWord | undefined;
  readonly from: ShellText;
  readonly inner: ScriptWord | null;
  readonly body: string | null;
  readonly input: string | null;
  /** Behind its name, with what is not known of them. */
  readonly words: readonly ScriptWord[];
}

const MOST_INSIDE = 60;
const MOST_WORDS = 10_000;
const PLAIN = /^(?:[\w./:@%+,-]+|\[)$/;
const PYTHON = /^(?:python|pypy)[\d.]*$/;
const ENTERS = /^(?:cd|pushd)$/;
const LEADS_TO = /^(?:-C|--(?:chdir|cwd|directory|prefix))$/;
const LOADS = /^(?:-\w*f|--file(?:=.*)?)$/;
/** Of the plain ones: they change what later words mean, are no programs of their own, or run what they are given. */
const MATTERS =
  /^(?:cd|pushd|git|sed|alias|enable|hash|prettier|biome|black|isort|ruff|rustfmt|tsc|goimports|open|xdg-open)$/;
