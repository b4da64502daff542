/**
 * The specifier of a Read or Edit rule: a pattern as in .gitignore. `src/**` starts from the working directory,
 * `/src` from the directory the rule was written for, `//etc` from the root, `~/x` from home; a name without a slash
 * matches at any depth, and a directory stands for everything below it.
 *
 * Invariants
 * 1. What is allowed is matched where a write would land, symlinks resolved: a link inside does not lead out.
 * 2. What is denied is matched there and under the name that was asked for.
 */
import { join, resolve } from 'node:path';
import { parseGlob } from '../system/glob-pattern.ts';
import { landingPath, pathInside } from '../system/landing-path.ts';
import { holdsMatch } from './folder-match.ts';
import type { ParsedPart, RuleContext } from './rule-context.ts';

export interface PathQuestion {
  /** Absolute, as it was asked for. */
  path: string;
  cwd: string;
}

export interface PathPattern {
  /** For rules that give a right. */
  covers(question: PathQuestion): boolean;
  /** For rules that take one away. */
  touches(question: PathQuestion): boolean;
  /** The same by the name alone: no link is followed, and nothing on disk is asked. */
  names(question: PathQuestion): boolean;
  /** Whether this folder holds something that the pattern is about. */
  reachesInto(question: PathQuestion): boolean;
}

export function parsePathPattern(
  specifier: string,
  { base, home }: Pick<RuleContext, 'base' | 'home'>,
): ParsedPart<PathPattern> {
  if (specifier.startsWith('!')) {
    return {
      ok: false,
      reason: 'cannot be read: ! is not known here; write the opposite rule in another list',
    };
  }
  const { root, rest } = splitRoot(specifier, base, home);
  if (root === null)
    return { ok: false, reason: 'can never match: ~ is used and there is no home directory' };
  const globs = globsOf(rest).map(parseGlob);
  const broken = globs.find((glob) => !glob.ok);
  if (broken !== undefined && !broken.ok) return { ok: false, reason: `cannot be read: ${broken.reason}` };
  const below = (start: string, path: string): boolean => {
    const inside = pathInside(path, start);
    if (inside === null || inside === '') return false;
    return globs.some((glob) => glob.ok && glob.matches(inside));
  };
  const covers = ({ path, cwd }: PathQuestion): boolean => {
    const [start, place] = [landingPath(resolve(cwd, root)), landingPath(path)];
    return start !== null && place !== null && below(start, place);
  };
  const names = ({ path, cwd }: PathQuestion): boolean => below(resolve(cwd, root), path);
  return {
    ok: true,
    value: {
      covers,
      touches: (question) => covers(question) || names(question),
      names,
      reachesInto: ({ path, cwd }) =>
        [resolve(cwd, root), landingPath(resolve(cwd, root))].some(
          (start) => start !== null && holdsMatch(path, start, globs),
        ),
    },
  };
}

/** Where the pattern starts and what is left of it; a root of `.` is the agent's directory, known at the call. */
function splitRoot(
  specifier: string,
  base: string,
  home: string | null,
): { root: string | null; rest: string } {
  if (specifier.startsWith('//')) return { root: '/', rest: specifier.slice(1) };
  if (specifier === '~' || specifier.startsWith('~/')) return { root: home, rest: `/${specifier.slice(2)}` };
  if (specifier.startsWith('/')) return { root: base, rest: specifier };
  const [up = ''] = /^(?:\.\.?\/)*/.exec(specifier) ?? [];
  const rest = specifier.slice(up.length);
  return up === '' ? { root: '.', rest } : { root: join('.', up), rest: `/${rest}` };
}

/** The path itself and what lies below it. */
function globsOf(rest: string): string[] {
  const trimmed = rest.replace(/\/+$/, '');
  const anchored = trimmed.includes('/') || trimmed === '';
  const pattern = anchored ? trimmed.replace(/^\/+/, '') : `**/${trimmed}`;
  return pattern === '' ? ['**'] : [pattern, `${pattern}/**`];
}
