/**
 * Starts git for ourselves: the one place that decides in what environment it runs. Never a shell, never a question,
 * nothing that a repository configures to run: no hooks, no file system monitor, no garbage collection, no editor.
 * Who starts it decides what to do with its output (`run-git.ts` collects it, `./git-state.ts` reads lines).
 *
 * Invariants
 * 1. The directory alone says which repository is meant: variables that point elsewhere are cleared.
 * 2. No lock is taken that the command does not need: a person's index is not even refreshed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { type FolderGuard, folderGuard } from './folder-guard.ts';

export interface GitStart {
  cwd: string;
  env: Readonly<Record<string, string>>;
  input?: string | Uint8Array | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** Another index file than the checkout's own. */
  index?: string | undefined;
  /** The user asked for something from a remote. */
  reachesRemote?: boolean | undefined;
  /** It changes somebody's files: keys typed at the terminal, which reach all programs there, do not end it half-way. */
  isSheltered?: boolean | undefined;
  /** `cwd` may be any folder of a checkout; otherwise it is the top or a git directory, and git looks no further up. */
  looksUp?: boolean | undefined;
  /** Files that need a filter of a folder that is not trusted are taken as they are; otherwise git fails for them. */
  lenient?: boolean | undefined;
}

export interface StartedGit {
  process: ChildProcess;
  /** Its exit code, or the signal that ended it. Fails when it could not be started, was aborted or took too long. */
  ended: Promise<number | string>;
  guard: FolderGuard;
  isTimedOut(): boolean;
}

const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'advice.addEmbeddedRepo=false',
  'commit.gpgSign=false',
].flatMap((setting) => ['-c', setting]);

/** What `git rev-parse --local-env-vars` names, settings given by variable apart: those are the user's. */
export const LOCAL_VARIABLES: RegExp =
  /^GIT_(ALTERNATE_OBJECT_DIRECTORIES|CONFIG|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|INTERNAL_SUPER_PREFIX|NAMESPACE)$/;

/** Throws what keeps the folder's configuration from being looked at. */
export async function startGit(args: readonly string[], start: GitStart): Promise<StartedGit> {
  const timeout = start.timeoutMs === undefined ? null : AbortSignal.timeout(start.timeoutMs);
  const signals = [timeout, start.signal].filter((signal) => signal instanceof AbortSignal);
  const env = gitEnvironment(start);
  const guard = await folderGuard(start.cwd, {
    env,
    lenient: start.lenient,
    reachesRemote: start.reachesRemote,
  });
  const git = spawn('git', [...SETTINGS, ...args], {
    cwd: start.cwd,
    env: { ...env, ...guard.environment },
    stdio: [start.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    killSignal: 'SIGKILL',
    detached: start.isSheltered === true,
  });
  // A git that ends before it has read everything says why by its code.
  git.stdin?.on('error', () => {}).end(start.input);
  const ended = new Promise<number | string>((settle, fail) => {
    git.once('error', fail).once('close', (code, killer) => settle(code ?? killer ?? 'a signal'));
  });
  return { process: git, ended, guard, isTimedOut: () => timeout?.aborted === true };
}

/** For the few that start git by themselves, too. */
export function withoutLocalVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOCAL_VARIABLES.test(name)));
}

function gitEnvironment({ cwd, env, index, looksUp }: GitStart): Record<string, string> {
  // A worktree that has lost its `.git` file must not be taken for a folder of the repository around it.
  const ceiling = [dirname(cwd), env.GIT_CEILING_DIRECTORIES ?? []].flat().join(delimiter);
  return {
    ...withoutLocalVariables(env),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_EDITOR: 'true',
    ...(looksUp !== true && { GIT_CEILING_DIRECTORIES: ceiling }),
    LC_ALL: 'C',
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
  };
}
