/**
 * The definitions of a place as they are now. Files that have not changed are not read again; one that was good and is
 * broken by an edit stays as it was, with the problem reported.
 *
 * Invariants
 * 1. Refreshing is never done twice at the same time, and what changes meanwhile is seen by the next.
 * 2. A lost message of a watcher does no harm: `check` looks for itself, and is asked before each use.
 */
import {
  type ExtensionFolder,
  type ExtensionPlace,
  extensionFolders,
} from '../../extensions/extension-places.ts';
import {
  currentStamp,
  type FolderScan,
  type FoundFile,
  filesEndingIn,
  readFound,
  type ScanRules,
  scanFolder,
} from '../../extensions/folder-scan.ts';
import { guardedHooks } from '../../extensions/hooks/hook-config.ts';
import type { FolderPart } from '../../extensions/trust/folder-part.ts';
import {
  FILES_NOT_AS_TRUSTED,
  type FolderTrust,
  NOT_AS_TRUSTED,
  NOT_FOLLOWED_THEN,
} from '../../extensions/trust/folder-trust.ts';
import type { RunCheck } from '../../extensions/trust/run-check.ts';
import type { AgentDefinition, DefinitionProblem } from './definition.ts';
import { type DefinitionCatalog, type FolderFiles, identityOf, makeCatalog } from './definition-catalog.ts';
import { type DefinitionFile, type FileContext, parseDefinition, unusedFile } from './definition-file.ts';
import { DefinitionWatch } from './definition-watch.ts';

export interface StoreOptions {
  place: ExtensionPlace;
  builtIn: readonly AgentDefinition[];
  toolNames: readonly string[];
  /** What the project's own definitions may do; asked again with each refresh. */
  trust(): Pick<FolderTrust, 'isTrusted' | 'verdictOn'>;
  /** What must hold each time something runs that a file of the project names; null for a user's own folder. */
  checkFor?(part: FolderPart): RunCheck | null;
  /** Another one means that trust was given or taken back. */
  trustStamp(): string;
}

export const DEFINITION_FILES: ScanRules = filesEndingIn('.md', '.yaml', '.yml');

interface KeptFile {
  stamp: string;
  file: DefinitionFile;
}

export class DefinitionStore implements Disposable {
  readonly #options: StoreOptions;
  readonly #kept = new Map<string, KeptFile>();
  #scans: readonly FolderScan[] = [];
  #trustStamp: string | null = null;
  #catalog: DefinitionCatalog;
  #refreshing: Promise<boolean> | null = null;
  #watch: DefinitionWatch | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#catalog = makeCatalog([], options.builtIn, false);
  }

  get catalog(): DefinitionCatalog {
    return this.#catalog;
  }

  /** Reads what has changed; true when the types or their problems have. */
  refresh(): Promise<boolean> {
    // What went wrong with the last one was told to who asked for it.
    const before = this.#refreshing?.catch(() => false) ?? Promise.resolve(false);
    const next = before.then(() => this.#refresh());
    const settled = next.finally(() => {
      if (this.#refreshing === settled) this.#refreshing = null;
    });
    this.#refreshing = settled;
    return settled;
  }

  /** Refreshes when something about the folders, or the file of the type of that name, is not as it was. */
  async check(name: string | null): Promise<boolean> {
    // A refresh under way may have looked before the change that matters here.
    const changed = (await this.#refreshing?.catch(() => false)) === true;
    return this.#isStale(name) ? (await this.refresh()) || changed : changed;
  }

  /** Calls `onChange` soon after a change; it does not keep the process alive. */
  watch(onChange: () => void): void {
    this.#watch = new DefinitionWatch(() => {
      const told = this.refresh().then((changed) => {
        if (changed) onChange();
      });
      // The next use of a definition reads it again, and reports it.
      told.catch(() => {});
    });
    this.#watch.follow(this.#directories());
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
  }

  #directories(): string[] {
    return this.#scans.flatMap(({ directories }) => [...directories.keys()]);
  }

  #isStale(name: string | null): boolean {
    const folders = extensionFolders(this.#options.place, 'agents').map(({ path }) => path);
    if (folders.join('\n') !== this.#scans.map(({ folder }) => folder.path).join('\n')) return true;
    for (const { directories } of this.#scans) {
      for (const [path, stamp] of directories) if (currentStamp(path) !== stamp) return true;
    }
    const hasProject = this.#scans.some(({ folder }) => folder.source === 'project');
    if (hasProject && this.#options.trustStamp() !== this.#trustStamp) return true;
    return name !== null && this.#isWritten(identityOf(name));
  }

  /** Whether a file that gives a type this name, used or not, has been written since. */
  #isWritten(identity: string): boolean {
    for (const { files } of this.#scans) {
      for (const { path, real } of files) {
        const kept = this.#kept.get(path);
        if (kept?.file.name == null || identityOf(kept.file.name) !== identity) continue;
        if (currentStamp(real) !== kept.stamp) return true;
      }
    }
    return false;
  }

  async #refresh(): Promise<boolean> {
    const { place, builtIn } = this.#options;
    const scans = extensionFolders(place, 'agents').map((folder) => scanFolder(folder, DEFINITION_FILES));
    const trust = this.#trustFor(scans);
    const folders = await this.#readAll(scans, trust);
    const before = this.#catalog;
    const paths = new Set(scans.flatMap(({ files }) => files.map(({ path }) => path)));
    for (const path of this.#kept.keys()) if (!paths.has(path)) this.#kept.delete(path);
    this.#scans = scans;
    this.#catalog = makeCatalog(folders, builtIn, trust?.isTrusted === true);
    this.#watch?.follow(this.#directories());
    return !isSame(before, this.#catalog);
  }

  /** Null where the project has none. What trust says is about each file: a new word means to look again. */
  #trustFor(scans: readonly FolderScan[]): ReturnType<StoreOptions['trust']> | null {
    const own = scans.filter(({ folder }) => folder.source === 'project');
    if (own.length === 0) return null;
    const stamp = this.#options.trustStamp();
    if (stamp !== this.#trustStamp)
      for (const { path } of own.flatMap(({ files }) => files)) this.#kept.delete(path);
    this.#trustStamp = stamp;
    return this.#options.trust();
  }

  async #readAll(
    scans: readonly FolderScan[],
    trust: ReturnType<StoreOptions['trust']> | null,
  ): Promise<FolderFiles[]> {
    const late: { found: FoundFile; text: string; context: FileContext }[] = [];
    const keep = (found: FoundFile, text: string, file: DefinitionFile, { source }: FileContext): void => {
      const problem = source === 'project' ? whyUntrusted(file, text, trust) : null;
      if (problem === null) this.#keep(found, file, text);
      else this.#keep(found, { ...unusable(found.path, problem), name: file.name }, null);
    };
    for (const { folder, files } of scans) {
      for (const found of files) {
        if (this.#kept.get(found.path)?.stamp === found.stamp) continue;
        const context = this.#contextOf(found, folder);
        const read = readFound(found);
        if ('problem' in read) {
          this.#keep(found, unusable(found.path, read.problem), null);
          continue;
        }
        const file = parseDefinition(read.text, context, null);
        if (file === null) late.push({ found, text: read.text, context });
        else keep(found, read.text, file, context);
      }
    }
    if (late.length > 0) {
      const { yamlFields } = await import('../../extensions/front-matter/yaml-fields.ts');
      for (const { found, text, context } of late) {
        const file = parseDefinition(text, context, yamlFields) ?? unusable(found.path, 'unreadable');
        keep(found, text, file, context);
      }
    }
    return scans.map(({ folder, files, unreadable }) => ({
      folder,
      files: [
        ...files.flatMap(({ path }) => this.#kept.get(path)?.file ?? []),
        ...unreadable.map(({ path, reason }) => unusable(path, reason)),
      ],
    }));
  }

  #contextOf({ path }: FoundFile, { source, plugin }: ExtensionFolder): FileContext {
    return { path, source, toolNames: this.#options.toolNames, namespace: plugin?.name };
  }

  /** An empty file is an edit under way; another one without fields is no definition any more. */
  #keep(found: FoundFile, read: DefinitionFile, text: string | null): void {
    const last = this.#kept.get(found.path)?.file.definition ?? null;
    const file = text === null ? read : this.#guarded(read, text);
    const broken = file.definition === null && (text?.trim() === '' || file.problems.some(isError));
    const kept =
      last !== null && broken
        ? { ...file, name: last.name, definition: last, problems: [...file.problems, lastGood(found.path)] }
        : file;
    this.#kept.set(found.path, { stamp: found.stamp, file: kept });
  }

  /** With what must hold when its hooks run and its servers start. */
  #guarded(file: DefinitionFile, text: string): DefinitionFile {
    const { definition, path, declared } = file;
    if (definition?.source !== 'project') return file;
    const { hooks, mcpServers } = definition;
    if (hooks === undefined && mcpServers === undefined) return file;
    const check = this.#options.checkFor?.({ kind: 'agent', source: path, value: text, declared }) ?? null;
    if (check === null) return file;
    const guarded = hooks && { hooks: guardedHooks(hooks, check) };
    return { ...file, definition: { ...definition, ...guarded, check } };
  }
}

/** One that has changed since is not used until it is trusted again. */
function whyUntrusted(
  { path, definition, declared }: DefinitionFile,
  text: string,
  trust: ReturnType<StoreOptions['trust']> | null,
): string | null {
  if (definition === null || trust?.isTrusted !== true) return null;
  const verdict = trust.verdictOn({ kind: 'agent', source: path, value: text, declared });
  if (verdict === 'trusted') return null;
  if (verdict === 'followed') return NOT_FOLLOWED_THEN;
  const { hooks, mcpServers } = definition;
  return hooks === undefined && mcpServers === undefined ? NOT_AS_TRUSTED : FILES_NOT_AS_TRUSTED;
}

function unusable(path: string, message: string): DefinitionFile {
  return unusedFile(path, { line: null, field: null, level: 'error', message });
}

function isError({ level }: DefinitionProblem): boolean {
  return level === 'error';
}

function lastGood(path: string): DefinitionProblem {
  const message = 'its last good version stays in use until the file is mended or removed';
  return { path, line: null, field: null, level: 'warning', message };
}

/** Files that did not change give the same objects. */
function isSame(before: DefinitionCatalog, after: DefinitionCatalog): boolean {
  return (
    before.entries.length === after.entries.length &&
    before.problems.length === after.problems.length &&
    before.problems.every(({ message, path }, at) => {
      const other = after.problems[at];
      return other?.path === path && other.message === message;
    }) &&
    before.entries.every(({ definition, state }, at) => {
      const other = after.entries[at];
      return other?.definition === definition && other.state === state;
    })
  );
}
