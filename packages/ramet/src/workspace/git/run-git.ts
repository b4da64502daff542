/**
 * Our own calls of git, as opposed to those of agents. Never a shell, never a question, nothing that a repository
 * configures to run: no hooks, no file system monitor, no garbage collection, no editor. Content filters and merge
 * drivers of a folder run when the user trusts it (`folder-guard.ts`); a file that needs one before that is an error.
 *
 * Invariants
 * 1. The directory alone says which repository is meant: variables that point elsewhere are cleared.
 * 2. No lock is taken that the command does not need: a person's index is not even refreshed.
 * 3. A code other than 0 is a value. Only a git that cannot be started, or that was ended, throws.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { Cancelled, describeError, RametError, systemCode, UserMistake } from '../../schema/errors.ts';
import { type FolderGuard, folderGuard } from './folder-guard.ts';

export interface GitCall {
  /** The top of a checkout, or a git directory: git looks no further up. */
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
}

export interface GitOutcome {
  code: number;
  stdout: string;
  stderr: string;
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

export async function runGit(args: readonly string[], call: GitCall): Promise<GitOutcome> {
  call.signal?.throwIfAborted();
  const timeout = call.timeoutMs === undefined ? null : AbortSignal.timeout(call.timeoutMs);
  const signals = [timeout, call.signal].filter((signal) => signal instanceof AbortSignal);
  const guard = await guardOf(call);
  const git = spawn('git', [...SETTINGS, ...args], {
    cwd: call.cwd,
    env: { ...gitEnvironment(call), ...guard.environment },
    stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    killSignal: 'SIGKILL',
    detached: call.isSheltered === true,
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  git.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  git.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A git that ends before it has read everything says why by its code.
  git.stdin?.on('error', () => {}).end(call.input);
  const ended = new Promise<number | string>((settle, fail) => {
    git.once('error', fail).once('close', (code, killer) => settle(code ?? killer ?? 'a signal'));
  });
  const end = await ended.catch((error: unknown) => {
    throw explain(error, { args, call, timedOut: timeout?.aborted === true });
  });
  const texts = { stdout: textOf(stdout), stderr: textOf(stderr) };
  if (typeof end === 'number' && end !== 0) {
    refuseFilter(guard, texts.stderr);
    refuseTransport(guard, texts.stderr);
  }
  if (typeof end === 'number') return { code: end, ...texts };
  throw new RametError('git_killed', 'retryable', `git ${args[0]} was ended by ${end}; try again`);
}

async function guardOf(call: GitCall): Promise<FolderGuard> {
  try {
    return await folderGuard(call.cwd, { env: gitEnvironment(call), reachesRemote: call.reachesRemote });
  } catch (error) {
    throw explain(error, { args: ['config'], call, timedOut: false });
  }
}

/** Git's own words, when a file needs a filter and there is none. */
const FILTER_FAILED = /: (?:clean|smudge) filter '?(.+?)'? failed$/m;

function refuseFilter({ filters, root }: FolderGuard, stderr: string): void {
  const name = FILTER_FAILED.exec(stderr)?.[1];
  if (name === undefined || !filters.includes(name)) return;
  throw new UserMistake(
    'folder_not_trusted',
    `files of ${root} need the filter ${JSON.stringify(name)}, a program that this folder's git configuration names, and the folder is not trusted: look at ${JSON.stringify(`git config filter.${name}.smudge`)}, then run ramet trust there`,
  );
}

const TRANSPORT_REFUSED = /^fatal: transport '.*' not allowed$|lazy fetching disabled/m;

function refuseTransport({ environment, root }: FolderGuard, stderr: string): void {
  if (environment.GIT_ALLOW_PROTOCOL === undefined || !TRANSPORT_REFUSED.test(stderr)) return;
  throw new UserMistake(
    'folder_not_trusted',
    `git would have to fetch something for ${root}, and the folder is not trusted: its git configuration may name the program that does; look at git config --local --list, then run ramet trust there`,
  );
}

/** The output of a git that must succeed, without the last line's end. */
export async function gitText(args: readonly string[], call: GitCall): Promise<string> {
  const { code, stdout, stderr } = await runGit(args, call);
  if (code === 0) return stdout.replace(/\n$/, '');
  const reason = stderr.trim().split('\n').at(-1) || `it exited with ${code}`;
  throw new RametError('git_failed', 'terminal', `git ${args[0]} failed in ${call.cwd}: ${reason}`);
}

/** Objects are named by it; ids of other repositories may have 64 digits. */
export function isCommitId(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

function gitEnvironment({ cwd, env, index }: GitCall): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !LOCAL_VARIABLES.test(name));
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_EDITOR: 'true',
    // A worktree that has lost its `.git` file must not be taken for a folder of the repository around it.
    GIT_CEILING_DIRECTORIES: [dirname(cwd), env.GIT_CEILING_DIRECTORIES ?? []].flat().join(delimiter),
    LC_ALL: 'C',
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
  };
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}

function explain(
  error: unknown,
  { args, call, timedOut }: { args: readonly string[]; call: GitCall; timedOut: boolean },
): Error {
  if (timedOut) {
    return new RametError('git_slow', 'retryable', `git ${args[0]} took longer than ${call.timeoutMs} ms`);
  }
  if (call.signal?.aborted) return new Cancelled('interrupted', { cause: error });
  // The system names the program also when it is the directory that does not exist.
  if (systemCode(error) === 'ENOENT' && isDirectory(call.cwd)) {
    return new UserMistake('git_missing', 'git was not found: install git 2.38 or newer, or set PATH', {
      cause: error,
    });
  }
  const message = `cannot run git in ${call.cwd}: ${describeError(error)}`;
  return new RametError('git_unusable', 'terminal', message, { cause: error });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
