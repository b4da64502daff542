import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Git looks at no file there whose name begins with a dot. */
const KEEPER = '.kept';

/**
 * Makes the directories of a fence that are not there. Git removes one for logs with the last log in it, and if that happens
 * while bubblewrap starts, the command fails: so such a directory is never empty.
 */
export function makeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    if (folder.includes('/logs/refs/')) keep(folder);
  }
}

function keep(folder: string): void {
  try {
    writeFileSync(join(folder, KEEPER), '', { flag: 'wx' });
  } catch {
    // It is there. Or git was faster, or an agent left something in the way: then the next command tries again.
  }
}
