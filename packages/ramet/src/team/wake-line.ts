/**
 * Tells processes of one machine that a team's record has changed. It is only a hint: who gets it looks at the record. A
 * hint that is lost does no harm, since every process that listens also looks by itself, every 30 seconds: one timer
 * for all its members.
 */
import { closeSync, type FSWatcher, openSync, utimesSync, watch } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../schema/errors.ts';
import { PRIVATE_FILE } from '../system/home.ts';

/** The record of the teams of a repository. */
export function teamFile(project: string): string {
  return join(project, 'teams.sqlite');
}

const LOOK_EVERY_MS = 30_000;

function wakeFile(project: string): string {
  return join(project, 'teams.wake');
}

/** Wakes every process that listens in this repository, this one included. */
export function hintChange(project: string): void {
  try {
    touch(wakeFile(project));
  } catch {
    // Those who listen look by themselves.
  }
}

/**
 * Calls `look` after every hint, many hints at once as one, and every 30 seconds, then with false: a hint may
 * have been lost. It keeps no process alive.
 */
export function listenForChanges(
  project: string,
  look: (isHint: boolean) => void,
  everyMs: number = LOOK_EVERY_MS,
): Disposable {
  let isDue = false;
  const hinted = (): void => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      if (!isOver) look(true);
    });
  };
  let isOver = false;
  const watcher = watcherOf(wakeFile(project), hinted);
  const timer = setInterval(() => look(false), everyMs);
  timer.unref();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      clearInterval(timer);
      watcher?.close();
    },
  };
}

/** Null where the system gives no more of them: the timer is left. */
function watcherOf(file: string, soon: () => void): FSWatcher | null {
  try {
    touch(file);
    const watcher = watch(file, { persistent: false }, soon);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

function touch(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    closeSync(openSync(file, 'a', PRIVATE_FILE));
  }
}
