/**
 * What is known of hooks that check calls: what they need to start (programs and scripts), and whether they have ended well. An agent
 * can remove or move a script, take its rights away, or change into another folder, and the hook would fail, which stops nothing.
 * So what was there when the session first looked has to stay, also when it is continued in another process (SEC-1). What never was
 * there is not installed: such a hook fails like any other.
 */
import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { NotedGuard } from '../../schema/events.ts';
import { digestOf } from '../../system/digest.ts';
import { commandReach } from '../trust/command-reach.ts';
import { readScript, readWords } from '../trust/read-script.ts';
import { startedPrograms } from '../trust/started-programs.ts';
import type { CommandHook, Hook } from './hook-config.ts';
import { hookEventKind } from './hook-event.ts';

export interface GuardGround {
  readonly environment: Readonly<Record<string, string>>;
  readonly projectDirectory: string;
  /** On record of the session, oldest first. */
  readonly noted?: (() => Iterable<NotedGuard>) | undefined;
}

interface NeededFile {
  readonly name: string;
  /** Where it may be: the ending may be left out, and the command may change its directory. */
  readonly paths: readonly string[];
}

/** One that it calls by its name, with the folders that the command itself puts before those where programs are. */
interface NamedProgram {
  readonly name: string;
  readonly folders: readonly string[];
}

interface KnownGuard {
  /** As it is on record. */
  note: NotedGuard;
  readonly programs: readonly NamedProgram[];
  /** By the directory that it starts in. */
  readonly needs: Map<string, readonly NeededFile[]>;
}

export class GuardFiles {
  readonly #ground: GuardGround;
  readonly #known = new WeakMap<Hook, KnownGuard>();
  /** A function has no name that another process knows. */
  readonly #functions = new WeakSet<Hook>();
  #noted: Map<string, NotedGuard> | null = null;
  #news: NotedGuard[] = [];

  constructor(ground: GuardGround) {
    this.#ground = ground;
  }

  /** Of those that are not known yet. */
  learn(hooks: readonly Hook[], cwd: string): void {
    for (const hook of hooks) {
      if (!isGuard(hook) || hook.kind !== 'command' || this.#known.has(hook)) continue;
      const files = this.#files(hook, cwd);
      const programs = this.#programs(hook, cwd);
      const key = keyOf(hook);
      this.#noted ??= new Map(Array.from(this.#ground.noted?.() ?? [], (one) => [one.key, one]));
      const note = this.#noted.get(key) ?? this.#firstSeen(key, files, programs);
      this.#known.set(hook, { note, programs, needs: new Map([[cwd, files]]) });
    }
  }

  #firstSeen(key: string, files: readonly NeededFile[], programs: readonly NamedProgram[]): NotedGuard {
    const before = [
      ...files.map(({ name, paths }) => [digestOf(name), standing(paths)] as const),
      ...programs.map((one) => [programKey(one.name), this.#onPath(one)] as const),
    ];
    const isWhole = before.every(([, rights]) => rights !== 0);
    return this.#note({ key, files: Object.fromEntries(before), isWhole });
  }

  #note(note: NotedGuard): NotedGuard {
    this.#noted?.set(note.key, note);
    this.#news.push(note);
    return note;
  }

  /** What is to be put on record, once. */
  takeNews(): readonly NotedGuard[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  /** Why it does not start as it did, in one line; null for what checks nothing, or never was whole. */
  problem(hook: Hook, cwd: string): string | null {
    const known = this.#known.get(hook);
    if (known === undefined || hook.kind !== 'command') return null;
    const files = known.needs.get(cwd) ?? this.#files(hook, cwd);
    known.needs.set(cwd, files);
    for (const { name, paths } of files) {
      const before = known.note.files[digestOf(name)] ?? 0;
      const lost = before & ~standing(paths);
      if ((lost & THERE) !== 0) return `${name} was there when the session began, and is not any more`;
      if (lost !== 0) return `${name} has lost rights since the session began`;
    }
    const { note, programs } = known;
    // Earlier records name no programs.
    const missing = programs.find(
      (one) =>
        (note.files[programKey(one.name)] ?? (note.isWhole ? RUNS : 0)) !== 0 && this.#onPath(one) === 0,
    );
    if (missing === undefined) return null;
    return `the program ${missing.name} was there when the session began, and cannot be found any more`;
  }

  /** A person learns it if it does not do so again. */
  endedWell(hook: Hook): void {
    if (hook.kind === 'function') this.#functions.add(hook);
    const known = this.#known.get(hook);
    if (known === undefined || this.hasEndedWell(hook)) return;
    known.note = this.#note({ ...known.note, hasEndedWell: true });
  }

  hasEndedWell(hook: Hook): boolean {
    if (hook.kind === 'function') return isGuard(hook) && this.#functions.has(hook);
    const known = this.#known.get(hook);
    return (this.#noted?.get(known?.note.key ?? '') ?? known?.note)?.hasEndedWell === true;
  }

  /** If the system does not let it start or answer now, something has changed. */
  wasWhole(hook: Hook): boolean {
    return this.#known.get(hook)?.note.isWhole === true;
  }

  #files(hook: CommandHook, cwd: string): readonly NeededFile[] {
    const { paths, executed } = commandReach(this.#texts(hook), this.#ground.projectDirectory, [cwd], true);
    const written = new Set(paths.flatMap((one) => (one.written === undefined ? [] : [one.path])));
    return executed.filter((file) => !file.paths.some((path) => written.has(path)));
  }

  /** Called by their names. */
  #programs(hook: CommandHook, cwd: string): NamedProgram[] {
    const { projectDirectory: root } = this.#ground;
    const texts = this.#texts(hook);
    const commands =
      texts.length > 1 ? [readWords(texts, root).command] : readScript(texts.join(''), root, [cwd]).commands;
    const set = commands.flatMap(({ assignments }) => assignments.filter(({ name }) => name === 'PATH'));
    const folders = set.flatMap(({ open, texts, start }) =>
      // `scripts:$PATH`: of a value that is known in part, the folders before that.
      (open === null ? texts : [start.slice(0, start.lastIndexOf(delimiter) + 1)])
        .flatMap((text) => text.split(delimiter))
        .filter((folder) => folder !== '')
        .map((folder) => resolve(cwd, folder)),
    );
    return commands.flatMap(({ words }) =>
      startedPrograms(words)
        .programs.filter(({ rest }) => words.at(-1 - rest.length)?.start.includes('/') === false)
        .map(({ name }) => name)
        .filter((name) => !DURATION.test(name))
        .map((name) => ({ name, folders })),
    );
  }

  /** As it starts, with the variables whose values are known. */
  #texts({ command, args, source }: CommandHook): readonly string[] {
    const variables = { HOME: this.#ground.environment.HOME, ...source.variables };
    return [command, ...(args ?? [])].map((text) => withVariables(text, variables));
  }

  /** `RUNS` if it can be started by its name. */
  #onPath({ name, folders }: NamedProgram): number {
    if (BUILTINS.has(name)) return RUNS;
    const all = [...folders, ...(this.#ground.environment.PATH ?? '').split(delimiter)];
    return all.some((folder) => (standing([join(folder, name)]) & RUNS) !== 0) ? RUNS : 0;
  }
}

function isGuard(hook: Hook): boolean {
  return hookEventKind(hook.event).guards === true && !(hook.kind === 'command' && hook.isAsync);
}

function keyOf({ event, command, args }: CommandHook): string {
  return digestOf(JSON.stringify([event, command, args]));
}

/** No file is called so. */
function programKey(name: string): string {
  return digestOf(`program\0${name}`);
}

/** `timeout 5 x` */
const DURATION = /^\d+[smhd]?$/;

const [THERE, IS_FILE, READS, RUNS] = [1, 2, 4, 8];

/** What can be done with a file at one of these paths. */
function standing(paths: readonly string[]): number {
  return paths.reduce((found, path) => {
    const stats = statsOf(path);
    if (stats === null) return found;
    const rights =
      (isPermitted(path, constants.R_OK) ? READS : 0) | (isPermitted(path, constants.X_OK) ? RUNS : 0);
    return found | THERE | (stats.isFile() ? IS_FILE : 0) | rights;
  }, 0);
}

function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function isPermitted(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function withVariables(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  const named = text.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (whole, braced?: string, plain?: string) => variables[braced ?? plain ?? ''] ?? whole,
  );
  return variables.HOME === undefined
    ? named
    : named.replace(/(?<=^|[\s=;&|(])~(?=\/)/g, () => variables.HOME ?? '~');
}

const BUILTINS: ReadonlySet<string> = new Set(
  '. : [ [[ alias bg bind break builtin caller case cd command compgen complete continue declare dirs disown echo enable eval exec exit export false fc fg for function getopts hash help history if jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test time times trap true type typeset ulimit umask unalias unset until wait while'.split(
    ' ',
  ),
);
