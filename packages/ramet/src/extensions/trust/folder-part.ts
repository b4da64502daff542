/**
 * One thing of a repository that can run or widen rights: hooks, servers, commands, an agent file, a skill, a plugin. What
 * it is, the files of the repository that its commands name, and the files of its folder make its digest (SEC-1). What
 * those files load in turn is not followed, nor are names that only a shell could work out: they are listed.
 */
import { statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { digestOf } from '../../system/digest.ts';
import { pathInside, realPath } from '../../system/landing-path.ts';
import type { CoveredPart } from '../../system/trust.ts';
import { contentOf, pathsNamed } from './command-files.ts';
import { listFolder } from './list-folder.ts';

const KINDS = [
  'hooks',
  'mcp',
  'setup',
  'status line',
  'agent',
  'skill',
  'command',
  'plugin',
  'rights',
] as const;

export type PartKind = (typeof KINDS)[number];

export interface FolderPart {
  readonly kind: PartKind;
  /** The file it is set up in; of a plugin its folder. */
  readonly source: string;
  /** What that file says: a value of its JSON, or the text of the file. */
  readonly value: unknown;
  /** All files in it belong to the part. */
  readonly folder?: string | undefined;
}

export interface DescribedPart extends CoveredPart {
  readonly key: string;
  /** Commands and names that are not followed. */
  readonly unfollowed: readonly string[];
}

const LONGEST_TEXT = 32 << 10;
const MOST_FILES = 200;

export function partKey({ kind, source }: Pick<FolderPart, 'kind' | 'source'>, root: string): string {
  return `${kind} ${relative(root, source)}`;
}

/** The kind and the path in a key. */
export function readPartKey(key: string): Pick<FolderPart, 'kind' | 'source'> {
  const kind = KINDS.find((one) => key.startsWith(`${one} `)) ?? 'hooks';
  return { kind, source: key.slice(kind.length + 1) };
}

/** Of what is written down alone. */
export function ownDigest({ value }: Pick<FolderPart, 'value'>): string {
  return digestOf(textOf(value));
}

export function describePart(part: FolderPart, root: string): DescribedPart {
  const text = textOf(part.value);
  const texts: Record<string, string | null> = {};
  const files: Record<string, string> = {};
  const { paths, unfollowed } = filesOf(part, root);
  for (const path of paths.slice(0, MOST_FILES)) {
    const read = readBounded(resolve(root, path));
    if (read === null) unfollowed.push(path);
    else [files[path], texts[path]] = [read.digest, read.text];
  }
  if (paths.length > MOST_FILES) unfollowed.push(`${paths.length - MOST_FILES} more files`);
  const own = ownDigest(part);
  const digest = digestOf(JSON.stringify([own, Object.entries(files).sort(), unfollowed]));
  const before = { text: text.slice(0, LONGEST_TEXT), files: texts };
  return { key: partKey(part, root), digest, own, files, before, unfollowed };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

function filesOf(part: FolderPart, root: string): { paths: string[]; unfollowed: string[] } {
  const unfollowed: string[] = [];
  const paths = new Set<string>();
  for (const command of commandsOf(part)) {
    const followed = filesNamed(command, part, root);
    for (const path of followed.files) paths.add(path);
    if (followed.isUnclear) unfollowed.push(command);
  }
  if (part.folder !== undefined) {
    const listed = listFolder(part.folder, MOST_FILES);
    for (const path of listed.files) if (path !== part.source) paths.add(relative(root, path));
    unfollowed.push(...listed.unfollowed.map((path) => relative(root, path)));
  }
  return { paths: [...paths].sort(), unfollowed };
}

/** Every text of the part: which of them is a command is for its reader to know. */
export function commandsOf({ kind, value }: FolderPart): string[] {
  if (kind === 'rights' || kind === 'plugin') return [];
  if (kind === 'skill' || kind === 'command') return shellParts(String(value));
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

/** What a skill or a command has run before the model reads it. */
function shellParts(text: string): string[] {
  return Array.from(text.matchAll(/!`([^`\n]+)`/g), ([, command = '']) => command);
}

/** As seen from the root, and from the folder whose settings they are. */
function filesNamed(
  command: string,
  { source, folder }: Pick<FolderPart, 'source' | 'folder'>,
  root: string,
): { files: string[]; isUnclear: boolean } {
  const placed = command.replace(/"?\$\{CLAUDE_(?:SKILL_DIR|PLUGIN_ROOT)\}"?/g, (name) => folder ?? name);
  const { paths, isUnclear } = pathsNamed(placed, root, [root, folderOf(source)]);
  return { files: [...new Set(paths.flatMap(({ path }) => fileIn(path, root) ?? []))], isUnclear };
}

/** The folder that a file of settings or servers is for. */
export function folderOf(source: string): string {
  return /^(.*)\/\.(?:claude|ramet)\//.exec(source)?.[1] ?? dirname(source);
}

function fileIn(named: string, root: string): string | null {
  try {
    const path = realPath(named);
    return statSync(path).isFile() ? pathInside(path, realPath(root)) : null;
  } catch {
    return null;
  }
}

function readBounded(path: string): { digest: string; text: string | null } | null {
  const content = contentOf(path);
  if (content === null) return null;
  const { bytes, digest } = content;
  const isText = bytes.length <= LONGEST_TEXT && !bytes.includes(0);
  return { digest, text: isText ? bytes.toString('utf8') : null };
}
