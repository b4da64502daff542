/** Everything that Ramet keeps for a repository, item by item: how old, how large, and whether it may go. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type GitCall, runGit } from '../../git/run-git.ts';
import { indexPath } from '../../journal/session-index.ts';
import { JournalError } from '../../schema/errors.ts';
import { PYTHON_CACHE } from '../../system/child-environment.ts';
import { GONE_ALREADY, type Holding, type HoldingKind, type HoldingOptions } from './holding.ts';
import { keptFolders, setAsides, WORK_STAYS } from './kept-folders.ts';
import { missingHoldings } from './missing-holdings.ts';
import { removeSession } from './remove-session.ts';
import {
  DAY_MS,
  filesBelow,
  type SessionHolding,
  sessionHoldings,
  sessionsWithWorktrees,
} from './session-holdings.ts';
import { worktreeHoldings } from './worktree-holdings.ts';

/** Of agents at work, and of attempts of runs: what they left elsewhere, or what a run took from where no branch is. */
const PREFIXES = ['refs/ramet/wip/', 'refs/ramet/attempts/'];

const FORMAT = '%(refname)%09%(objectname)%09%(committerdate:unix)';

/** Worktrees first: a session whose agents have some stays. */
export async function holdingsOf(options: HoldingOptions): Promise<Holding[]> {
  const { place, now, days, interrupted } = options;
  const { worktrees, withWorktrees } = await listedWorktrees(options);
  const sessions = sessionHoldings(place.project, { now, days, interrupted, withWorktrees });
  return [
    ...worktrees,
    ...sessions.map((held) => sessionItem(place.project, held)),
    ...sessions.flatMap(({ usedAt, emptyOutputs, keep }) =>
      keep === null ? [] : emptyOutputs.map((path) => fileItem('empty output', path, usedAt, 0)),
    ),
    ...missingHoldings(place.project, options),
    ...checkLogs(options),
    ...pythonCache(options),
    ...(await workRefs(options)),
    ...keptFolders(options),
    ...setAsides(options),
  ];
}

interface ListedWorktrees {
  worktrees: Holding[];
  withWorktrees: ReadonlySet<string> | null;
}

/** Without the list nobody knows which session has any. */
async function listedWorktrees(options: HoldingOptions): Promise<ListedWorktrees> {
  const { project } = options.place;
  try {
    return {
      worktrees: await worktreeHoldings(options),
      withWorktrees: sessionsWithWorktrees(options.place),
    };
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    const list = fileItem('worktree', indexPath(project), options.now, 0);
    return { worktrees: [{ ...list, keep: error.message }], withWorktrees: null };
  }
}

function sessionItem(project: string, held: SessionHolding): Holding {
  const { session, title, usedAt, written, bytes, keep } = held;
  return {
    kind: 'session',
    name: title === null ? session : `${session} ${title}`,
    usedAt,
    bytes: bytes.journal + bytes.originals + bytes.outputs,
    parts: bytes,
    keep: keep?.reason ?? null,
    young: keep?.young ?? false,
    async remove() {
      const removal = removeSession(project, session, written);
      if (removal === 'in use') return 'it is in use, or was used since it was listed';
      return removal === 'removed' ? null : GONE_ALREADY;
    },
  };
}

function checkLogs({ place, now, days }: HoldingOptions): Holding[] {
  return filesBelow(join(place.project, 'merge'))
    .filter(({ path }) => /\/merge\/[^/]+\/check-[0-9a-f]+\.log$/.test(path))
    .map(({ path, size, mtimeMs }) => {
      const young = now - mtimeMs < days * DAY_MS;
      return { ...fileItem('check log', path, mtimeMs, size), keep: young ? 'it is recent' : null, young };
    });
}

/** What Python compiled for hooks, servers and setup commands; it compiles again what it misses. */
function pythonCache({ place, now, days }: HoldingOptions): Holding[] {
  const path = join(place.home, PYTHON_CACHE);
  const files = filesBelow(path);
  if (files.length === 0) return [];
  const usedAt = Math.max(...files.map(({ mtimeMs }) => mtimeMs));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const young = now - usedAt < days * DAY_MS;
  const item = fileItem('python cache', path, usedAt, bytes);
  return [{ ...item, keep: young ? 'it is recent' : null, young }];
}

function fileItem(kind: HoldingKind, path: string, usedAt: number, bytes: number): Holding {
  const remove = async (): Promise<null | typeof GONE_ALREADY> => {
    if (!existsSync(path)) return GONE_ALREADY;
    rmSync(path, { force: true, recursive: true });
    return null;
  };
  return { kind, name: path, usedAt, bytes, parts: null, keep: null, young: false, remove };
}

/** Work that was kept on private refs. One goes when a branch, tag or remote has all of it, or `--work` is said. */
async function workRefs({ place, env, now, days, work }: HoldingOptions): Promise<Holding[]> {
  if (place.repository === null) return [];
  const call = { cwd: place.repository.root, env };
  const { stdout } = await runGit(['for-each-ref', `--format=${FORMAT}`, ...PREFIXES], call);
  const refs = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'));
  const lone = await onNoBranch(
    refs.map(([, commit = '']) => commit),
    call,
  );
  return refs.map(([ref = '', commit = '', seconds = '0']) => {
    const usedAt = Number(seconds) * 1_000;
    const young = now - usedAt < days * DAY_MS;
    const mayGo = work || (lone !== null && !lone.has(commit));
    return {
      kind: ref.startsWith('refs/ramet/wip/') ? 'wip ref' : 'attempt ref',
      name: ref,
      usedAt,
      bytes: 0,
      parts: null,
      keep: mayGo
        ? young
          ? 'it is recent'
          : null
        : `it has changes that are on no branch: git diff HEAD ${ref} ${WORK_STAYS}`,
      young: mayGo && young,
      async remove() {
        await runGit(['update-ref', '-d', ref, commit], call);
        return null;
      },
    };
  });
}

/** Those that no branch, tag or remote leads to, found by one git for all. Null when git cannot tell. */
async function onNoBranch(commits: readonly string[], call: GitCall): Promise<ReadonlySet<string> | null> {
  if (commits.length === 0) return new Set();
  const args = ['rev-list', '--stdin', '--not', '--branches', '--tags', '--remotes'];
  const { code, stdout } = await runGit(args, { ...call, input: commits.map((id) => `${id}\n`).join('') });
  return code === 0 ? new Set(stdout.split('\n')) : null;
}
