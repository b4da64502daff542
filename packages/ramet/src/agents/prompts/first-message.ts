/**
 * The first message: project instructions, then the environment. Instructions are AGENTS.md, CLAUDE.md and rules of the
 * user and of every folder from the repository's root down to the working directory, with `@path` imports. Their text is
 * untrusted data that the user has put there; nothing in it is executed.
 *
 * Invariants
 * 1. A file is taken once, however it is reached (real paths).
 * 2. An import cannot leave the folder it belongs to, the repository or the user's own instruction folder, nor
 *    enter `.git`.
 */
import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { arch, homedir, platform, release, type } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { quoteFolderName, quoteFolderText } from '../../conversation/quoted-text.ts';
import type { GitState, Repository } from '../../git/shapes.ts';
import { findModel } from '../../model/catalog.ts';
import { ENVIRONMENT, PROJECT_INSTRUCTIONS, type TextBlock } from '../../schema/content.ts';
import { isInside, pathInside } from '../../system/landing-path.ts';
import { loadFile } from '../../system/regular-file.ts';
import { decodeTextFile } from '../../system/text/text-file.ts';

const NAMES = ['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'];
const RULES = '.claude/rules';
const IMPORT_DEPTH = 4;
const MOST_CHARACTERS = 100_000;
/** In an old encoding, at most one in ten characters cannot be read. */
const LEAST_READABLE = 10;

export interface InstructionFile {
  path: string;
  text: string;
}

export interface InstructionPlaces {
  cwd: string;
  /** The repository's root; null outside git, where only `cwd` counts. */
  root: string | null;
  rametHome: string;
  userHome?: string | undefined;
}

export interface ProjectInstructions {
  files: InstructionFile[];
  /** What was left out, one line each: circular imports, rules that cannot be read. */
  problems: string[];
}

export async function readProjectInstructions(places: InstructionPlaces): Promise<ProjectInstructions> {
  const userHome = places.userHome ?? homedir();
  const found: Reading = { seen: new Set(), files: [], problems: [] };
  const userFiles = [join(places.rametHome, 'AGENTS.md'), join(userHome, '.claude', 'CLAUDE.md')];
  for (const path of userFiles) {
    // The user's own file may be a link into a folder of settings; its imports stay in that folder.
    const real = await realpath(path).catch(() => null);
    if (real !== null) await readWithImports(found, real, dirname(real));
  }
  const ofUser = join(userHome, RULES);
  await takeRules(found, ofUser, userHome);
  const root = places.root ?? places.cwd;
  for (const folder of foldersBetween(root, places.cwd)) {
    for (const name of NAMES) await readWithImports(found, join(folder, name), root);
    const rules = join(folder, RULES);
    if (rules !== ofUser) await takeRules(found, rules, root);
  }
  return { files: found.files, problems: found.problems };
}

interface Reading extends ProjectInstructions {
  /** Real paths. */
  seen: Set<string>;
}

/** Loaded where there are any. */
async function takeRules(
  { seen, files, problems }: Reading,
  folder: string,
  boundary: string,
): Promise<void> {
  if (!isFolder(folder)) return;
  const { readRules } = await import('./project-rules.ts');
  const found = await readRules(folder, boundary);
  problems.push(...found.problems);
  for (const { real, text } of found.rules) {
    if (seen.has(real) || text.trim() === '') continue;
    seen.add(real);
    files.push({ path: real, text });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** One text for the prompt, or null when there is nothing to say. Paths are relative, so machines agree. */
export function instructionsText(files: readonly InstructionFile[], root: string): string | null {
  if (files.length === 0) return null;
  const parts = files.map(
    ({ path, text }) => `# ${quoteFolderName(displayPath(path, root))}\n${quoteFolderText(text.trim())}`,
  );
  const whole = parts.join('\n\n');
  const text =
    whole.length > MOST_CHARACTERS
      ? `${whole.slice(0, MOST_CHARACTERS).toWellFormed()}\n[cut: ${whole.length} characters in all]`
      : whole;
  return `<${PROJECT_INSTRUCTIONS}>\n${text}\n</${PROJECT_INSTRUCTIONS}>`;
}

function displayPath(path: string, root: string): string {
  return pathInside(path, root) ?? `(user) ${path.split(sep).at(-1)}`;
}

function foldersBetween(root: string, cwd: string): string[] {
  const inside = pathInside(cwd, root);
  if (inside === null) return [cwd];
  const steps = inside.split(sep).filter(Boolean);
  return [root, ...steps.map((_, index) => join(root, ...steps.slice(0, index + 1)))];
}

/** A file comes before what it imports. `chain` are the files that lead to it. */
async function readWithImports(
  found: Reading,
  path: string,
  boundary: string,
  chain: readonly string[] = [],
): Promise<void> {
  const real = await realPathWithin(path, boundary);
  if (real !== null && chain.includes(real))
    found.problems.push(`${chain.at(-1)}: it imports ${real}, which imports it: left out there`);
  if (real === null || found.seen.has(real)) return;
  found.seen.add(real);
  const text = await readText(real, found.problems);
  if (text === null || text.trim() === '') return;
  found.files.push({ path: real, text });
  if (chain.length >= IMPORT_DEPTH) return;
  for (const target of importsOf(text)) {
    const next = target.startsWith('~/') ? join(homedir(), target.slice(2)) : resolve(dirname(real), target);
    await readWithImports(found, next, boundary, [...chain, real]);
  }
}

/** Null for what cannot be read, for what is no text, and for what is no regular file: a fifo would be waited for, for ever. */
async function readText(path: string, problems: string[]): Promise<string | null> {
  const bytes = await loadFile(path).then(
    (loaded) => loaded.bytes,
    () => null,
  );
  if (bytes === null) return null;
  const decoded = decodeTextFile(bytes);
  if (decoded !== null) return decoded.text;
  const text = Buffer.from(bytes).toString();
  const isReadable = !bytes.includes(0) && text.split('\ufffd').length * LEAST_READABLE < text.length;
  problems.push(
    isReadable
      ? `${path}: it is not UTF-8, so some letters cannot be read: save it as UTF-8`
      : `${path}: it is no text: left out`,
  );
  return isReadable ? text : null;
}

async function realPathWithin(path: string, boundary: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  if (real === null) return null;
  const edge = await realpath(boundary).catch(() => null);
  if (edge === null) return null;
  return isInside(real, edge) && !isInside(real, join(edge, '.git')) ? real : null;
}

/** `@path` at the start of a line or after a space, outside code. */
function importsOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?(```|$)/g, '').replace(/`[^`\n]*`/g, '');
  return Array.from(prose.matchAll(/(?:^|\s)@([\w./~-]*[\w-])/g), (match) => match[1] ?? '').filter(
    (target) => target.includes('/') || target.includes('.'),
  );
}

interface EnvironmentFacts {
  cwd: string;
  model: string;
  now: Date;
  shell: string | undefined;
  /** Absent when git is not to be spoken of. */
  repository?: Repository | null;
  git?: GitState | null;
}

/** What differs between runs (PROMPT-1, third part): it follows everything that runs share. */
export function environmentText(facts: EnvironmentFacts): string {
  return [
    `<${ENVIRONMENT}>`,
    `Working directory: ${quoteFolderName(facts.cwd)}`,
    `Platform: ${platform()}`,
    `OS: ${type()} ${release()} (${arch()})`,
    `Shell: ${facts.shell ?? 'bash'}`,
    `Model: ${facts.model}`,
    ...cutOffLine(facts.model),
    `Date: ${facts.now.toISOString().slice(0, 10)}`,
    ...gitLines(facts).map(quoteFolderName),
    `</${ENVIRONMENT}>`,
  ].join('\n');
}

/** No line for a model whose cut-off no source states. */
function cutOffLine(model: string): string[] {
  const cutOff = findModel(model)?.knowledgeCutOff;
  return cutOff === undefined ? [] : [`Knowledge cut-off: ${cutOff}`];
}

function gitLines({ cwd, repository, git }: EnvironmentFacts): string[] {
  if (repository === undefined || git === undefined) return [];
  if (repository === null || git === null) return ['Git: not a repository'];
  // It is the working directory more often than not.
  const root = repository.root === cwd ? [] : [`Git root: ${repository.root}`];
  if (!git.known) return [...root, `Git status: unknown (${git.reason})`];
  const changes = git.changes.length === 0 ? ['Git status: clean'] : ['Git status:', ...git.changes];
  return [
    ...root,
    `Git branch: ${git.branch ?? '(detached)'} at ${git.head?.slice(0, 12) ?? '(no commit yet)'}`,
    ...changes,
    ...(git.more > 0 ? [`(${git.more} more)`] : []),
  ];
}

/**
 * The first user message: project instructions, then the environment, then the task. The instructions are the
 * same for every run in a repository, so a breakpoint stands after them (FORK-9); the rest differs.
 */
interface FirstMessage {
  blocks: TextBlock[];
  /** How many leading blocks are the same in the next run. */
  shared: number;
}

export function firstMessage(parts: {
  instructions: string | null;
  environment: string;
  /** What earlier sessions have noted: it differs from run to run, so it follows what they share. */
  memory?: string | null;
  /** What has changed since the session was opened. */
  news?: string | null;
  prompt: string;
}): FirstMessage {
  const instructions = parts.instructions === null ? [] : [text(parts.instructions)];
  const memory = parts.memory == null ? [] : [text(parts.memory)];
  const news = parts.news == null ? [] : [text(parts.news)];
  return {
    blocks: [...instructions, text(parts.environment), ...memory, ...news, text(parts.prompt)],
    shared: instructions.length,
  };
}

function text(value: string): TextBlock {
  return { type: 'text', text: value };
}
