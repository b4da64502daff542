/** Who wrote which line, and what a file contained: loaded on first use. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOriginalFiles } from '../files/original-files.ts';
import { versionOf } from '../system/regular-file.ts';

export { blameLines } from './provenance/blame-lines.ts';
export { withTrailers } from './provenance/trailers.ts';

export interface FileContents {
  /** Null when nobody has kept them. `path` is where the file is, which may still be in that version. */
  read(version: string, path: string): Uint8Array | null;
}

/** The bytes of file versions, wherever they are kept: the originals of all sessions, or the file as it is now. */
export function createFileContents(project: string): FileContents {
  const stores = readdirSync(project, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(project, entry.name, 'originals')))
    .map(({ name }) => createOriginalFiles(join(project, name)));
  return {
    read(version, path) {
      const kept = stores.find((store) => store.has(version))?.read(version) ?? null;
      if (kept !== null) return kept;
      const bytes = readNow(path);
      return bytes !== null && versionOf(bytes) === version ? bytes : null;
    },
  };
}

function readNow(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
