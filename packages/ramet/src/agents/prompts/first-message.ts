/**
 * The first message: project instructions, then the environment. Instructions are AGENTS.md and CLAUDE.md of the user
 * and of every folder from the repository's root down to the working directory, with `@path` imports. Their text is
 * untrusted data that the user has put there; nothing in it is executed.
 *
 * Invariants
 * 1. A file is taken once, however it is reached (real paths).
 * 2. An import cannot leave the folder it belongs to, the repository or the user's own instruction folder, nor
 *    enter `.git`.
 */
import { realpath } from 'node:fs/promises';
import { arch, homedir, platform, release, type } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { quoteFolderName, quoteFolderText } from '../../conversation/quoted-text.ts';
import type { GitState, Repository } from '../../git/shapes.ts';
import { findModel } from '../../model/catalog.ts';
import { ENVIRONMENT, PROJECT_INSTRUCTIONS, type TextBlock } from '../../schema/content.ts';
import { isInside, pathInside } from '../../system/landing-path.ts';
import { loadFile } from '../../system/regular-file.ts';

const NAMES = ['AGENTS.md', 'CLAUDE.md'];
const IMPORT_DEPTH = 4;
const MOST_CHARACTERS = 100_000;

export interface InstructionFile {
  path: string;
  text: string;
}

export interface InstructionPlaces {
  cwd: string;
  /** The repository's root; null outside git, where only `cwd` counts. */
  root: string | null;
  rametHome: string;
  userHome?: string;
}

export async function readProjectInstructions(places: InstructionPlaces): Promise<InstructionFile[]> {
  const userHome = places.userHome ?? homedir();
  const seen = new Set<string>();
  const files: InstructionFile[] = [];
  const userFiles = [join(places.rametHome, 'AGENTS.md'), join(userHome, '.claude', 'CLAUDE.md')];
  for (const path of userFiles) {
    // The user's own file may be a link into a folder of settings; its imports stay in that folder.
    const real = await realpath(path).catch(() => null);
    if (real !== null) files.push(...(await readWithImports(real, dirname(real), seen)));
  }
  const root = places.root ?? places.cwd;
  for (const folder of foldersBetween(root, places.cwd)) {
    for (const name of NAMES) files.push(...(await readWithImports(join(folder, name), root, seen)));
  }
  return files;
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

async function readWithImports(
  path: string,
  boundary: string,
  seen: Set<string>,
  depth = 0,
): Promise<InstructionFile[]> {
  const real = await realPathWithin(path, boundary);
  if (real === null || seen.has(real)) return [];
  seen.add(real);
  const text = await readText(real);
  if (text === null || text.trim() === '') return [];
  const imported: InstructionFile[] = [];
  if (depth < IMPORT_DEPTH) {
    for (const target of importsOf(text)) {
      const next = target.startsWith('~/')
        ? join(homedir(), target.slice(2))
        : resolve(dirname(real), target);
      imported.push(...(await readWithImports(next, boundary, seen, depth + 1)));
    }
  }
  return [{ path: real, text }, ...imported];
}

/** Null for what cannot be read and for what is no regular file: a fifo would be waited for, for ever. */
async function readText(path: string): Promise<string | null> {
  try {
    return Buffer.from((await loadFile(path)).bytes).toString();
  } catch {
    return null;
  }
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
  /** What has changed since the session was opened. */
  news?: string | null;
  prompt: string;
}): FirstMessage {
  const instructions = parts.instructions === null ? [] : [text(parts.instructions)];
  const news = parts.news == null ? [] : [text(parts.news)];
  return {
    blocks: [...instructions, text(parts.environment), ...news, text(parts.prompt)],
    shared: instructions.length,
  };
}

function text(value: string): TextBlock {
  return { type: 'text', text: value };
}
