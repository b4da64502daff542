/**
 * Changes of single paths between trees, and how they become a commit or go back into files: what attempts without a branch of
 * their own are made of. Nothing here moves a branch or touches an index that others use.
 */
import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { covers } from '../sandbox/write-fence.ts';
import { isInside } from '../system/landing-path.ts';
import { noIdentityFrom } from './merge/write-commit.ts';
import { type GitCall, gitFailed, gitText, runGit, runGitForBytes } from './run-git.ts';
import { withScratch } from './worktrees/scratch-index.ts';

/** What a path is: `mode` is null for one that is not there. */
interface PathState {
  readonly mode: string | null;
  readonly id: string;
}

/** What it is after the change. */
export interface ChangedPath extends PathState {
  readonly path: string;
  readonly before: PathState;
}

const RAW = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev'];
const GONE = '000000';

/** What makes `to` of `from`, both trees or commits. */
export async function changedPaths(from: string, to: string, call: GitCall): Promise<ChangedPath[]> {
  const fields = (await gitText([...RAW, from, to], call)).split('\0');
  const changes: ChangedPath[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [old = '', mode = GONE, oldId = '', id = ''] = (fields[at] ?? '').split(' ');
    const before = { mode: modeOf(old.slice(1)), id: oldId };
    changes.push({ path: fields[at + 1] ?? '', mode: modeOf(mode), id, before });
  }
  return changes;
}

function modeOf(mode: string): string | null {
  return mode === GONE ? null : mode;
}

/** Whether one of `files` is this path, or a folder or pattern that it belongs to. */
export function covered(path: string, files: readonly string[]): boolean {
  return files.some((name) => covers(name, path));
}

/** The changes that take these back. */
export function undone(changes: readonly ChangedPath[]): ChangedPath[] {
  return changes.map(({ path, mode, id, before }) => ({ path, ...before, before: { mode, id } }));
}

/** The tree of a commit with these changes; the same tree for none. */
export async function treeWith(
  base: string,
  changes: readonly ChangedPath[],
  call: GitCall,
  scratch: string,
): Promise<string> {
  return withScratch(scratch, async (index) => {
    const own = { ...call, index };
    await gitText(['read-tree', base], own);
    await gitText(['update-index', '-z', '--index-info'], { ...own, input: indexInfo(changes) });
    return gitText(['write-tree'], own);
  });
}

function indexInfo(changes: readonly ChangedPath[]): string {
  // What is gone comes first: a file may be where a folder was.
  const sorted = changes.toSorted((one, other) => Number(one.mode !== null) - Number(other.mode !== null));
  return sorted.map(({ path, mode, id }) => `${mode ?? '0'} ${id}\t${path}\0`).join('');
}

/** Brings the files of a working tree to what the changes say. */
export async function putFiles(
  root: string,
  changes: readonly ChangedPath[],
  call: GitCall,
  scratch: string,
): Promise<void> {
  for (const { path, mode } of changes) if (mode === null) removeInside(root, path);
  const there = changes.filter(({ mode }) => mode !== null);
  if (there.length === 0) return;
  await withScratch(scratch, async (index) => {
    const own = { ...call, cwd: root, index };
    await gitText(['update-index', '-z', '--index-info'], { ...own, input: indexInfo(there) });
    await gitText(['checkout-index', '--force', '--all', '--quiet'], own);
  });
}

/** Not through a link that leads elsewhere. */
function removeInside(root: string, path: string): void {
  const file = join(root, path);
  try {
    if (isInside(realpathSync(dirname(file)), realpathSync(root)))
      rmSync(file, { force: true, recursive: true });
  } catch {
    // Its folder is gone, and it with it.
  }
}

export interface WorkCommit {
  readonly ref: string;
  readonly base: string;
  readonly tree: string;
  readonly message: string;
}

/** Makes a commit of a tree, with a ref that keeps it. The same work is one commit, also if a process is killed and takes it again. */
export async function keepWork({ ref, base, tree, message }: WorkCommit, call: GitCall): Promise<string> {
  const before = await keptBefore(ref, { parent: base, tree }, call);
  if (before !== null) return before;
  const args = ['-c', 'user.useConfigOnly=true', 'commit-tree', tree, '-p', base, '-F', '-'];
  const end = await runGit(args, { ...call, input: message });
  if (end.code !== 0) throw noIdentityFrom(end.stderr) ?? gitFailed(['commit-tree'], end);
  const commit = end.stdout.trim();
  await gitText(['update-ref', '--no-deref', '-m', 'ramet operate', ref, commit], call);
  return commit;
}

/** The commit of these files that a process has made, and was killed before it could say so, if any. */
export async function keptBefore(
  ref: string,
  { parent, tree }: { parent: string; tree: string },
  call: GitCall,
): Promise<string | null> {
  const names = [`${ref}^{commit}`, `${ref}^`, `${ref}^{tree}`];
  const found = await gitText(['rev-parse', '--verify', '--quiet', ref], call).then(
    () => gitText(['rev-parse', ...names], call).catch(() => ''),
    () => '',
  );
  const [commit = '', before, files] = found.split('\n');
  return before === parent && files === tree ? commit : null;
}

interface UnreadableObject {
  /** Null if git names none. */
  readonly id: string | null;
  readonly what: string;
}

/** Larger files are only looked up: their content would take time to read. */
const SMALL_BYTES = 256 << 10;
/** This many are read at once. */
const GROUP = 128;

/** The first object between two commits that git cannot read, or that is not what its name says; null if all is well. */
export async function unreadableObject(
  { from, to }: { from: string; to: string },
  call: GitCall,
): Promise<UnreadableObject | null> {
  const args = ['rev-list', '--objects', `--filter=blob:limit=${SMALL_BYTES}`, to, `^${from}`, '--'];
  const { code, stdout, stderr } = await runGit(args, call);
  if (code !== 0) return fromWords(stderr);
  const named = new Map(
    stdout.split('\n').flatMap((line): [string, string][] => {
      const [id = '', ...path] = line.split(' ');
      return id === '' ? [] : [[id, path.join(' ')]];
    }),
  );
  const ids = [...named.keys()];
  for (let at = 0; at < ids.length; at += GROUP) {
    const group = ids.slice(at, at + GROUP);
    const bad = await wrongOf(group, call);
    if (bad === null) continue;
    const path = named.get(bad.id ?? '') ?? '';
    return path === '' ? bad : { ...bad, what: `${path}: ${bad.what}` };
  }
  return null;
}

function fromWords(stderr: string): UnreadableObject {
  const what = stderr.trim().split('\n').at(-1) || 'git gives no reason';
  return { id: /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/.exec(stderr)?.[0] ?? null, what };
}

/** Git looks at the name of an object only when it checks the whole repository. */
async function wrongOf(ids: readonly string[], call: GitCall): Promise<UnreadableObject | null> {
  const input = ids.map((id) => `${id}\n`).join('');
  const { code, stdout, stderr } = await runGitForBytes(['cat-file', '--batch'], { ...call, input });
  let at = 0;
  for (const id of ids) {
    const line = stdout.indexOf('\n', at);
    const [, type = '', size] = stdout.subarray(at, Math.max(at, line)).toString('latin1').split(' ');
    if (line === -1 || size === undefined)
      return code === 0 ? { id, what: `object ${id} is missing` } : { ...fromWords(stderr), id };
    const end = line + 1 + Number(size);
    const digest = createHash(id.length === 40 ? 'sha1' : 'sha256');
    digest.update(`${type} ${size}\0`).update(stdout.subarray(line + 1, end));
    if (digest.digest('hex') !== id) return { id, what: `object ${id} has the content of another` };
    at = end + 1;
  }
  return null;
}
