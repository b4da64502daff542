/**
 * The folder that a person wants to share with a team. All of its text files are published and the keys of the team are written
 * into it, so a folder that has more than notes is refused, or wants to be confirmed: it is seldom meant, and cannot be taken back.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { rametHome } from '../../system/home.ts';
import { brokenWay, isInside, landingPath, pathInside } from '../../system/landing-path.ts';

interface SharedFolderOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The person has confirmed it. */
  anyFolder?: boolean | undefined;
}

export function sharedFolder(given: string, { cwd, env, anyFolder = false }: SharedFolderOptions): string {
  if (given.trim() === '')
    throw new UserMistake(
      'no_folder',
      'the folder is empty: leave it out for the team memory of this repository, or write . for the current folder',
    );
  const folder = resolve(cwd, given);
  // Who reads it says what is wrong with it.
  if (brokenWay(folder, false) !== null) return folder;
  const place = landingPath(folder) ?? folder;
  const never = neverShared(place, env);
  if (never !== null) throw new UserMistake('wide_folder', `${folder} ${never}: name a folder of notes`);
  const problem = anyFolder ? null : seldomShared(place, rametHome(env));
  if (problem === null) return folder;
  throw new UserMistake(
    'wide_folder',
    `${folder} ${problem}: name a folder of notes, or give --any-folder if you mean it`,
  );
}

function neverShared(place: string, env: SharedFolderOptions['env']): string | null {
  const own = landingPath(rametHome(env)) ?? rametHome(env);
  const home = landingPath(env.HOME || homedir()) ?? own;
  if (place === home) return 'is your home folder';
  if (isInside(home, place)) return 'has your home folder in it';
  if (place.split(sep).includes('.git')) return 'belongs to git';
  if (isInside(own, place)) return 'has all that Ramet keeps in it, such as sessions';
  const below = pathInside(place, own);
  return below === null || below.split(sep).includes('memory') ? null : 'is one of Ramet itself';
}

function seldomShared(place: string, home: string): string | null {
  if (existsSync(join(place, '.git'))) return 'is the root of a repository, and all of it would be published';
  if (namesIn(place).some((name) => existsSync(join(place, name, '.git'))))
    return 'has a repository in it, and all of that would be published';
  if (dirname(dirname(place)) === dirname(place)) return 'is a folder of the whole machine';
  const isOurs = isInside(place, landingPath(home) ?? home);
  return basename(place).startsWith('.') && !isOurs
    ? 'has a name that begins with a point, as no notes have'
    : null;
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return []; // it is not there yet, or no folder
  }
}
