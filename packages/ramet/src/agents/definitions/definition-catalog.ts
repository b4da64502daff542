/**
 * Which types there are (TYPE-4): of all files that give a type its name, one is active. A folder that wins stands first;
 * files of a project that is not trusted are listed and nothing else: they neither act nor shadow.
 */
import type { ExtensionFolder } from '../../extensions/extension-places.ts';
import { isInside } from '../../system/landing-path.ts';
import type { AgentDefinition, DefinitionProblem, DefinitionSource } from './definition.ts';
import type { DefinitionFile } from './definition-file.ts';

export type EntryState = 'active' | 'shadowed' | 'duplicate' | 'untrusted';

export interface CatalogEntry {
  definition: AgentDefinition;
  source: DefinitionSource;
  /** Null for those that come with Ramet. */
  file: DefinitionFile | null;
  state: EntryState;
  /** The file of the one that is active instead; `built-in` for one without a file. */
  by: string | null;
}

export interface DefinitionCatalog {
  /** Those that can be asked for: built-in ones first, then by name. */
  definitions: readonly AgentDefinition[];
  entries: readonly CatalogEntry[];
  problems: readonly DefinitionProblem[];
  /** Files that name a type and cannot be used. */
  unusable: readonly DefinitionFile[];
}

export interface FolderFiles {
  folder: ExtensionFolder;
  files: readonly DefinitionFile[];
}

/** What names have in common that stand for one type: models do not care for case. */
export function identityOf(name: string): string {
  return name.trim().toLowerCase();
}

export function makeCatalog(
  folders: readonly FolderFiles[],
  builtIn: readonly AgentDefinition[],
  trusted: boolean,
): DefinitionCatalog {
  const active = new Map<string, CatalogEntry>();
  const entries: CatalogEntry[] = [];
  const problems = folders.flatMap(({ files }) => files.flatMap((file) => file.problems));
  const admit = (entry: Omit<CatalogEntry, 'state' | 'by'>, folder: ExtensionFolder | null): void => {
    const identity = identityOf(entry.definition.name);
    const winner = active.get(identity);
    if (folder?.source === 'project' && !trusted) entries.push({ ...entry, state: 'untrusted', by: null });
    else if (winner === undefined) {
      const admitted: CatalogEntry = { ...entry, state: 'active', by: null };
      active.set(identity, admitted);
      entries.push(admitted);
    } else {
      const twice = winner.file !== null && inFolder(folder, winner.file.path);
      const by = winner.file?.path ?? 'built-in';
      entries.push({ ...entry, state: twice ? 'duplicate' : 'shadowed', by });
      if (twice) problems.push(duplicateProblem(entry, by));
    }
  };
  for (const { folder, files } of folders) {
    for (const file of files)
      if (file.definition !== null)
        admit({ definition: file.definition, source: folder.source, file }, folder);
  }
  for (const definition of builtIn) admit({ definition, source: 'built-in', file: null }, null);
  const used = [...active.values()].map(({ definition }) => definition);
  return {
    definitions: [
      ...used.filter((definition) => builtIn.includes(definition)),
      ...used.filter((definition) => !builtIn.includes(definition)).sort(byName),
    ],
    entries,
    problems,
    unusable: folders.flatMap(({ files }) =>
      files.filter(({ definition, name }) => !definition && name !== null),
    ),
  };
}

function inFolder(folder: ExtensionFolder | null, path: string): boolean {
  return folder !== null && isInside(path, folder.path);
}

function duplicateProblem(
  { file, definition }: Pick<CatalogEntry, 'file' | 'definition'>,
  by: string,
): DefinitionProblem {
  const message = `the name ${definition.name} is taken by ${by} of the same folder: choose another`;
  return { path: file?.path ?? '', line: null, field: 'name', level: 'warning', message };
}

function byName(a: AgentDefinition, b: AgentDefinition): number {
  return a.name < b.name ? -1 : 1;
}
