/** Who wrote which line, and what a file contained: loaded on first use. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createOriginalFiles } from '../files/original-files.ts';
import { versionOf } from '../system/regular-file.ts';
import { NO_TRANSPORT } from './folder-guard.ts';
import { runGitForBytes } from './run-git.ts';

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

const LARGEST = 1 << 20;
const TIMEOUT_MS = 2_000;

/**
 * A file's version as git has it, when that is the one that is looked for.
 *
 * Null when HEAD has another version, or none: what could not be found out is not shown.
 */
export async function committedVersion(
  path: string,
  version: string,
  env: Readonly<Record<string, string>>,
): Promise<Uint8Array | null> {
  try {
    const { code, stdout } = await runGitForBytes(['cat-file', 'blob', `HEAD:./${basename(path)}`], {
      cwd: dirname(path),
      env: { ...env, ...NO_TRANSPORT },
      looksUp: true,
      mostBytes: LARGEST,
      timeoutMs: TIMEOUT_MS,
    });
    return code === 0 && versionOf(stdout) === version ? stdout : null;
  } catch {
    return null;
  }
}
