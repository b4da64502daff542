/** What a run has left: read from git, the task file, the journal and the process table, and nothing changed. */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEnd } from '../kill/world.ts';
import type { OperatorPlace } from './place.ts';

/** Work that was there at a kill: commits on refs, and files of worktrees by the name git gives to their content. */
export interface SavedWork {
  commits: { commit: string; ref: string }[];
  files: { path: string; blob: string }[];
}

export interface Evidence extends SavedWork {
  /** Of the last process; null if an earlier one had come to the end. */
  end: RunEnd | null;
  plan: OperatorPlace['plan'];
  tree: string;
  /** Commits of the target since the start. */
  landed: { parents: number; task: string; subject: string }[];
  fsck: string;
  /** Every commit and every content that a ref reaches. */
  reachable: ReadonlySet<string>;
  locks: string[];
  taskFile: string;
  status: { code: number; text: string };
  /** How `ps` and `cost` ended. */
  views: number[];
  processes: string[];
  temporary: string[];
  sessions: number;
  worktrees: { known: string; folders: string[] };
  /** `git status` of the checkout. */
  checkout: string;
}

export async function collect(place: OperatorPlace, end: RunEnd | null): Promise<Evidence> {
  const { world, plan } = place;
  const processes = await world.leftProcesses();
  return {
    ...savedWork(place),
    ...{ end, plan, processes },
    tree: place.git('rev-parse', 'main^{tree}'),
    landed: landedCommits(place),
    fsck: place.git('fsck', '--no-dangling', '--no-progress'),
    reachable: new Set(place.git('rev-list', '--objects', '--no-object-names', '--all').split('\n')),
    locks: locksIn(join(world.repository, '.git')),
    taskFile: readFileSync(place.taskFile, 'utf8'),
    status: await world.look('operate', 'status', '--json'),
    views: [(await world.look('ps')).code, (await world.look('cost')).code],
    temporary: world.leftTemporary(),
    sessions: world.sessions().length,
    worktrees: {
      known: place.git('worktree', 'list', '--porcelain'),
      folders: worktreeFolders(world.root),
    },
    checkout: place.git('status', '--porcelain'),
  };
}

/** Before anybody resumes: all that must not get lost. */
export function savedWork(place: OperatorPlace): SavedWork {
  const refs = place.git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/ramet');
  return {
    commits: refs
      .split('\n')
      .map((line) => ({ commit: line.split(' ')[0] ?? '', ref: line.split(' ')[1] ?? '' }))
      .filter(({ ref }) => !CANDIDATES.test(ref)),
    files: worktreeFolders(place.world.root).flatMap((folder) => uncommitted(folder)),
  };
}

/** Merges that are being checked, and work in progress: a newer one takes their place, and files are read apart. */
const CANDIDATES = /^refs\/ramet\/(?:checking|wip)\//;

function uncommitted(folder: string): SavedWork['files'] {
  return filesOf(folder).flatMap((path) => {
    try {
      const bytes = readFileSync(path);
      return bytes.length === 0 ? [] : [{ path, blob: blobName(bytes) }];
    } catch {
      return []; // who outlives the kill may still write
    }
  });
}

/** What agents may have written: few files, none of them of the repository's own folder. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.txt'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(folder, 'src')));
}

function blobName(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function landedCommits(place: OperatorPlace): Evidence['landed'] {
  const format = '%P%x00%(trailers:key=Ramet-Task,valueonly,separator=%x20)%x00%s';
  const first = place.git('rev-list', '--max-parents=0', 'main');
  const text = place.git('log', `--format=${format}`, `${first}..main`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [parents = '', task = '', subject = ''] = line.split('\0');
      return { parents: parents.split(' ').length, task: task.split(' ')[0] ?? '', subject };
    });
}

function locksIn(git: string): string[] {
  return readdirSync(git, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lock'));
}

/** Of all worktrees that Ramet has made here, those in the pool too. */
function worktreeFolders(root: string): string[] {
  return foldersIn(join(root, 'ramet/worktrees'))
    .flatMap(foldersIn)
    .filter((path) => !path.endsWith('/.trash'))
    .flatMap((path) => (path.endsWith('/.pool') ? foldersIn(path) : [path]));
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
}
