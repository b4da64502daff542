/**
 * Our own calls of git, as opposed to those of agents, with all that they print (`run-git.ts` says how they run).
 * Content filters and merge drivers of a folder run when the user trusts it (`folder-guard.ts`); a file that needs one
 * before that is an error.
 *
 * Invariants
 * 1. A code other than 0 is a value. Only a git that cannot be started, that was ended or that finds no object any more, throws.
 * 2. What it prints is bounded.
 * 3. A git that only reads, or only adds objects, is run once more when something else has killed it.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { Cancelled, describeError, RametError, systemCode, UserMistake } from '../schema/errors.ts';
import { type ProgramEnd, type ProgramOrder, runElsewhere } from '../system/processes/starter.ts';
import { watchGit } from './blocked-git.ts';
import { type FolderGuard, folderGuard } from './folder-guard.ts';
import { type GitPlace, gitEnvironment } from './git-environment.ts';
import { refuseUntrusted } from './refuse-untrusted.ts';
import { damagedObjects, mendSharedObjects } from './shared-objects.ts';
import { writtenBy } from './trusted-programs.ts';

export { withoutLocalVariables } from './git-environment.ts';
export { isCommitId } from './repository.ts';

/** The first that merges without a working tree. */
const MERGES: GitVersion = { major: 2, minor: 38 };

/** The first that takes many merges in one process. */
const MERGES_MANY: GitVersion = { major: 2, minor: 39 };

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

export interface GitCall extends GitStart {
  /** A git that prints more than this is ended, and that is an error. */
  mostBytes?: number | undefined;
}

export interface GitOutcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** With this git ends when it gives up. */
const FATAL = 128;

/** Nothing of these is left half done: refs, index and files stay as they are. */
const HARMLESS: ReadonlySet<string> = new Set(
  (
    'cat-file check-attr check-ignore commit-tree diff-files diff-index diff-tree for-each-ref hash-object log ls-files ls-tree ' +
    'merge-base merge-tree mktree rev-list rev-parse show show-ref status'
  ).split(' '),
);

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
  const mostBytes = call.mostBytes ?? MOST_BYTES;
  const first = await toItsEnd(args, { ...call, mostBytes });
  const wasKilled = typeof first.end !== 'number' && !first.isTooMuch;
  const isAgain = (first.hasWaited && first.end !== 0) || (wasKilled && HARMLESS.has(commandOf(args)));
  const { end, stdout, stderr, isTooMuch, guard } = isAgain
    ? await toItsEnd(args, { ...call, mostBytes })
    : first;
  if (isTooMuch)
    throw new RametError(
      'git_output',
      'terminal',
      `git ${commandOf(args)} printed more than ${mostBytes} bytes`,
    );
  const complaint = stderr.toString('utf8');
  if (typeof end === 'number' && end !== 0) refuseUntrusted(guard, complaint);
  const damage = typeof end === 'number' && end >= FATAL ? damagedObjects(complaint, call.cwd) : null;
  if (damage !== null) throw damage;
  if (typeof end === 'number') return { code: end, stdout, stderr: complaint };
  throw new RametError('git_killed', 'retryable', `git ${commandOf(args)} was ended by ${end}; try again`);
}

/** `add` of `-c name=value add --all`. */
function commandOf(args: readonly string[]): string {
  return args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c') ?? '';
}

async function toItsEnd(
  args: readonly string[],
  call: GitCall & { mostBytes: number },
): Promise<ProgramEnd & { guard: FolderGuard; hasWaited: boolean }> {
  const failed =
    (what: readonly string[], isTimedOut = () => false) =>
    (error: unknown): never => {
      throw explain(error, { args: what, call, timedOut: isTimedOut() });
    };
  const prepared = await prepareGit(args, call).catch(failed(['config']));
  const { order, signals, limit, guard } = prepared;
  const isTimedOut = (): boolean => limit?.signal.aborted === true;
  const watch = watchGit(call);
  const stopped = (error: unknown): never => {
    void watch.stop();
    limit?.clear();
    return failed(args, isTimedOut)(error);
  };
  const ordered = { ...order, mostBytes: call.mostBytes };
  const elsewhere = await runElsewhere(ordered, joined(signals), watch.began).catch(stopped);
  if (elsewhere !== null) {
    limit?.clear();
    return { ...elsewhere, guard, hasWaited: await watch.stop() };
  }
  const git = spawnGit(prepared);
  watch.began(git.process.pid);
  const output: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  let left = call.mostBytes;
  for (const name of ['stdout', 'stderr'] as const)
    git.process[name]?.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) output[name].push(chunk);
      else git.process.kill('SIGKILL');
    });
  const end = await git.ended.catch(stopped);
  const [stdout, stderr] = [Buffer.concat(output.stdout), Buffer.concat(output.stderr)];
  return { end, stdout, stderr, isTooMuch: left < 0, guard, hasWaited: await watch.stop() };
}

/** The output of a git that must succeed, without the last line's end. */
export async function gitText(args: readonly string[], call: GitCall): Promise<string> {
  const { code, stdout, stderr } = await runGit(args, call);
  if (code === 0) return stdout.replace(/\n$/, '');
  const reason = stderr.trim().split('\n').at(-1) || `it exited with ${code}`;
  throw new RametError('git_failed', 'terminal', `git ${commandOf(args)} failed in ${call.cwd}: ${reason}`);
}

function explain(
  error: unknown,
  { args, call, timedOut }: { args: readonly string[]; call: GitCall; timedOut: boolean },
): Error {
  if (timedOut) {
    return new RametError(
      'git_slow',
      'retryable',
      `git ${commandOf(args)} took longer than ${call.timeoutMs ?? LONGEST_IN_CHECKOUT_MS} ms in ${call.cwd}`,
    );
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

/**
 * Starts git for ourselves: the one place that decides in what environment it runs. Never a shell, never a question,
 * nothing that a repository configures to run: no hooks, no file system monitor, no garbage collection, no editor.
 *
 * Invariants
 * 1. The directory alone says which repository is meant, or `checkout` does: variables that point elsewhere are cleared.
 * 2. No lock is taken that the command does not need: a person's index is not even refreshed.
 */
interface GitStart extends GitPlace {
  input?: string | Uint8Array | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** The user asked for something from a remote. */
  reachesRemote?: boolean | undefined;
  /** It changes a user's files: keys typed at the terminal, which reach all programs there, do not end it half-way. */
  isSheltered?: boolean | undefined;
  /** Files that need a filter of a folder that is not trusted are taken as they are; otherwise git fails for them. */
  lenient?: boolean | undefined;
}

/** In files of an agent something may make git wait for ever, such as a FIFO that is called `.gitignore`. */
const LONGEST_IN_CHECKOUT_MS = 300_000;

interface StartedGit {
  process: ChildProcess;
  /** Its exit code, or the signal that ended it. Fails when it could not be started, was aborted or took too long. */
  ended: Promise<number | string>;
}

interface PreparedGit {
  order: Omit<ProgramOrder, 'mostBytes'>;
  signals: readonly AbortSignal[];
  limit: { signal: AbortSignal; clear(): void } | null;
  guard: FolderGuard;
}

/** Throws what keeps the folder's configuration from being looked at. */
async function prepareGit(args: readonly string[], start: GitStart): Promise<PreparedGit> {
  mendSharedObjects(start);
  const timeoutMs = start.timeoutMs ?? (start.checkout === undefined ? undefined : LONGEST_IN_CHECKOUT_MS);
  const limit = timeoutMs === undefined ? null : timeLimit(timeoutMs);
  const signals = [limit?.signal, start.signal].filter((signal) => signal instanceof AbortSignal);
  const { cwd, input, lenient, reachesRemote, checkout } = start;
  const env = gitEnvironment(start);
  const writes = writtenBy(commandOf(args), args);
  const guard = await folderGuard(cwd, { env, lenient, reachesRemote, checkout, writes });
  const order = {
    ...{ program: 'git', args: [...SETTINGS, ...args], cwd, input },
    ...{ env: { ...env, ...guard.environment }, detached: start.isSheltered === true },
  };
  return { order, signals, limit, guard };
}

function spawnGit({ order, signals, limit }: PreparedGit): StartedGit {
  const { program, args, cwd, env, input, detached } = order;
  const git = spawn(program, args, {
    ...{ cwd, env, detached, killSignal: 'SIGKILL' },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(signals.length > 0 && { signal: joined(signals) }),
  });
  // A git that ends before it has read everything says why by its code.
  git.stdin?.on('error', () => {}).end(input);
  const ended = new Promise<number | string>((settle, fail) => {
    git.once('error', fail).once('close', (code, killer) => settle(code ?? killer ?? 'a signal'));
  }).finally(() => limit?.clear());
  return { process: git, ended };
}

function joined(signals: readonly AbortSignal[]): AbortSignal | undefined {
  return signals.length > 1 ? AbortSignal.any([...signals]) : signals[0];
}

/** Unlike a timeout of `AbortSignal`, which aborts after everything is over too, and makes an error to do so. */
function timeLimit(ms: number): { signal: AbortSignal; clear(): void } {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ms).unref();
  return { signal: abort.signal, clear: () => clearTimeout(timer) };
}

/** An end of git that was not expected, with git's own reason. */
export function gitFailed(args: readonly string[], { code, stderr }: GitOutcome): RametError {
  const reason = describeError(stderr).slice(0, 500) || `it exited with ${code}`;
  return new RametError('git_failed', 'terminal', `git ${commandOf(args)} failed: ${reason}`);
}

export interface GitVersion {
  major: number;
  minor: number;
}

/** Null for a text that tells no version. */
export function parseGitVersion(text: string): GitVersion | null {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor) };
}

export function canMerge(version: GitVersion): boolean {
  return isAtLeast(version, MERGES);
}

export function canMergeMany(version: GitVersion): boolean {
  return isAtLeast(version, MERGES_MANY);
}

/** Throws for a git that cannot merge without a working tree. */
export async function requireMergingGit(call: GitCall): Promise<GitVersion> {
  const text = (await gitText(['--version'], call)).trim();
  const version = parseGitVersion(text);
  if (version !== null && canMerge(version)) return version;
  throw new UserMistake(
    'git_too_old',
    `ramet merge needs git 2.38 or later and this is "${text}": update git, or merge with git merge in a checkout`,
  );
}

function isAtLeast(version: GitVersion, wanted: GitVersion): boolean {
  return version.major > wanted.major || (version.major === wanted.major && version.minor >= wanted.minor);
}
