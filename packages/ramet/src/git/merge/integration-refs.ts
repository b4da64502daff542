/** The private refs of the queue. Nothing of them is fetched, pushed or shown by git's everyday commands. */
import { createHash } from 'node:crypto';

/** What is ready to be taken into the target: merged, and checked where a check was asked for. */
export function integrationRef(target: string): string {
  return `refs/ramet/integration/${shortName(target)}`;
}

/** What is being checked: held, so that no clean-up of the repository removes it meanwhile. */
export function checkingRef(target: string): string {
  return `refs/ramet/checking/${shortName(target)}`;
}

/** What a ref held that nobody can account for any more: set aside, never dropped. */
export function keptRef(target: string, commit: string): string {
  return `refs/ramet/kept/${shortName(target)}/${commit.slice(0, 12)}`;
}

/** The commit of an entry that no branch holds. */
export function queuedRef(tip: string): string {
  return `refs/ramet/queued/${tip}`;
}

/** The full name of a target: a local branch by its short name, or a private ref by its own. */
export function targetRef(target: string): string {
  return target.startsWith('refs/') ? target : `refs/heads/${target}`;
}

export function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** A file name for a target. */
export function targetKey(target: string): string {
  return createHash('sha256').update(target).digest('hex').slice(0, 12);
}
