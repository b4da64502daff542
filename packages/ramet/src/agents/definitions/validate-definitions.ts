/** Checks definition files that lie anywhere: files by name, folders with all that is in them. */
import { statSync } from 'node:fs';
import { type FoundFile, foundFile, readFound, scanFolder } from '../../extensions/folder-scan.ts';
import { yamlFields } from '../../extensions/front-matter/yaml-fields.ts';
import type { DefinitionProblem } from './definition.ts';
import { makeCatalog } from './definition-catalog.ts';
import { type DefinitionFile, parseDefinition, unusedFile } from './definition-file.ts';
import { DEFINITION_FILES } from './definition-store.ts';

export interface Validation {
  files: number;
  definitions: number;
  problems: readonly DefinitionProblem[];
}

export function validateDefinitions(paths: readonly string[], toolNames: readonly string[]): Validation {
  const checked = paths.map((path) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const folder = { path, source: 'user', boundary: path } as const;
    if (!isFolder) return { folder, files: [named(checkFound(foundFile(path, path), toolNames))] };
    const { files, unreadable } = scanFolder(folder, DEFINITION_FILES);
    return {
      folder,
      files: [
        ...files.map((found) => checkFound(found, toolNames)),
        ...unreadable.map(({ path: where, reason }) => unusable(where, reason)),
      ],
    };
  });
  const files = checked.flatMap((one) => one.files);
  return {
    files: files.length,
    definitions: files.filter(({ definition }) => definition !== null).length,
    problems: makeCatalog(checked, [], true).problems,
  };
}

function checkFound(found: FoundFile, toolNames: readonly string[]): DefinitionFile {
  const read = readFound(found);
  if ('problem' in read) return unusable(found.path, read.problem);
  const context = { path: found.path, source: 'user', toolNames } as const;
  return parseDefinition(read.text, context, yamlFields) ?? unusable(found.path, 'it cannot be read');
}

/** A file that is named is meant to be a definition. */
function named(file: DefinitionFile): DefinitionFile {
  if (file.definition !== null || file.problems.some(({ level }) => level === 'error')) return file;
  return { ...file, problems: file.problems.map((problem) => ({ ...problem, level: 'error' as const })) };
}

function unusable(path: string, message: string): DefinitionFile {
  return unusedFile(path, { line: null, field: null, level: 'error', message });
}
