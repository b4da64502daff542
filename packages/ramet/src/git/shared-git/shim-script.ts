/**
 * The `git` that agents' programs find first on their PATH (WORK-1), in `git-shim.sh`: POSIX sh, since it runs before every git command
 * (2 ms; Node would take 40). It decides what a command is and leaves the rest to git itself.
 *
 * Invariants
 * 1. Commands that take the index lock run one at a time per git directory, whatever process they come from. The lock is
 *    the kernel's, on the directory itself: nothing is written there, and a killed holder gives it back.
 * 2. The lock is held for one git command and never inherited by what that starts: a daemon from a hook cannot keep it.
 * 3. Git from within git (hooks) passes: the one outside holds the lock already.
 * 4. Arguments, input, output, exit code and death by a signal are git's. A signal that reaches the shim alone waits
 *    for git's end: the lock is not given away while git still works.
 *
 * While a second agent lives in the checkout, commands that change something go to `main.ts` instead, under the lock.
 * This file puts the shim into `$RAMET_HOME` and finds the git it wraps.
 */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makePrivateDirectory } from '../../system/home.ts';
import { versionOf } from '../../system/regular-file.ts';
import { replaceWhole } from '../../system/replace-whole.ts';

/** In the second line of the script. */
export const SHIM_MARK = '# ramet git shim';

const TEMPLATE = readFileSync(new URL('./git-shim.sh', import.meta.url), 'utf8');

/** `node` runs the helper: it is written into the script, and so no variable of an agent's environment names it. */
export function shimScript(node: string): string {
  return TEMPLATE.replace('@node@', () => `'${node.replaceAll("'", "'\\''")}'`);
}

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
