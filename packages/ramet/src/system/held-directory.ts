/**
 * A directory that was checked, held open: names are then looked up in it and in no other, whatever a process puts in
 * the place of its path meanwhile (SEC-1). By `/proc/self/fd/N/name`; where there is no such thing, by the plain path.
 */
import { closeSync, constants, existsSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../schema/errors.ts';

export interface HeldDirectory extends Disposable {
  readonly path: string;
  /** The path of an entry, good while the directory is held. */
  at(name: string): string;
}

/** Only to be looked up in, so it need not be readable. Linux; Node does not list it. */
const O_PATH = 0o10000000;
const FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const DESCRIPTORS = '/proc/self/fd';

let descriptorsHavePaths: boolean | undefined;

/**
 * `path` is a real path. Null when something else than that directory is found there: a link took the place of it or
 * of one above. What is missing is made with `make`, each part in the held one above it.
 */
export function holdDirectory(path: string, { make }: { make: boolean }): HeldDirectory | null {
  descriptorsHavePaths ??= process.platform === 'linux' && existsSync(DESCRIPTORS);
  if (descriptorsHavePaths) return openHeld(path, path, make);
  if (make) mkdirSync(path, { recursive: true });
  return { path, at: (name) => join(path, name), [Symbol.dispose]() {} };
}

/** `reached` leads to `path`, by itself or through the directory above it. */
function openHeld(path: string, reached: string, make: boolean): HeldDirectory | null {
  let descriptor: number;
  try {
    descriptor = openSync(reached, FLAGS);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOTDIR' || code === 'ELOOP') return null;
    if (code === 'ENOENT' && make && path !== dirname(path) && path === reached) return makeHeld(path);
    throw error;
  }
  const anchor = join(DESCRIPTORS, String(descriptor));
  if (readlinkSync(anchor) !== path) {
    closeSync(descriptor);
    return null;
  }
  return { path, at: (name) => join(anchor, name), [Symbol.dispose]: () => closeSync(descriptor) };
}

function makeHeld(path: string): HeldDirectory | null {
  using above = holdDirectory(dirname(path), { make: true });
  if (above === null) return null;
  const place = above.at(basename(path));
  try {
    mkdirSync(place);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  return openHeld(path, place, false);
}
