/** A file's version as git has it, when that is the one that is looked for. */
import { basename, dirname } from 'node:path';
import { versionOf } from '../system/regular-file.ts';
import { NO_TRANSPORT } from './folder-guard.ts';
import { runGitForBytes } from './run-git.ts';

const LARGEST = 1 << 20;
const TIMEOUT_MS = 2_000;

/** Null when HEAD has another version, or none: what could not be found out is not shown. */
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
