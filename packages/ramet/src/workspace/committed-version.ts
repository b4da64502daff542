/** A file's version as git has it, when that is the one that is looked for. */
import { execFile } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { folderGuard, NO_TRANSPORT } from './git/folder-guard.ts';
import { versionOf } from './regular-file.ts';

const LARGEST = 1 << 20;
const TIMEOUT_MS = 2_000;

const execute = promisify(execFile);

/** Null when HEAD has another version, or none: what could not be found out is not shown. */
export async function committedVersion(
  path: string,
  version: string,
  env: Readonly<Record<string, string>>,
): Promise<Uint8Array | null> {
  try {
    const { environment } = await folderGuard(dirname(path), { env });
    const { stdout } = await execute('git', ['cat-file', 'blob', `HEAD:./${basename(path)}`], {
      cwd: dirname(path),
      env: { ...env, ...environment, ...NO_TRANSPORT, GIT_OPTIONAL_LOCKS: '0' },
      encoding: 'buffer',
      maxBuffer: LARGEST,
      timeout: TIMEOUT_MS,
    });
    return versionOf(stdout) === version ? stdout : null;
  } catch {
    return null;
  }
}
