/** Every relative import between source files, as a pair of paths from the root; read once. */
import { sourceFiles } from './repository.ts';
import { importTarget, type ParsedFile, parseFiles } from './syntax.ts';

/** The one file outside the rooms that a source may import: it holds the version. */
const MANIFEST = 'packages/ramet/package.json';

export interface ImportArrow {
  from: string;
  to: string;
}

let parsed: ParsedFile[] | undefined;

export function parsedSources(): ParsedFile[] {
  parsed ??= parseFiles(sourceFiles());
  return parsed;
}

/** Imports of values, of types, and late ones. */
export function importGraph(): ImportArrow[] {
  return parsedSources().flatMap(({ path, imports }) =>
    imports.flatMap((specifier) => {
      const to = importTarget(path, specifier);
      return to === undefined || to === MANIFEST ? [] : [{ from: path, to }];
    }),
  );
}
