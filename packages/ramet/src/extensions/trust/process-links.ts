/**
 * Paths that mean something else in each process: `/proc/self/cwd` is the directory of who opens it. Looked at from here they
 * lead to other files than the command will find, so nothing that is seen there counts.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const OF_PROCESS =
  /(?:^|\/)(?:proc\/+(?:\.\/+)*(?:(?:thread-)?self|\d+|[^/]*[*?[][^/]*)|(?:thread-)?self\/+(?:cwd|root)|dev\/+fd)(?:\/|$)/;
/** They tell of the process, or are what it has open, and lead nowhere. */
const TELLS =
  /^\/(?:dev\/fd\/\d+|proc\/(?:(?:thread-)?self|\d+)\/(?:fd\/\d+|cgroup|cmdline|comm|environ|io|limits|maps|mountinfo|mounts|oom_\w+|smaps|stat|statm|status))$/;

/** A word of a command that only the running command can follow. */
export function isOfProcess(name: string): boolean {
  return OF_PROCESS.test(name) && !TELLS.test(name);
}

const MOST_LINKS = 40;

/** Whether a link on the way, or the last name itself, leads into such a path. */
export function linksToProcess(path: string): boolean {
  let place = '/';
  let names = path.split('/');
  let links = 0;
  while (names.length > 0) {
    const [name = '', ...rest] = names;
    names = rest;
    place = name === '..' ? dirname(place) : join(place, name);
    const target = targetOf(place);
    if (target === null) continue;
    if (OF_PROCESS.test(resolve(dirname(place), target)) || OF_PROCESS.test(target)) return true;
    if (++links > MOST_LINKS) return false;
    names = [...target.split('/'), ...names];
    place = target.startsWith('/') ? '/' : dirname(place);
  }
  return false;
}

function targetOf(path: string): string | null {
  try {
    // An error for each name on the way would cost more than all else.
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}
