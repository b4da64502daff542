/**
 * Proves a run from what it left: the journals, git's history and the files (WORK-1).
 *
 * 1. Of each file the recorded changes are one chain: each began with what the one before had left, none twice, and the
 *    last left what is on disk. An edit that overwrote another would make the chain fork.
 * 2. Every line that was accepted is in its file, and no line that was refused.
 * 3. Every path of an agent's commit was changed by that agent since the path was last committed.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openReader } from '../../packages/ramet/src/journal/sessions.ts';
import { type Attempt, FILES, FIRST_TEXT } from './plan.ts';

interface Change {
  agent: string;
  before: string | null;
  after: string | null;
}

const versionOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

export interface ReplayOptions {
  root: string;
  project: string;
  sessions: readonly string[];
  attempts: readonly Attempt[];
  /** The commit that the run began with. */
  base: string;
}

/** What did not hold, in words; empty when all did. */
export function replay(options: ReplayOptions): string[] {
  const chains = new Map(FILES.map((path) => [path, chainOf(path, changesOf(options, path), options.root)]));
  const broken = [...chains].flatMap(([, chain]) => (typeof chain === 'string' ? [chain] : []));
  return [...broken, ...wrongLines(options), ...(broken.length === 0 ? foreignPaths(options, chains) : [])];
}

function changesOf({ project, sessions, root }: ReplayOptions, path: string): Change[] {
  return sessions.flatMap((session) => {
    const reader = openReader({ project, session });
    try {
      return Array.from(reader.events({ type: 'file.changed' })).flatMap(({ agent, event }) =>
        event.type === 'file.changed' && event.path === join(root, path)
          ? [{ agent: agent ?? '', before: event.before, after: event.after }]
          : [],
      );
    } finally {
      reader.close();
    }
  });
}

/** The changes in order; a text when they are no chain. */
function chainOf(path: string, changes: readonly Change[], root: string): Change[] | string {
  const next = new Map<string | null, Change>();
  for (const change of changes) {
    if (next.has(change.before)) return `${path}: two changes began with the same version, so one was lost`;
    next.set(change.before, change);
  }
  const chain: Change[] = [];
  let version: string | null = versionOf(Buffer.from(FIRST_TEXT));
  for (let change = next.get(version); change !== undefined; change = next.get(version)) {
    chain.push(change);
    version = change.after;
  }
  if (chain.length < changes.length)
    return `${path}: ${changes.length - chain.length} changes are in no chain`;
  return version === versionOf(readFileSync(join(root, path)))
    ? chain
    : `${path}: what is on disk is nobody's change`;
}

/** For both ways: lines of accepted edits that are gone, and of refused ones that are there. */
export function wrongLines({ root, attempts }: Pick<ReplayOptions, 'root' | 'attempts'>): string[] {
  const lines = new Map(
    FILES.map((path) => [path, new Set(readFileSync(join(root, path), 'utf8').split('\n'))]),
  );
  return attempts.flatMap(({ kind, path, name, outcome }) => {
    if (kind !== 'edit' || path === null) return [];
    const isThere = lines.get(path)?.has(name) === true;
    if (outcome === 'done') return isThere ? [] : [`${name}: accepted, and not in ${path}`];
    return isThere ? [`${name}: ${outcome}, and still in ${path}`] : [];
  });
}

export interface CommitRecord {
  id: string;
  /** The agent, from the subject. */
  agent: string;
  paths: string[];
}

export function commitsOf(root: string, base: string): CommitRecord[] {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const log = git('log', '--reverse', '--name-only', '--no-renames', '--format=%x00%H %s', `${base}..HEAD`);
  return log
    .split('\0')
    .filter((text) => text !== '')
    .map((text) => {
      const [first = '', ...rest] = text.trim().split('\n');
      const [id = '', subject = ''] = first.split(' ');
      return { id, agent: subject.replace(/-\d+$/, ''), paths: rest.filter((line) => line !== '') };
    });
}

function foreignPaths(
  { root, base }: ReplayOptions,
  chains: ReadonlyMap<string, Change[] | string>,
): string[] {
  const reached = new Map<string, number>();
  return commitsOf(root, base).flatMap(({ id, agent, paths }) =>
    paths.flatMap((path) => {
      const chain = chains.get(path);
      if (chain === undefined || typeof chain === 'string') return [`${id}: ${path} is nobody's`];
      const bytes = execFileSync('git', ['cat-file', 'blob', `${id}:${path}`], { cwd: root });
      const from = reached.get(path) ?? 0;
      const to = chain.findIndex(({ after }) => after === versionOf(bytes)) + 1;
      reached.set(path, to);
      const own = chain.slice(from, to).some((change) => change.agent === agent);
      return own ? [] : [`${id}: ${path} holds nothing of ${agent}'s`];
    }),
  );
}
