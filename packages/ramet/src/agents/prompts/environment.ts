/** What differs between runs (PROMPT-1, third part): it stands after everything that runs share. */
import { arch, platform, release, type } from 'node:os';
import { quoteFolderName } from '../../conversation/quoted-text.ts';
import type { GitState, Repository } from '../../git/shapes.ts';
import { findModel } from '../../model/catalog.ts';
import { ENVIRONMENT, type TextBlock } from '../../schema/content.ts';

export interface EnvironmentFacts {
  cwd: string;
  model: string;
  now: Date;
  shell: string | undefined;
  /** Absent when git is not to be spoken of. */
  repository?: Repository | null;
  git?: GitState | null;
}

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

/** Nothing is said of a model of which no source states it. */
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
