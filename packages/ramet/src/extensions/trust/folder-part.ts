/**
 * One thing of a repository that can run: hooks, servers, commands, an agent file. What it is, and the files of the
 * repository that its commands name, make its digest (SEC-1). What those files load in turn is not followed, nor are
 * names that only a shell could work out: they are listed.
 */
import { readFileSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { digestOf } from '../../system/digest.ts';
import { pathInside, realPath } from '../../system/landing-path.ts';
import type { TrustedPart } from '../../system/trust.ts';

export type PartKind = 'hooks' | 'mcp' | 'setup' | 'status line' | 'agent' | 'plugin' | 'rights';

export interface FolderPart {
  readonly kind: PartKind;
  /** The file it is set up in. */
  readonly source: string;
  /** What that file says: a value of its JSON, or the text of the file. */
  readonly value: unknown;
}

export interface DescribedPart extends TrustedPart {
  readonly key: string;
  /** Commands and names that are not followed. */
  readonly unfollowed: readonly string[];
}

const LARGEST_FILE = 16 << 20;
const LONGEST_TEXT = 32 << 10;
const MOST_FILES = 200;

/** Programs that run what a file of the repository says. */
const FILES_OF_PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  npm: ['package.json'],
  npx: ['package.json'],
  pnpm: ['package.json'],
  yarn: ['package.json'],
  bun: ['package.json'],
  make: ['Makefile', 'makefile', 'GNUmakefile'],
  just: ['justfile', 'Justfile'],
  cargo: ['Cargo.toml'],
};

export function partKey({ kind, source }: Pick<FolderPart, 'kind' | 'source'>, root: string): string {
  return `${kind} ${relative(root, source)}`;
}

export function describePart(part: FolderPart, root: string): DescribedPart {
  const { value } = part;
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  const files: TrustedPart['files'] = {};
  const unfollowed: string[] = [];
  for (const command of commandsOf(part)) {
    const followed = filesNamed(command, root);
    for (const path of followed.files.slice(0, MOST_FILES)) {
      const read = readBounded(resolve(root, path));
      if (read === null) unfollowed.push(path);
      else files[path] = read;
    }
    if (followed.isUnclear) unfollowed.push(command);
  }
  const digests = Object.entries(files).map(([path, { digest }]) => [path, digest]);
  const digest = digestOf(JSON.stringify([text, digests.sort()]));
  return { key: partKey(part, root), digest, text: text.slice(0, LONGEST_TEXT), files, unfollowed };
}

/** Every text of the part: which of them is a command is for its reader to know. */
function commandsOf({ kind, value }: FolderPart): string[] {
  if (kind === 'rights') return [];
  if (typeof value === 'string') return [kind === 'agent' ? frontMatter(value) : value];
  const texts: string[] = [];
  const walk = (inner: unknown): void => {
    if (typeof inner === 'string') texts.push(inner);
    else if (typeof inner === 'object' && inner !== null) Object.values(inner).forEach(walk);
  };
  walk(value);
  return texts;
}

/** Only there a definition says what runs; most have neither. */
function frontMatter(text: string): string {
  const front = /^\s*---\r?\n([\s\S]*?)\n---/.exec(text)?.[1] ?? text;
  return /^(?:hooks|mcpServers):[\s\S]*/m.exec(front)?.[0] ?? '';
}

function filesNamed(command: string, root: string): { files: string[]; isUnclear: boolean } {
  const placed = command.replace(/"?\$(?:\{CLAUDE_PROJECT_DIR\}|CLAUDE_PROJECT_DIR\b)"?/g, root);
  const words = placed.split(/[\s;|&()<>"'`=,]+/).filter((word) => word !== '');
  const programs = words.flatMap((word) => FILES_OF_PROGRAMS[word] ?? []);
  const found = [...words, ...programs].flatMap((word) => fileIn(word, root) ?? []);
  const isUnclear = words.some((word) => /[$*?]/.test(word) && word.includes('/'));
  return { files: [...new Set(found)], isUnclear };
}

function fileIn(word: string, root: string): string | null {
  if (word.length > 1_000 || word.includes('\0')) return null;
  try {
    const path = realPath(resolve(root, word));
    return statSync(path).isFile() ? pathInside(path, realPath(root)) : null;
  } catch {
    return null;
  }
}

function readBounded(path: string): TrustedPart['files'][string] | null {
  try {
    if (statSync(path).size > LARGEST_FILE) return null;
    const bytes = readFileSync(path);
    const isText = bytes.length <= LONGEST_TEXT && !bytes.includes(0);
    return { digest: digestOf(bytes), text: isText ? bytes.toString('utf8') : null };
  } catch {
    return null;
  }
}
