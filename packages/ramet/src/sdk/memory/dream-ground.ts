/** What dreams of a session and by hand share: the repository that disproves, the tools that only look, and the terms. */
import { readFileSync, statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import type { DreamTerms } from '../../memory/dream/dream-record.ts';
import { DEFAULT_DREAM_TERMS } from '../../memory/dream/dream-record.ts';
import type { DreamRepository } from '../../memory/dream/judge-drops.ts';
import type { Settings } from '../../settings/settings.ts';
import { isInside, landingPath } from '../../system/landing-path.ts';
import type { Tool } from '../../tools/tool.ts';

const LARGEST_FILE = 1 << 20;

/** No path leads out of it. */
export function dreamRepository(root: string): DreamRepository {
  const real = landingPath(root) ?? root;
  const placeOf = (path: string): string | null => {
    const place = landingPath(resolve(real, path));
    return place !== null && isInside(place, real) ? place : null;
  };
  return {
    has(path) {
      const place = placeOf(path);
      return place !== null && statSync(place, { throwIfNoEntry: false }) !== undefined;
    },
    contains(path, text) {
      const place = placeOf(path);
      // What git keeps for itself is no file of the repository.
      if (place !== null && relative(real, place).split(sep).includes('.git')) return false;
      const stats = place === null ? undefined : statSync(place, { throwIfNoEntry: false });
      if (place === null || stats?.isFile() !== true || stats.size > LARGEST_FILE) return false;
      return readFileSync(place, 'utf8').includes(text);
    },
  };
}

export function dreamTerms({ memory }: Settings): DreamTerms {
  const { hours, sessions } = memory?.dream ?? {};
  return { hours: hours ?? DEFAULT_DREAM_TERMS.hours, sessions: sessions ?? DEFAULT_DREAM_TERMS.sessions };
}

/** Whether a tool only looks into files, by its own description. */
export function looksIntoFiles({ effect, pathFields, ofSession }: Tool): boolean {
  return effect === 'read' && ofSession !== true && typeof pathFields === 'object';
}
