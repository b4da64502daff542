/**
 * Our own calls of git, as opposed to those of agents, with all that they print (`start-git.ts` says how they run).
 * Content filters and merge drivers of a folder run when the user trusts it (`folder-guard.ts`); a file that needs one
 * before that is an error.
 *
 * Invariants
 * 1. A code other than 0 is a value. Only a git that cannot be started, or that was ended, throws.
 * 2. What it prints is bounded.
 */
import { statSync } from 'node:fs';
import { Cancelled, describeError, RametError, systemCode, UserMistake } from '../schema/errors.ts';
import type { FolderGuard } from './folder-guard.ts';
import { type GitStart, startGit } from './start-git.ts';

export interface GitCall extends Omit<GitStart, 'lenient'> {
  /** A git that prints more than this is ended, and that is an error. */
  mostBytes?: number | undefined;
}

export interface GitOutcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Node makes no text of 512 MB or more. */
const MOST_BYTES = 500 << 20;

export async function runGit(args: readonly string[], call: GitCall): Promise<GitOutcome> {
  const { code, stdout, stderr } = await runGitForBytes(args, call);
  return { code, stdout: stdout.toString('utf8'), stderr };
}

/** For what need not be text. */
export async function runGitForBytes(
  args: readonly string[],
  call: GitCall,
): Promise<{ code: number; stdout: Buffer; stderr: string }> {
  call.signal?.throwIfAborted();
  const git = await startGit(args, call).catch((error: unknown) => {
    throw explain(error, { args: ['config'], call, timedOut: false });
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const mostBytes = call.mostBytes ?? MOST_BYTES;
  let left = mostBytes;
  const collect = (chunks: Buffer[]) => (chunk: Buffer) => {
    left -= chunk.length;
    if (left >= 0) chunks.push(chunk);
    else git.process.kill('SIGKILL');
  };
  git.process.stdout?.on('data', collect(stdout));
  git.process.stderr?.on('data', collect(stderr));
  const end = await git.ended.catch((error: unknown) => {
    throw explain(error, { args, call, timedOut: git.isTimedOut() });
  });
  if (left < 0)
    throw new RametError('git_output', 'terminal', `git ${args[0]} printed more than ${mostBytes} bytes`);
  const complaint = Buffer.concat(stderr).toString('utf8');
  if (typeof end === 'number' && end !== 0) {
    refuseFilter(git.guard, complaint);
    refuseTransport(git.guard, complaint);
  }
  if (typeof end === 'number') return { code: end, stdout: Buffer.concat(stdout), stderr: complaint };
  throw new RametError('git_killed', 'retryable', `git ${args[0]} was ended by ${end}; try again`);
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
