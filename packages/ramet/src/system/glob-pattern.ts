import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Never looked into, nor found: they hold thousands of files, and none that is the project's own. */
const PASSED_OVER = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/;

/**
 * Glob patterns over relative paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `\` and `**` as a whole segment. Hidden names
 * match like others. Not left to ripgrep, whose `--glob` overrides .gitignore instead of narrowing what it leaves.
 * Both matchers below remember one place to return to, so time stays the product of the lengths.
 */
export type GlobPattern =
  | {
      ok: true;
      matches(path: string): boolean;
      /** Whether something below this folder may match. */
      leadsInto(folder: string): boolean;
    }
  | { ok: false; reason: string };

type Token = { kind: 'one'; accepts(character: string): boolean } | { kind: 'any' };
type Segment = Token[] | 'deep';

const ALTERNATIVES_LIMIT = 256;

export function parseGlob(pattern: string): GlobPattern {
  try {
    const alternatives = expandBraces(pattern).map(parseSegments);
    return {
      ok: true,
      matches: (path) => alternatives.some((segments) => matchSegments(segments, path.split('/'))),
      leadsInto: (folder) => alternatives.some((segments) => mayMatchBelow(segments, folder.split('/'))),
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, reason: `Bad glob "${pattern}": ${error.message}.` };
  }
}

/** The pattern that matches this path and no other. A mark before a pattern, as `!` and `~` are in rules, is text in it. */
export function literalGlob(path: string): string {
  return path.replace(/[*?[\]{}\\]|^[!~\s]/g, '\\$&');
}

/** Splits off the leading segments that hold no pattern: where to start looking. */
export function splitGlobBase(pattern: string): { base: string; rest: string } {
  const segments = pattern.split('/');
  const firstMagic = segments.findIndex((segment) => /[*?[{\\]/.test(segment));
  const count = firstMagic === -1 ? segments.length - 1 : firstMagic;
  const rest = segments.slice(count).join('/');
  const base = segments.slice(0, count).join('/');
  return { base: base === '' && count > 0 ? '/' : base, rest: rest === '' ? '**' : rest };
}

function expandBraces(pattern: string): string[] {
  const open = findUnescaped(pattern, '{');
  if (open === -1) {
    if (findUnescaped(pattern, '}') !== -1) throw new SyntaxError('a "}" without "{"');
    return [pattern];
  }
  const { parts, end } = splitBraces(pattern, open);
  const expanded = parts.flatMap((part) =>
    expandBraces(pattern.slice(0, open) + part + pattern.slice(end + 1)),
  );
  if (expanded.length > ALTERNATIVES_LIMIT) throw new SyntaxError('too many alternatives');
  return expanded;
}

function findUnescaped(text: string, character: string): number {
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === character) return index;
  }
  return -1;
}

function splitBraces(pattern: string, open: number): { parts: string[]; end: number } {
  const parts: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let index = open; index < pattern.length; index++) {
    const character = pattern[index];
    if (character === '\\') index++;
    else if (character === '{') depth++;
    else if (character === '}') depth--;
    if (depth === 0 || (depth === 1 && character === ',')) {
      parts.push(pattern.slice(start, index));
      start = index + 1;
    }
    if (depth === 0) return { parts, end: index };
  }
  throw new SyntaxError('a "{" without "}"');
}

/** `a/**` means what lies below a, so it gets a last segment that must be there. */
function parseSegments(pattern: string): Segment[] {
  const segments = pattern
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .map((segment): Segment => (segment === '**' ? 'deep' : parseTokens(segment)));
  return segments.at(-1) === 'deep' ? [...segments, [{ kind: 'any' }]] : segments;
}

function parseTokens(segment: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < segment.length; index++) {
    const character = segment[index] ?? '';
    if (character === '*') tokens.push({ kind: 'any' });
    else if (character === '?') tokens.push({ kind: 'one', accepts: () => true });
    else if (character === '[') {
      // The first character of a class may be "]" itself.
      const end = segment.indexOf(']', index + (/^\[[!^]/.test(segment.slice(index)) ? 3 : 2));
      if (end === -1) throw new SyntaxError('a "[" without "]"');
      tokens.push({ kind: 'one', accepts: parseClass(segment.slice(index + 1, end)) });
      index = end;
    } else {
      const literal = character === '\\' ? (segment[++index] ?? '\\') : character;
      tokens.push({ kind: 'one', accepts: (other) => other === literal });
    }
  }
  return tokens;
}

function parseClass(body: string): (character: string) => boolean {
  const negated = /^[!^]/.test(body);
  const ranges = [...(negated ? body.slice(1) : body).matchAll(/(.)-(.)|(.)/gs)].map(
    ([, from, to, single]) => [from ?? single ?? '', to ?? single ?? ''] as const,
  );
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== negated;
}

function matchSegments(segments: readonly Segment[], names: readonly string[]): boolean {
  return matchWildcards(
    segments,
    names,
    (segment) => segment === 'deep',
    (segment, name) => segment !== 'deep' && matchName(segment, name),
  );
}

function mayMatchBelow(segments: readonly Segment[], names: readonly string[]): boolean {
  for (const [index, name] of names.entries()) {
    const segment = segments[index];
    if (segment === 'deep') return true;
    if (segment === undefined || !matchName(segment, name)) return false;
  }
  return segments.length > names.length;
}

function matchName(tokens: readonly Token[], name: string): boolean {
  return matchWildcards(
    tokens,
    name,
    (token) => token.kind === 'any',
    (token, character) => token.kind === 'one' && token.accepts(character),
  );
}

/** Greedy: on a mismatch only the last wildcard takes one more; an earlier one could gain nothing by it. */
function matchWildcards<Part>(
  pattern: readonly Part[],
  subject: ArrayLike<string>,
  isWildcard: (part: Part) => boolean,
  fits: (part: Part, item: string) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let wildcard = -1;
  let taken = 0;
  while (item < subject.length) {
    const current = pattern[part];
    if (current !== undefined && isWildcard(current)) {
      wildcard = part++;
      taken = item;
    } else if (current !== undefined && fits(current, subject[item] ?? '')) {
      part++;
      item++;
    } else if (wildcard !== -1) {
      part = wildcard + 1;
      item = ++taken;
    } else return false;
  }
  return pattern.slice(part).every(isWildcard);
}

/** Files and folders of a directory that a pattern of `glob-pattern.ts` matches, on disk. */
type ParsedGlob = Extract<GlobPattern, { ok: true }>;

/**
 * Relative to `root`, sorted. Only folders that may hold a match are read; links to folders are found and not followed,
 * but for those that the pattern names before its first wildcard. What cannot be read holds nothing.
 */
export function globPaths(root: string, pattern: string, glob: ParsedGlob): string[] {
  const found: string[] = [];
  const look = (folder: string): void => {
    for (const entry of entriesOf(join(root, folder))) {
      const path = join(folder, entry.name);
      if (PASSED_OVER.test(path)) continue;
      if (glob.matches(path)) found.push(path);
      if (entry.isDirectory() && glob.leadsInto(path)) look(path);
    }
  };
  if (/[*?[{\\]/.test(pattern)) look(splitGlobBase(pattern).base);
  else if (!PASSED_OVER.test(pattern) && exists(join(root, pattern))) found.push(join(pattern));
  return found.sort();
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a file stands where a folder should
  }
}
