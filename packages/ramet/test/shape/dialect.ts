/**
 * Phrases that this repository once used and that plain English does not, each with what to write instead. The allow
 * file holds how many of each are left in a folder. It only shrinks: `npm run fix` lowers its numbers and raises none.
 */
import { filesMatching, readText, typescriptFiles } from './repository.ts';

interface Phrase {
  /** Its name in the allow file and in messages. */
  readonly phrase: string;
  /** Its forms, where they differ from the phrase. A space also matches the end of a line of a comment. */
  readonly forms?: string;
  readonly write: string;
}

/** A folder, then a phrase, then how often the phrase is in the folder. */
export type DialectCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface Occurrence {
  readonly path: string;
  readonly line: number;
  readonly phrase: string;
  readonly write: string;
}

export const ALLOW_FILE = 'packages/ramet/test/shape/dialect-allowed.json';

/** These files have the phrases as data. */
const OWN_FILES = /\/shape\/dialect[^/]*$/;

const PHRASES: readonly Phrase[] = [
  { phrase: 'go on with', forms: '(?:go|goes|going|gone|went) on with', write: 'resume, continue' },
  { phrase: 'take up', forms: '(?:take|takes|taking|taken|took) up', write: 'resume' },
  { phrase: 'revive', forms: 'reviv(?:e|es|ed|ing)', write: 'resume' },
  {
    phrase: 'is told of',
    forms: '(?:is|are|be|was|were) (?:not )?told of',
    write: 'is notified of, learns of',
  },
  { phrase: 'has come for', write: 'has arrived for, waits for' },
  { phrase: 'to be had', write: 'available' },
  { phrase: 'of his own', write: 'its own, custom, or name the owner' },
  { phrase: 'whoever', write: 'the caller, the user, anyone who' },
  { phrase: 'somebody', write: 'the user, another process, someone' },
  { phrase: 'of which nobody', write: 'that no one' },
  { phrase: 'by whom', write: 'who, in the active voice' },
  { phrase: 'as it is there', write: 'as it is' },
  { phrase: 'holds work', forms: '(?:hold|holds|holding|held) work', write: 'has changes' },
  { phrase: 'is looked at', forms: '(?:is|are|be|was|were) looked at', write: 'is checked, is read' },
  { phrase: 'there is none', write: 'none exists, or "if any"' },
  { phrase: 'whose type does not say', write: 'whose type sets none' },
  { phrase: 'says of', forms: '(?:say|says|said) of', write: 'says about' },
  { phrase: 'became of', forms: '(?:become|becomes|became) of', write: 'happens to, the outcome of' },
  { phrase: 'stands in', forms: '(?:stand|stands|stood) in', write: 'is in' },
  { phrase: 'so many', write: 'this many, or the number' },
  { phrase: 'take away', forms: '(?:take|takes|taking|taken|took) away', write: 'remove' },
  { phrase: 'let go of', forms: '(?:let|lets|letting) go of', write: 'release' },
  { phrase: 'all the same', write: 'anyway, still' },
  { phrase: 'in vain', write: 'without success' },
  { phrase: 'anew', write: 'again' },
];

const PATTERNS = PHRASES.map(({ phrase, forms, write }) => {
  const words = (forms ?? phrase).replaceAll(' ', '(?:\\s|\\n\\s*(?:\\*|//)\\s)+');
  return { phrase, write, pattern: new RegExp(`\\b${words}\\b`, 'gi') };
});

export function dialectIn(path: string, text: string): Occurrence[] {
  return PATTERNS.flatMap(({ phrase, write, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => ({
      ...{ path, phrase, write },
      line: text.slice(0, index).split('\n').length,
    })),
  );
}

/** The sources, the tests and the documents. The changelog tells of the past and keeps its words. */
export function dialectOfRepository(): Occurrence[] {
  const documents = filesMatching(['*.md', 'docs/**/*.md', 'packages/**/*.md', 'examples/**/*.md']);
  return [...typescriptFiles(), ...documents]
    .filter((path) => path !== 'CHANGELOG.md' && !OWN_FILES.test(path))
    .flatMap((path) => dialectIn(path, readText(path)));
}

/** `packages/ramet/src/engine/loop/loop.ts` is in `packages/ramet/src/engine`, its test in the folder's `(tests)`. */
export function folderOf(path: string): string {
  const [first = '', ...rest] = path.split('/');
  if (rest.length === 0) return path;
  if (first !== 'packages') return first;
  const folder = path.split('/').slice(0, -1).slice(0, 4).join('/');
  return path.endsWith('.test.ts') && !folder.includes('/test') ? `${folder} (tests)` : folder;
}

export function countDialect(found: readonly Occurrence[]): DialectCounts {
  const counts: Record<string, Record<string, number>> = {};
  for (const { path, phrase } of found) {
    const folder = counts[folderOf(path)] ?? {};
    folder[phrase] = (folder[phrase] ?? 0) + 1;
    counts[folderOf(path)] = folder;
  }
  return counts;
}

/** What stands in a folder more often than the folder may have it, place by place. */
export function dialectAbove(allowed: DialectCounts, found: readonly Occurrence[]): string[] {
  const counts = countDialect(found);
  return found.flatMap(({ path, line, phrase, write }) => {
    const folder = folderOf(path);
    const most = allowed[folder]?.[phrase] ?? 0;
    const count = counts[folder]?.[phrase] ?? 0;
    if (count <= most) return [];
    return [`${path}:${line}: "${phrase}": write ${write} (${folder} has ${count}, may have ${most})`];
  });
}

/** The allowed counts, lowered to what is there. */
export function lowered(allowed: DialectCounts, counts: DialectCounts): DialectCounts {
  const folders = Object.entries(allowed).flatMap(([folder, phrases]) => {
    const left = Object.entries(phrases)
      .map(([phrase, most]) => [phrase, Math.min(most, counts[folder]?.[phrase] ?? 0)] as const)
      .filter(([, most]) => most > 0);
    return left.length === 0 ? [] : [[folder, Object.fromEntries(left)] as const];
  });
  return Object.fromEntries(folders);
}

export function readAllowed(): DialectCounts {
  return JSON.parse(readText(ALLOW_FILE));
}
