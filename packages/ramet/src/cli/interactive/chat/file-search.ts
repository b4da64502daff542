/**
 * The files that answer what is typed behind an `@`, the best first. The list is read once in the background; each letter
 * more looks only through what answered before. It knows no screen: `changed` is called when there is more to show.
 */
import type { CommandIo } from '../../io.ts';
import { fuzzyScore } from '../editor/fuzzy-match.ts';
import type { MenuSources } from './menus.ts';

const MOST_SHOWN = 50;
/** What is older is read again with the next `@`. */
const OLD_MS = 10_000;

export interface FileSearchParts {
  list(): Promise<readonly string[]>;
  changed(): void;
  /** In milliseconds; only differences mean something. */
  now?(): number;
}

/** The files of the project, listed with the first `@`. */
export function filesHere({ cwd, env }: CommandIo, changed: () => void): MenuSources {
  const files = new FileSearch({
    list: async () => (await import('../../../sdk/calls/project-files.ts')).projectFiles({ cwd, env }),
    changed,
  });
  return { files: (search) => files.find(search) };
}

interface Found {
  readonly search: string;
  readonly paths: readonly string[];
}

export class FileSearch {
  readonly #parts: FileSearchParts;
  #paths: readonly string[] = [];
  #reading = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #last: Found | null = null;
  #shown: Found | null = null;

  constructor(parts: FileSearchParts) {
    this.#parts = parts;
  }

  find(search: string): readonly string[] {
    if (this.#shown?.search === search) return this.#shown.paths;
    if (search === '' || this.#readAt === Number.NEGATIVE_INFINITY) this.#readAgain();
    const paths = this.#matching(search.replace(/^"/, ''));
    this.#shown = { search, paths };
    return paths;
  }

  #matching(search: string): readonly string[] {
    if (search === '') return this.#paths.toSorted(byDepth).slice(0, MOST_SHOWN);
    const before = this.#last;
    const among = before !== null && search.startsWith(before.search) ? before.paths : this.#paths;
    const scored: { path: string; score: number }[] = [];
    for (const path of among) {
      const score = fuzzyScore(path, search);
      if (score !== null) scored.push({ path, score });
    }
    this.#last = { search, paths: scored.map(({ path }) => path) };
    return scored
      .sort((a, b) => b.score - a.score || byDepth(a.path, b.path))
      .slice(0, MOST_SHOWN)
      .map(({ path }) => path);
  }

  #readAgain(): void {
    const now = this.#parts.now?.() ?? performance.now();
    if (this.#reading || now - this.#readAt < OLD_MS) return;
    this.#reading = true;
    this.#readAt = now;
    void this.#parts
      .list()
      .then((paths) => {
        this.#paths = paths;
        this.#last = null;
        this.#shown = null;
        this.#parts.changed();
      })
      .catch(() => {})
      .finally(() => {
        this.#reading = false;
      });
  }
}

/** Those near the top first. */
function byDepth(a: string, b: string): number {
  return depthOf(a) - depthOf(b) || (a < b ? -1 : 1);
}

function depthOf(path: string): number {
  let depth = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++;
  return depth;
}
