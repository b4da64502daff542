/** The text of merge and squash commits: what was done, which commits it holds, whose work it is. */
import { type Provenance, parseTrailers, withTrailers } from '../provenance/trailers.ts';
import type { BranchCommit } from './branch-commits.ts';

/** What is known of the work on a branch besides its commits. */
export interface BranchStory extends Provenance {
  /** What it comes to, in a line. */
  subject?: string | undefined;
}

export interface MessageParts {
  kind: 'merge' | 'squash';
  branch: string;
  target: string;
  commits: readonly BranchCommit[];
  story: BranchStory;
  /** Files whose conflicts were resolved for this very commit. */
  resolved?: readonly string[];
}

const SUBJECT_LENGTH = 72;
const MOST_LISTED = 50;

export function mergeMessage(parts: MessageParts): string {
  const story: BranchStory = { ...storyIn(parts.commits), ...defined(parts.story) };
  const listed = parts.commits.slice(-MOST_LISTED).map((commit) => `* ${subjectOf(commit.message)}`);
  const more = parts.commits.length - listed.length;
  const body = [
    ...(more > 0 ? [`* ${more} earlier ${more === 1 ? 'commit' : 'commits'}`] : []),
    ...listed,
  ].join('\n');
  const subject = shortened(subjectFrom(parts, story));
  const merged = parts.kind === 'merge' ? `Merge ${parts.branch} into ${parts.target}\n\n` : '';
  const files = parts.resolved ?? [];
  const decided = files.length === 0 ? '' : `\n\nConflicts were resolved in ${files.join(', ')}.`;
  return withTrailers(`${subject}\n\n${merged}${body}${decided}`, story);
}

/** The description of the work comes first, then its one commit, then its task. */
function subjectFrom(
  { kind, branch, target, commits }: MessageParts,
  { subject, task }: BranchStory,
): string {
  if (subject !== undefined && subject.trim() !== '') return subject;
  const [only] = commits;
  if (commits.length === 1 && only !== undefined) return subjectOf(only.message);
  if (task !== undefined) return task;
  return kind === 'merge'
    ? `Merge branch ${branch} into ${target}`
    : `Squash of ${branch}: ${commits.length} commits`;
}

/**
 * What the newest commit that says so tells of its maker. Only the branch's own line counts: what it has merged to
 * resolve a conflict is the work of others.
 */
function storyIn(commits: readonly BranchCommit[]): Provenance {
  const told = ownLine(commits)
    .map(({ message }) => parseTrailers(message))
    .findLast(({ agent }) => agent !== undefined);
  return told ?? {};
}

/** From the tip, which is last, along first parents. */
function ownLine(commits: readonly BranchCommit[]): BranchCommit[] {
  const byId = new Map(commits.map((commit) => [commit.id, commit]));
  const line: BranchCommit[] = [];
  for (let next = commits.at(-1); next !== undefined; next = byId.get(next.parents[0] ?? ''))
    line.unshift(next);
  return line;
}

function subjectOf(message: string): string {
  return message.trim().split('\n', 1)[0]?.trim() || '(no message)';
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SUBJECT_LENGTH ? `${line.slice(0, SUBJECT_LENGTH - 1)}…` : line;
}

function defined(story: BranchStory): BranchStory {
  return Object.fromEntries(Object.entries(story).filter(([, value]) => value !== undefined));
}
