/**
 * What logins at MCP servers gave is not there for a command in bubblewrap (SEC-1): an empty folder lies over theirs. Rules
 * go by names and redaction goes by texts, and a command has ways around both: a pattern, a link or a variable hides the
 * name, and a filter changes the text.
 */
import { mkdirSync, statSync } from 'node:fs';
import { existingPath } from '../system/landing-path.ts';
import { hasLogins } from '../system/stored-logins.ts';

export interface HiddenLogins {
  /** Where the folder really is; none if there can be none. */
  readonly places: readonly string[];
  /** After all other mounts. */
  readonly mounts: readonly string[];
}

/** Of the folder below `$RAMET_HOME`. It is made: else a login while a long command runs would make one that is not hidden. */
export function hiddenLogins(folder: string | undefined): HiddenLogins {
  const place = folder === undefined ? null : (existingPath(folder) ?? madeFolder(folder));
  if (place === null || statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { places: [], mounts: [] };
  return { places: [place], mounts: ['--tmpfs', place, '--remount-ro', place] };
}

function madeFolder(folder: string): string | null {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // Another process was faster, or nobody can have it.
  }
  return existingPath(folder);
}

/**
 * The arguments with which bubblewrap hides them and nothing else, for a command that has to see the machine as it is. Null
 * before the first login: nothing is to be hidden.
 */
export function onlyLoginsHidden(folder: string | undefined): string[] | null {
  if (folder === undefined || !hasLogins(folder)) return null;
  return ['--dev-bind', '/', '/', ...hiddenLogins(folder).mounts, '--'];
}
