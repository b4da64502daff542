/**
 * One thing of a repository that can run or widen rights: hooks, servers, commands, an agent file, a skill, a plugin. What
 * it is, the files of the repository that its commands name, what these load by names that can be told, and the files of its
 * folder make its digest (SEC-1). What only a running script knows is not followed: it is listed.
 */
import { statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { digestOf } from '../../system/digest.ts';
import { pathInside, realPath } from '../../system/landing-path.ts';
import type { CoveredPart } from '../../system/trust.ts';
import { commandReach } from './command-reach.ts';
import { commandsOf, type PartCommand } from './commands-in.ts';
import { listFolder } from './list-folder.ts';
import { everyFile, isTemporary, MOST_LISTED } from './repository-look.ts';
import { isElsewhere, specialProblem } from './special-files.ts';
import { contentOf, fileDigest, listedDigest } from './trusted-content.ts';
import type { CommandReach } from './word-names.ts';

const KINDS = [
  'hooks',
  'mcp',
  'setup',
  'status line',
  'agent',
  'skill',
  'command',
  'plugin',
  'git',
  'rights',
  'limits',
] as const;

export type PartKind = (typeof KINDS)[number];

export interface FolderPart {
  readonly kind: PartKind;
  /** The file it is set up in; of a plugin its folder. */
  readonly source: string;
  /** What that file says: a value of its JSON, or the text of the file. */
  readonly value: unknown;
  /** Of an agent file its fields, of a plugin its hooks and servers, read as for a session; null where it cannot be read. */
  readonly declared?: Readonly<Record<string, unknown>> | null | undefined;
  /** All files in it belong to the part. */
  readonly folder?: string | undefined;
  /** Of a plugin: the settings file that names it. */
  readonly namedBy?: string | undefined;
}

export interface DescribedPart extends CoveredPart {
  readonly key: string;
  /** Commands and names that are not followed. */
  readonly unfollowed: readonly string[];
}

const LONGEST_TEXT = 32 << 10;
const MOST_FILES = 200;
/** Kept to show what has changed in them. */
const MOST_TEXTS = 200;

export function partKey({ kind, source }: Pick<FolderPart, 'kind' | 'source'>, root: string): string {
  // The same, and asked for hundreds of files at each start.
  const path = source.startsWith(`${root}/`) ? source.slice(root.length + 1) : relative(root, source);
  return `${kind} ${path}`;
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

/** Without the texts that only a person is shown; `own` is known where it was compared before. */
export function digestOfPart(part: FolderPart, root: string, own: string): string {
  // Most definitions start nothing.
  if (part.folder === undefined && commandsOf(part).length === 0) return joinedDigest(own, {}, []);
  return describePart(part, root).digest;
}

function joinedDigest(own: string, files: Record<string, string>, unfollowed: readonly string[]): string {
  return digestOf(JSON.stringify([own, Object.entries(files).sort(), unfollowed]));
}

export function describePart(part: FolderPart, root: string): DescribedPart {
  const text = textOf(part.value);
  const texts: Record<string, string | null> = {};
  const files: Record<string, string> = {};
  const { paths, copies, folders, modules, unfollowed } = filesOf(part, root);
  for (const [index, path] of paths.entries()) {
    const read = readBounded(resolve(root, path));
    if (read === null) unfollowed.push(path);
    else [files[path], texts[path]] = [read.digest, index < MOST_TEXTS ? read.text : null];
  }
  const whole = folders.map((folder) => [folder, 'any'] as const);
  for (const [folder, language] of [...whole, ...modules.map((one) => [one, 'python'] as const)]) {
    const listed = everyFile(folder, MOST_LISTED, language);
    const shown = relative(root, folder) || '.';
    if (listed === null) unfollowed.push(`${shown} has more than ${MOST_LISTED} files: it does not run`);
    for (const file of listed ?? []) files[relative(root, file.path)] ??= listedDigest(file);
  }
  const own = ownDigest(part);
  const digest = joinedDigest(own, files, unfollowed);
  // What an earlier run has left there is no change, and no reason not to run.
  for (const path of copies) files[path] = readBounded(path)?.digest ?? '';
  const shown =
    part.kind === 'plugin'
      ? pluginText(part, root)
      : part.kind === 'limits'
        ? text
        : text.slice(0, LONGEST_TEXT);
  const before = { text: shown, files: texts };
  return { key: partKey(part, root), digest, own, files, by: manifest.version, before, unfollowed };
}

/** What a person has to know of it where it is gone; no part of its digest. */
export interface PluginText {
  readonly namedBy: string;
  readonly hooks: readonly unknown[];
}

function pluginText({ declared, namedBy = '' }: FolderPart, root: string): string {
  const hooks = Array.isArray(declared?.hooks) ? declared.hooks : [];
  const said: PluginText = { namedBy: relative(root, namedBy), hooks };
  return hooks.length === 0 ? '' : JSON.stringify(said, null, 2);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

function filesOf(part: FolderPart, root: string): PartFiles {
  const unfollowed: string[] = [];
  const paths = new Set<string>();
  const copies = new Set<string>();
  const folders = new Set<string>();
  const modules = new Set<string>();
  for (const { texts, isRough, answers } of commandsOf(part)) {
    const reach = reachOf({ texts, answers }, part, root);
    for (const { path, written } of reach.paths) {
      if (written === 'replaced') continue;
      for (const found of fileIn(path, root)) (written === 'copied' ? copies : paths).add(found);
    }
    if (isRough) continue;
    for (const folder of reach.folders) folders.add(folder);
    for (const folder of reach.imports?.folders ?? []) modules.add(folder);
    const shown = texts.join(' ');
    if (reach.unclear !== null) {
      unfollowed.push(`${shown} (because of ${reach.unclear}: every file of the folder counts)`);
      continue;
    }
    if (reach.imports !== null)
      unfollowed.push(
        `${shown} (because of what ${reach.imports.script} imports: every Python file of the folder counts)`,
      );
    if (reach.unknown.length > 0) unfollowed.push(`${shown} (what ${reach.unknown.join(', ')} loads)`);
  }
  if (part.folder !== undefined) {
    const listed = listFolder(part.folder, MOST_FILES);
    for (const path of listed.files) if (path !== part.source) paths.add(relative(root, path));
    unfollowed.push(...listed.unfollowed.map((path) => relative(root, path)));
  }
  return {
    paths: [...paths].sort(),
    copies: [...copies].filter((one) => !paths.has(one)),
    folders: [...folders].sort(),
    modules: [...modules].sort(),
    unfollowed,
  };
}

interface PartFiles {
  paths: string[];
  /** A command makes them itself, of others that count. */
  copies: string[];
  /** Every file in these counts. */
  folders: string[];
  /** Every file that Python loads counts in these. */
  modules: string[];
  unfollowed: string[];
}

/** As seen from the root, and from the folder whose settings they are. */
function reachOf(
  { texts, answers }: Pick<PartCommand, 'texts'> & { readonly answers: boolean | undefined },
  { source, folder }: Pick<FolderPart, 'source' | 'folder'>,
  root: string,
): CommandReach {
  const placed = folder === undefined ? texts : texts.map((text) => atFolder(text, folder));
  return commandReach(placed, root, [root, folderOf(source)], answers);
}

/** With the folder of a skill or a plugin in the place of its name. */
export function atFolder(text: string, folder: string): string {
  return text.replace(
    /\$(?:\{CLAUDE_(?:SKILL_DIR|PLUGIN_ROOT)\}|CLAUDE_(?:SKILL_DIR|PLUGIN_ROOT)\b)/g,
    () => folder,
  );
}

/** The folder that a file of settings or servers is for. */
export function folderOf(source: string): string {
  return /^(.*)\/\.(?:claude|ramet)\//.exec(source)?.[1] ?? dirname(source);
}

/** A file of the repository, or one where agents can write. */
function fileIn(named: string, root: string): string[] {
  try {
    const path = realPath(named);
    if (!statSync(path).isFile()) return [];
    return [pathInside(path, realPath(root)) ?? (isTemporary(path) ? path : [])].flat();
  } catch {
    return [];
  }
}

function readBounded(path: string): { digest: string; text: string | null } | null {
  const content = contentOf(path);
  const digest = content?.digest ?? fileDigest(path);
  if (digest === null) return null;
  const bytes = content?.bytes;
  const isText = bytes !== undefined && bytes.length <= LONGEST_TEXT && !bytes.includes(0);
  return { digest, text: isText ? bytes.toString('utf8') : null };
}

/** Why a file that belongs to a part has no text to show. */
export function whyNoText(path: string): string {
  const bytes = contentOf(path)?.bytes;
  if (bytes === undefined || bytes.length > LONGEST_TEXT) return `it has more than ${LONGEST_TEXT >> 10} KiB`;
  return bytes.includes(0) ? 'it is no text' : `the texts of ${MOST_TEXTS} files are shown`;
}

/**
 * What programs that a part starts load by themselves, one line for each command: no word names it, so it is shown to who trusts
 * the part. It is no reason to ask again, and stops nothing.
 */
export function partLoads(part: FolderPart, root: string): string[] {
  const { folder } = part;
  return commandsOf(part).flatMap(({ texts, isRough, answers }) => {
    if (isRough) return [];
    const placed = folder === undefined ? texts : texts.map((text) => atFolder(text, folder));
    const { loads, unclear } = commandReach(placed, root, [root, folderOf(part.source)], answers);
    return loads.length === 0 || unclear !== null
      ? []
      : `${texts.join(' ')} (what ${loads.join(', ')} loads)`;
  });
}

/** Of what the commands of a part name, what nobody can trust: one line for each. */
export function untrustableIn(part: FolderPart, root: string): string[] {
  const { folder } = part;
  const lines = commandsOf(part).flatMap(({ texts, isRough, answers }) => {
    if (isRough) return [];
    const placed = folder === undefined ? texts : texts.map((text) => atFolder(text, folder));
    const { paths } = commandReach(placed, root, [root, folderOf(part.source)], answers);
    return paths.flatMap((named) =>
      isElsewhere(named, root) ? [] : (specialProblem(named.path, root) ?? []),
    );
  });
  return [...new Set(lines)];
}
