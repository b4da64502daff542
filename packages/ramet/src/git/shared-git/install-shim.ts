/** Puts the shim into `$RAMET_HOME`, and finds the git it wraps. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makePrivateDirectory } from '../../system/home.ts';
import { versionOf } from '../../system/regular-file.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { SHIM_MARK, shimScript } from './shim-script.ts';

/**
 * The directory to put in front of PATH; named by its content, so that two versions of Ramet do not overwrite theirs.
 */
export function installShim(home: string): string {
  const script = shimScript(process.execPath);
  const version = versionOf(Buffer.from(script)).slice(0, 10);
  const directory = join(home, 'shim', version);
  const file = join(directory, 'git');
  if (existsSync(file)) return directory;
  makePrivateDirectory(directory);
  replaceWhole(file, script, 0o700);
  return directory;
}

/** The git that PATH leads to, shims of any Ramet left out; null without git. */
export function findRealGit(path: string): string | null {
  for (const directory of path.split(delimiter)) {
    const file = join(directory, 'git');
    if (directory.startsWith('/') && isExecutable(file) && !isShim(file)) return file;
  }
  return null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isShim(file: string): boolean {
  if (!file.includes('/shim/')) return false;
  try {
    return readFileSync(file, 'latin1').slice(0, 64).includes(SHIM_MARK);
  } catch {
    return false;
  }
}
