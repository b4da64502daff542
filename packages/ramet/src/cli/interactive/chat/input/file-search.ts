/**
 * The files that answer what is typed behind an `@`, the best first. The list is read once in the background; each letter
 * more looks only through what answered before. It knows no screen: `changed` is called when there is more to show.
 */
import type { SessionOptions } from '../../../../sdk/options.ts';
import type { CommandIo } from '../../../io.ts';
import { fuzzyMatcher } from '../../editor/fuzzy-match.ts';
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

/** The files of the project and the resources that servers are known to have, listed with the first `@`. */
export function filesHere(
  { cwd, env }: CommandIo,
  options: () => SessionOptions,
  changed: () => void,
): MenuSources {
  const files = new FileSearch({
    list: async () => {
      const [{ projectFiles }, { knownOffers }] = await Promise.all([
        import('../../../../sdk/calls/project-files.ts'),
        import('../../../../sdk/mcp/known-offers.ts'),
      ]);
      const offers = knownOffers({ ...options(), cwd, env }).catch(() => null);
      return [...(await projectFiles({ cwd, env })), ...((await offers)?.resources ?? [])];
    },
    changed,
  });
  return { files: (search) => files.find(search) };
}

interface ListedFile {
  readonly path: string;
  /** In small letters. */
  readonly lower: string;
  readonly depth: number;
}

interface ScoredFile {
  readonly file: ListedFile;
  readonly score: number;
}

export class FileSearch {
  readonly #parts: FileSearchParts;
  #files: readonly ListedFile[] = [];
  #reading = false;
  #readAt = Number.NEGATIVE_INFINITY;
  /** All that answered the last search: those that answer a longer one are among them. */
  #last: { readonly search: string; readonly files: readonly ListedFile[] } | null = null;
  #shown: { readonly search: string; readonly paths: readonly string[] } | null = null;

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
    const before = this.#last;
    const among = before !== null && search.startsWith(before.search) ? before.files : this.#files;
    const scoreOf = search === '' ? () => 0 : fuzzyMatcher(search);
    const answering: ListedFile[] = [];
    const best: ScoredFile[] = [];
    for (const file of among) {
      const score = scoreOf(file.lower);
      if (score === null) continue;
      answering.push(file);
      insert(best, { file, score });
    }
    this.#last = { search, files: answering };
    return best.map(({ file }) => file.path);
  }

  #readAgain(): void {
    const now = this.#parts.now?.() ?? performance.now();
    if (this.#reading || now - this.#readAt < OLD_MS) return;
    this.#reading = true;
    this.#readAt = now;
    void this.#parts
      .list()
      .then((paths) => {
        this.#files = paths.map((path) => ({
          path,
          lower: path.toLowerCase(),
          depth: path.split('/').length,
        }));
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

/** Keeps the best few in order. Most are worse than the last of them, and cost one comparison. */
function insert(best: ScoredFile[], found: ScoredFile): void {
  const last = best.at(-1);
  if (best.length === MOST_SHOWN && last !== undefined && !isBetter(found, last)) return;
  let at = best.length;
  while (at > 0 && isBetter(found, best[at - 1] ?? found)) at--;
  best.splice(at, 0, found);
  if (best.length > MOST_SHOWN) best.pop();
}

/** Those near the top first, then by name. */
function isBetter(one: ScoredFile, other: ScoredFile): boolean {
  if (one.score !== other.score) return one.score > other.score;
  if (one.file.depth !== other.file.depth) return one.file.depth < other.file.depth;
  return one.file.path < other.file.path;
}
