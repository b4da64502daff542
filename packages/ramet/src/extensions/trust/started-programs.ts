/** The programs that one command starts: its own, and those that stand behind `env`, `timeout`, `npx` and their like. */
import { basename } from 'node:path';
import type { ScriptWord } from '../../permission/shell/script-words.ts';
import {
  ASKS_ABOUT,
  FEEDS,
  FLAGS,
  isInline,
  isPlain,
  LOADS_MORE,
  manifestsOf,
  PASSES_ON,
  RUNS_COMMANDS,
  RUNS_SCRIPTS,
  SHELLS,
  SUBCOMMANDS,
} from './programs/known-programs.ts';

export interface StartedProgram {
  readonly name: string;
  /** The words behind it. */
  readonly rest: readonly ScriptWord[];
}

export interface StartedPrograms {
  readonly programs: readonly StartedProgram[];
  /** Names of those that nothing is known of. */
  readonly unknown: readonly string[];
  /** A word that decides what starts is not known. */
  readonly isOpen: boolean;
}

const FINDS = /^(?:find|fd)$/;
const EXECUTES = /^(?:-(?:exec|execdir|ok|okdir|x|X)|--exec|--exec-batch)$/;
/** What a program reads, by the name of a file. */
const STREAM = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;
/** `bash -s a`: it reads its script, and `a` is for that. */
const READS = /^-[a-zA-Z]*s/;
/** `find`, `fd` and `parallel` put names there that only they know. */
const FILLED = /\{[./]*\}/;
const ASSIGNS_OR_OPTION = /^-|^[A-Za-z_]\w*=/;

export function startedPrograms(words: readonly ScriptWord[]): StartedPrograms {
  // `command -v x` tells where a program is.
  if (
    /^command -[vV]$/.test(
      words
        .slice(0, 2)
        .map(({ texts: [text] }) => text)
        .join(' '),
    )
  )
    return { programs: [], unknown: [], isOpen: false };
  const programs: StartedProgram[] = [];
  const unknown: string[] = [];
  let isOpen = false;
  /** The next operand is a program, the name of what one runs, or something before a program. */
  let next: 'program' | 'name' | 'other' | null = 'program';
  /** It stands where other words come first. */
  let isLater = false;
  /** An option came first, whose value may have been taken for the program. */
  let isVague = false;
  for (const [index, { texts, open, start }] of words.entries()) {
    const [text = ''] = texts;
    const name = basename(text);
    if (texts.some((one) => FILLED.test(one)) && fillsIn(programs)) {
      const isCode = isInline(programs.at(-1)?.name ?? '', words[index - 1]?.start ?? '');
      isOpen ||= next !== null || isVague || isCode;
    }
    if (index > 0 && ASSIGNS_OR_OPTION.test(start)) {
      if (EXECUTES.test(text)) [next, isVague] = ['program', false];
      else isVague ||= next !== null && start.startsWith('-') && !hasNoValue(text, programs);
      continue;
    }
    if (open !== null) {
      isOpen ||= next !== null;
      continue;
    }
    const isRunner = RUNS_SCRIPTS.test(name) || RUNS_COMMANDS.test(name);
    if (next === 'program' || ((isRunner || manifestsOf(name).length > 0) && name !== '.')) {
      programs.push({ name, rest: words.slice(index + 1) });
      if (LOADS_MORE.test(name)) unknown.push(name);
      const isKnown = isRunner || isPlain(name) || manifestsOf(name).length > 0;
      if (next === 'program' && !isLater && !isKnown && !text.includes('/') && !SUBCOMMANDS.test(name))
        unknown.push(name);
    }
    if (index === 0 && !RUNS_COMMANDS.test(name)) break;
    isLater ||= next === 'other' || next === 'name';
    if (next === 'other') next = 'program';
    else if (RUNS_COMMANDS.test(name)) next = nextAfter(name);
    else if (next === 'name' && RUNS_PACKAGE.test(name) && PACKAGERS.test(programs.at(-1)?.name ?? ''))
      next = 'program';
    else if (!SUBCOMMANDS.test(name)) next = null;
  }
  // `xargs env`: what it reads are the words of a program, and the first is that program.
  const isFed = next === 'program' && programs.at(-1)?.name !== 'xargs';
  return { programs, unknown, isOpen: isOpen || (isFed && programs.some(({ name }) => FEEDS.test(name))) };
}

/** Their first operand is no program: a file that is locked, a mask of processors. */
const PASSES_ON_LATER = /^(?:flock|taskset)$/;

function nextAfter(name: string): 'program' | 'name' | 'other' | null {
  if (FINDS.test(name)) return null;
  if (PASSES_ON_LATER.test(name)) return 'other';
  return PASSES_ON.test(name) ? 'program' : 'name';
}

function hasNoValue(option: string, programs: readonly StartedProgram[]): boolean {
  return RUNS_PACKAGES.test(programs.at(-1)?.name ?? '') && PACKAGE_FLAGS.test(option);
}

function fillsIn(programs: readonly StartedProgram[]): boolean {
  return programs.some(({ name }) => FINDS.test(name) || FEEDS.test(name));
}

export interface RunScript {
  /** Names that count whole where they lead to a folder. */
  readonly folders: readonly string[];
  readonly patterns: readonly string[];
  /** `none`: it is given no script, so it reads one. `open`: which one is not known. */
  readonly end: 'known' | 'none' | 'open';
}

/** What an interpreter runs, of the words behind it: `sh x`, `node -r a b`, `python3 -m c`. */
export function scriptOf(program: string, words: readonly ScriptWord[]): RunScript {
  const folders: string[] = [];
  let before = '';
  let isFound = false;
  let isReading = false;
  const isShell = SHELLS.test(program);
  for (const { texts, open } of words) {
    const [text = ''] = texts;
    if (open === 'pattern') return { folders, patterns: texts, end: 'known' };
    const isModule = isInline(program, before);
    // In code it is a value, unless a program fills it in.
    if (open !== null || (FILLED.test(text) && !isModule)) return { folders, patterns: [], end: 'open' };
    if (isModule) folders.push(...(text.match(/[\w./-]+/g) ?? []).map((one) => one.replaceAll('.', '/')));
    if (isModule || ASKS_ABOUT.test(text)) return { folders, patterns: [], end: 'known' };
    if (text.startsWith('-') && text !== '-') {
      isReading ||= isShell && READS.test(text);
      if (!isShell || text !== '--') before = text;
      continue;
    }
    // `bash +x`, and the name behind `bash -o`.
    if (isShell && (text.startsWith('+') || /^[-+]\w*[oO]$/.test(before))) {
      before = text.startsWith('+') ? text : '';
      continue;
    }
    // What follows is for the script that it reads.
    if (STREAM.test(text) || isReading) return { folders, patterns: [], end: 'none' };
    folders.push(...texts);
    isFound = true;
    if ((before === '' || FLAGS.test(before)) && !SUBCOMMANDS.test(text)) break;
    before = '';
  }
  return { folders, patterns: [], end: isFound ? 'known' : 'none' };
}

/** Words of a program that name what it runs: its script, what it loads, the folder it runs in, and its own word where that is a path. */
export function executedNames({ name, rest }: StartedProgram, own: ScriptWord | undefined): string[] {
  const texts = rest.flatMap((word) => word.texts);
  const places = texts.filter(
    (text, at) => /^[^-]/.test(text) && (ENTERS.test(name) || LEADS.test(texts[at - 1] ?? '')),
  );
  const itself = [...(own?.texts ?? []).filter((text) => text.includes('/')), ...places];
  if (!RUNS_SCRIPTS.test(name)) return itself;
  const isCode = texts.some((text) => isInline(name, text));
  const loaded = texts.flatMap((text, at) => {
    const before = texts[at - 1] ?? '';
    if (PRELOADS.test(before)) return text;
    if (isInline(name, before)) return text.match(QUOTED_PATH) ?? [];
    return PRELOADS_IN_WORD.exec(text)?.[1] ?? [];
  });
  return [...itself, ...(isCode ? [] : scriptOf(name, rest).folders), ...loaded];
}

/** They change into a folder. */
const ENTERS = /^(?:cd|pushd)$/;
const LEADS = /^(?:-C|--(?:chdir|cwd|directory|prefix))$/;
const PRELOADS = /^(?:-r|-jar|-cp|-classpath|--(?:class-path|require|import|loader|experimental-loader))$/;
const PRELOADS_IN_WORD = /^(?:-r|--(?:class-path|require|import|loader|experimental-loader)=)(.+)$/;
const QUOTED_PATH = /(?<=["'`])\.{0,2}\/?[\w@.-]+\/[\w@./-]+(?=["'`])/g;

/** `make -f -`: what it reads tells it what to run. */
export function readsCommands({ name, rest }: StartedProgram): boolean {
  const texts = rest.flatMap((word) => word.texts);
  const isNamed = (text: string, at: number): boolean =>
    STREAM.test(text.replace(/^(?:-f|--(?:make)?file=)/, '')) &&
    (text !== '-' || /^(?:-\w*f|--(?:make)?file)$/.test(texts[at - 1] ?? ''));
  return manifestsOf(name).length > 0 && texts.some(isNamed);
}

/** It may run scripts of packages that it finds by itself, or by their names. */
export function isAboutWorkspaces(program: string, words: readonly ScriptWord[]): boolean {
  if (/^(?:turbo|nx|lerna|wireit)$/.test(program)) return true;
  return words.some(({ start }) =>
    /^(?:-w|-ws|-F|-r|--(?:workspaces?|recursive|filter)|workspaces?)(?:=|$)/.test(start),
  );
}

const RUNS_PACKAGES = /^(?:npx|pnpx|bunx)$/;
const PACKAGERS = /^(?:npm|pnpm|yarn|bun)$/;
const RUNS_PACKAGE = /^(?:exec|x|dlx)$/;
/** They have no value. */
const PACKAGE_FLAGS =
  /^(?:-[yqsn]+|--(?:|yes|no|no-install|quiet|silent|ignore-existing|offline|prefer-o\w+|bun))$/;

/** Packages that `npx x`, `npm exec x` and the like fetch and run; also words that may be values of options before them. */
export function packageOperands(texts: readonly string[]): string[] {
  const at = texts.findIndex((text) => RUNS_PACKAGES.test(basename(text)));
  const packager = texts.findIndex((text) => PACKAGERS.test(basename(text)));
  const order = texts.findIndex(
    (text, index) => packager !== -1 && index > packager && RUNS_PACKAGE.test(text),
  );
  const start = at === -1 ? order : at;
  if (start === -1) return [];
  const rest = texts.slice(start + 1);
  const end = rest.findIndex((text, index) => {
    const before = rest[index - 1] ?? '--';
    return !text.startsWith('-') && (!before.startsWith('-') || PACKAGE_FLAGS.test(before));
  });
  return rest.slice(0, end === -1 ? rest.length : end + 1);
}
