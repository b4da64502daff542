/** What git says when it failed for want of a program that an untrusted folder's configuration names (SEC-1). */
import { UserMistake } from '../schema/errors.ts';
import type { FolderGuard } from './folder-guard.ts';

/** Throws if that was the reason. */
export function refuseUntrusted(guard: FolderGuard, stderr: string): void {
  refuseFilter(guard, stderr);
  refuseTransport(guard, stderr);
}

/** Git's own words, when a file needs a filter that is missing. */
const FILTER_FAILED = /: (?:clean|smudge) filter '?(.+?)'? failed$/m;

function refuseFilter({ filters, reasons, root }: FolderGuard, stderr: string): void {
  const name = FILTER_FAILED.exec(stderr)?.[1];
  if (name === undefined || !filters.includes(name)) return;
  const why = reasons?.get(name);
  if (why !== undefined)
    throw new UserMistake(
      'folder_not_trusted',
      `files of ${root} need the filter ${JSON.stringify(name)}, which does not run: ${why}`,
    );
  throw new UserMistake(
    'folder_not_trusted',
    `files of ${root} need the filter ${JSON.stringify(name)}, a program that this folder's git configuration names, and the folder is not trusted: look at ${JSON.stringify(`git config filter.${name}.smudge`)}, then run ramet trust there`,
  );
}

const TRANSPORT_REFUSED = /^fatal: transport '.*' not allowed$|lazy fetching disabled/m;

function refuseTransport({ environment, root }: FolderGuard, stderr: string): void {
  if (environment.GIT_ALLOW_PROTOCOL === undefined || !TRANSPORT_REFUSED.test(stderr)) return;
  throw new UserMistake(
    'folder_not_trusted',
    `git would have to fetch something for ${root}, and the folder is not trusted: its git configuration may name the program that does; look at git config --local --list, then run ramet trust there`,
  );
}
