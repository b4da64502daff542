/**
 * May this file be written? Asked for Write and Edit, and for everything a shell command would write. In
 * `acceptEdits` files of the working directory may be, except those that can run or widen rights.
 */
import { sep } from 'node:path';
import type { SessionMode } from '../schema/status.ts';
import { landingPath, placeInside } from './landing-path.ts';

/** What git, Ramet and like programs act upon: who writes here decides what runs later. */
const PROTECTED: ReadonlySet<string> = new Set([
  '.git',
  '.ramet',
  '.claude',
  '.mcp.json',
  '.husky',
  '.vscode',
]);

export type WriteStanding = { trusted: true } | { trusted: false; reason: string };

export function standingOfWrite(mode: SessionMode, path: string, cwd: string): WriteStanding {
  const inside = placeInside(path, cwd);
  if (inside === null) return { trusted: false, reason: 'it writes outside the working directory' };
  const guarded = inside.split(sep).find((name) => PROTECTED.has(name.toLowerCase()));
  if (guarded !== undefined)
    return { trusted: false, reason: `it writes in ${guarded}, which decides what runs` };
  return mode === 'acceptEdits' ? { trusted: true } : { trusted: false, reason: 'it changes a file' };
}

/** The rule that would allow this file and its neighbours: a directory inside, the file alone elsewhere. */
export function suggestWriteRule(path: string, cwd: string): string {
  const directory = placeInside(path, cwd)?.split(sep).slice(0, -1).join('/') ?? '';
  return directory === '' ? `Edit(/${landingPath(path) ?? path})` : `Edit(${directory}/**)`;
}
