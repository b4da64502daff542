/** What is found out about a command while it is read. */
import { linkedPaths } from './linked-paths.ts';
import { type SearchGround, stemFiles } from './module-files.ts';
import { type ExecutedFile, runsOutput } from './programs/compiled-output.ts';
import type { CommandReach, NamedPath, WrittenAs } from './word-names.ts';

/** Nothing runs these without a compiler. */
const COMPILED = /\.(?:c|cc|cpp|cxx|rs|go|java|kt|f|zig|swift|[hm])$/;

export class ReachFinds {
  readonly #paths = new Map<string, NamedPath>();
  /** Every file in these counts. */
  readonly folders: Set<string> = new Set();
  readonly unclear: Set<string> = new Set();
  readonly unknown: Set<string> = new Set();
  readonly loads: Set<string> = new Set();
  /** Scripts in Python whose imports only they know. */
  readonly importing: Set<string> = new Set();
  /** Compilers that write files. */
  readonly built: Set<string> = new Set();
  /** What they are told to write. */
  readonly outputs: Set<string> = new Set();
  readonly executed: ExecutedFile[] = [];
  /** The same by their paths, with the programs that run them. */
  readonly runs: Map<string, string> = new Map();

  get paths(): Iterable<string> {
    return this.#paths.keys();
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  add(path: string, isAbsolute = false, written?: WrittenAs): void {
    const known = this.#paths.get(path);
    // By another name it may run before it is written.
    if (known === undefined || (known.written !== undefined && written === undefined))
      this.#paths.set(path, { path, isAbsolute, ...(written && { written }) });
  }

  /** They were read while they were followed, with this content. */
  read(digests: ReadonlyMap<string, string>): void {
    for (const [path, digest] of digests) {
      const known = this.#paths.get(path);
      if (known !== undefined) this.#paths.set(path, { ...known, digest });
    }
  }

  addAll({
    paths,
    folders,
  }: {
    readonly paths: readonly string[];
    readonly folders: readonly string[];
  }): void {
    for (const one of paths) this.add(one);
    for (const one of folders) this.folders.add(one);
  }

  /** By the name of a file. */
  execute(name: string, by: string, ground: SearchGround): void {
    const own = [...ground.directories].flatMap((directory) => linkedPaths(directory, name));
    const ended = stemFiles(name, ground).filter((path) => !COMPILED.test(path));
    this.executed.push({ name, paths: [...own, ...ended] });
    for (const path of own) this.runs.set(path, by);
  }

  /** By the command itself. */
  isWritten(path: string): boolean {
    return this.#paths.get(path)?.written !== undefined;
  }

  /** What a script that it runs reaches; the folders of one that is not clear are for the caller to judge. */
  take({ paths, folders, unclear, imports, unknown, loads, built, outputs, executed }: CommandReach): void {
    if (imports !== null) this.importing.add(imports.script);
    for (const one of paths) this.#paths.set(one.path, one);
    if (unclear === null) for (const one of folders) this.folders.add(one);
    for (const one of unknown) this.unknown.add(one);
    for (const one of loads) this.loads.add(one);
    for (const one of built) this.built.add(one);
    for (const one of outputs) this.outputs.add(one);
    this.executed.push(...executed);
  }

  /** Where it is not clear, every file of the directories that it starts in counts. */
  reach(starts: readonly string[]): CommandReach {
    const { outputs, executed } = this;
    if (this.built.size > 0 && runsOutput(this.paths, executed, { starts, outputs }))
      this.unclear.add(`what ${[...this.built].join(', ')} writes`);
    const [unclear = null] = this.unclear;
    const [script = null] = this.importing;
    if (unclear !== null) for (const start of starts) this.folders.add(start);
    return {
      paths: [...this.#paths.values()],
      folders: [...this.folders],
      unclear,
      imports: script === null ? null : { script, folders: starts },
      unknown: [...this.unknown],
      loads: [...this.loads].filter((one) => !this.unknown.has(one)),
      built: [...this.built],
      outputs: [...outputs],
      executed,
    };
  }
}
