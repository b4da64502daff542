/** Which of the changed paths a command may take, and the lines about the others. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathInside } from '../../system/landing-path.ts';
import type { Claims } from './claims.ts';
import type { GitView } from './git-view.ts';

export interface TakenPaths {
  /** Counted from the root. */
  taken: string[];
  /** Left out, each with its reason. */
  left: string[];
  /** Named outright and not the agent's to take: a reason to do nothing at all. */
  refused: string[];
}

export interface PathChoice {
  view: GitView;
  claims: Claims;
  /** The directory that pathspecs are relative to. */
  directory: string;
}

/**
 * A path that is named is taken unless a living agent has changed it; of a directory, a pattern or everything only what
 * is known to be the agent's own, and not what a person has put into the index: that would be overwritten there.
 */
export function takePaths(
  { view, claims, directory }: PathChoice,
  dirty: readonly string[],
  pathspecs: readonly string[],
): TakenPaths {
  const named = new Set(pathspecs.map((spec) => resolve(directory, spec)));
  const result: TakenPaths = { taken: [], left: [], refused: [] };
  const foreign = [...view.staged()].filter(
    ([path, entry]) => !claims.isStagedByAgents(view.absolute(path), entry),
  );
  const staged = new Set(foreign.map(([path]) => path));
  for (const path of dirty) {
    const absolute = view.absolute(path);
    const standing = claims.standing(absolute);
    if (staged.has(path) && !named.has(absolute))
      result.left.push(`${path} (staged by someone else; name it to take it)`);
    else if (standing.kind === 'own' || standing.kind === 'heir') result.taken.push(path);
    else if (standing.kind === 'others') {
      const line = `${path} (changed by agent ${standing.agents.join(', ')})`;
      (named.has(absolute) ? result.refused : result.left).push(line);
    } else if (named.has(absolute)) result.taken.push(path);
    else result.left.push(`${path} (not known to be yours; name it to take it)`);
  }
  return result;
}

/** Puts paths, counted from the root, into the index as the agent's; git's complaint when that fails. */
export function stagePaths(
  { view, claims }: PathChoice,
  paths: readonly string[],
  options: readonly string[] = [],
): string | null {
  return claims.stage(
    paths.map((path) => view.absolute(path)),
    {
      add: (chosen) =>
        view.onPaths(
          ['add', '-A', ...options],
          chosen.map((path) => view.relative(path)),
        ),
      entries: () => absoluteEntries(view),
    },
  );
}

export function absoluteEntries(view: GitView): Map<string, string> {
  return new Map(Array.from(view.staged(), ([path, entry]) => [view.absolute(path), entry]));
}

const MOST_TOLD = 10;

export function leftOut(left: readonly string[]): string | null {
  if (left.length === 0) return null;
  const rest = left.length - MOST_TOLD;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `ramet: left out, since other agents work in this checkout: ${left.slice(0, MOST_TOLD).join(', ')}${more}`;
}

/** Where pathspecs start: the directory that `-C` options lead to. */
export function directoryOf(globals: readonly string[], cwd: string): string {
  let directory = cwd;
  globals.forEach((word, index) => {
    if (word === '-C') directory = resolve(directory, globals[index + 1] ?? '.');
  });
  return directory;
}

/** Ignored files are in no list of changes; who names one and forces it means it. */
export function forcedPaths(pathspecs: readonly string[], directory: string, root: string): string[] {
  return pathspecs
    .map((spec) => pathInside(resolve(directory, spec), root))
    .filter((path) => path !== null)
    .filter((path) => path !== '' && existsSync(join(root, path)));
}
