/**
 * Ramet's own programs stay its own. Who starts it from its checkout has `node_modules/.bin` of that first on the PATH (npx
 * does it), and an agent's `tsc`, `node` or `vitest` in another repository would be Ramet's. So
 * that folder, and what npm says of the checkout, does not reach programs of agents, unless they work in it. A project that
 * depends on Ramet keeps its own `node_modules/.bin`.
 */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInside } from './path-inside.ts';

export interface OwnPlaces {
  /** Folders of programs that came with Ramet. */
  readonly bins: readonly string[];
  /** The checkout, or what npx made for it. */
  readonly root: string;
}

/** `workplace` is where the agents work. */
export function withoutOwnPrograms(
  env: Record<string, string>,
  workplace: string,
  own: OwnPlaces | null = ownPlaces(),
): Record<string, string> {
  if (own === null || isInside(realOf(workplace), own.root)) return env;
  const kept = Object.entries(env).filter(
    ([name, value]) => !/^npm_config_/i.test(name) || !isInside(value, own.root),
  );
  const path = env.PATH?.split(delimiter).filter((folder) => !isOwn(folder, own));
  return { ...Object.fromEntries(kept), ...(path !== undefined && { PATH: path.join(delimiter) }) };
}

/** Of the package in `folder`: null where it is a dependency of somebody's, or installed for everybody. */
export function placesOf(folder: string): OwnPlaces | null {
  const modules = folder.lastIndexOf(`${sep}node_modules${sep}`);
  if (modules === -1) {
    const root = dirname(dirname(folder));
    return { root, bins: [folder, root].map((place) => join(place, 'node_modules/.bin')) };
  }
  const root = folder.slice(0, modules);
  return root.includes(`${sep}_npx${sep}`) ? { root, bins: [join(root, 'node_modules/.bin')] } : null;
}

let known: OwnPlaces | null | undefined;

function ownPlaces(): OwnPlaces | null {
  known ??= findOwn(dirname(fileURLToPath(import.meta.url)));
  return known;
}

function findOwn(start: string): OwnPlaces | null {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'bin/ramet.js'))) return placesOf(folder);
  }
  return null;
}

function isOwn(folder: string, { bins }: OwnPlaces): boolean {
  if (!/[/\\]node_modules[/\\]\.bin[/\\]?$/.test(folder)) return false;
  return bins.includes(resolve(folder)) || bins.includes(realOf(folder));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
