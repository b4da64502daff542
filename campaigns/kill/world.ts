/**
 * The place of one round: a repository, a home and a temporary directory of its own, and real `ramet` processes from
 * the built bundle. It owns starting and ending processes, each by its id, and leaves nothing behind.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../packages/ramet/src/cli/program.ts';
import { sessionOfFile, sessionPath } from '../../packages/ramet/src/journal/session-file.ts';
import { findPlace } from '../../packages/ramet/src/sdk/place.ts';
import type { RoundPlan } from './plan.ts';
import { describeProcess, endProcess, processesIn } from './processes.ts';

const COMMAND = join(import.meta.dirname, '../../packages/ramet/bin/ramet.js');
/** A command that has not ended by then hangs, unless its world knows better. */
const LONGEST_RUN_MS = 60_000;
/** Directories of worktrees are deleted at the lowest priority, by a program that outlasts the command and ends by itself. */
const LONGEST_DELETION_MS = 60_000;
/** Also of a process that is just ending: it has no command line any more. */
const DELETION = /^\d+ (?:rm -rf .*\/\.trash\/.*)?$/;

export interface RunEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  hung: boolean;
  ms: number;
}

export interface Run {
  readonly pid: number;
  readonly ended: Promise<RunEnd>;
  readonly isOver: boolean;
  /** What it has printed so far. */
  readonly stdout: string;
}

export interface WorldOptions {
  /** When it is aborted, what runs is killed and nothing more is waited for. */
  stopped?: AbortSignal | undefined;
  /** A directory that exists; one that holds a repository already is used as it is. */
  root?: string;
  /** Each command leads a process group, so that all of it can be killed at once. */
  hasGroups?: boolean;
  /** How long a command may take that takes long: asked then, since it depends on how busy the machine is now. */
  longestRun?: (() => Promise<number>) | undefined;
}

/** What a place is made of. */
export type PlaceParts = Pick<RoundPlan, 'env' | 'settings' | 'files'>;

export class World implements AsyncDisposable {
  readonly root: string;
  readonly repository: string;
  readonly #env: Record<string, string | undefined>;
  readonly #runs: Run[] = [];

  readonly #stopped: AbortSignal | undefined;
  readonly #hasGroups: boolean;
  readonly #longestRun: (() => Promise<number>) | undefined;

  constructor(
    plan: PlaceParts,
    url: string,
    { stopped, root, hasGroups = false, longestRun }: WorldOptions = {},
  ) {
    this.#longestRun = longestRun;
    this.#stopped = stopped;
    this.#hasGroups = hasGroups;
    this.root = root ?? realpathSync(mkdtempSync(join(tmpdir(), 'ramet-kill-')));
    this.repository = join(this.root, 'repository');
    const isFilled = existsSync(this.repository);
    for (const name of ['repository', 'home', 'tmp']) mkdirSync(join(this.root, name), { recursive: true });
    this.#env = {
      PATH: process.env.PATH,
      HOME: join(this.root, 'home'),
      TMPDIR: join(this.root, 'tmp'),
      RAMET_HOME: join(this.root, 'ramet'),
      RAMET_STRICT_PREFIX: '1',
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'campaign',
      ...plan.env,
    };
    if (isFilled) return;
    if (plan.settings !== null) this.#writeSettings(plan.settings);
    fillRepository(this.repository, plan.files);
  }

  #writeSettings(settings: Record<string, unknown>): void {
    mkdirSync(join(this.root, 'ramet'), { mode: 0o700 });
    writeFileSync(join(this.root, 'ramet/settings.json'), JSON.stringify(settings));
  }

  /** The environment of the commands. */
  get env(): Readonly<Record<string, string | undefined>> {
    return this.#env;
  }

  get project(): string {
    return findPlace({ cwd: this.repository, env: this.#env }).project;
  }

  start(...args: string[]): Run {
    return this.startUnder([], ...args);
  }

  /** The command as the argument of another program, such as one that makes its system calls fail. */
  startUnder(under: readonly string[], ...args: string[]): Run {
    const began = performance.now();
    const [program = '', ...rest] = [...under, process.execPath, COMMAND, ...args];
    const child = spawn(program, rest, {
      cwd: this.repository,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: this.#hasGroups,
    });
    let over = false;
    const kill = (): void => void child.kill('SIGKILL');
    this.#stopped?.addEventListener('abort', kill);
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    const ended = endOf(child, { began, printed: () => stdout, longestRun: this.#longestRun }).finally(() => {
      over = true;
      this.#stopped?.removeEventListener('abort', kill);
    });
    const run: Run = {
      pid: child.pid ?? 0,
      ended,
      get isOver() {
        return over;
      },
      get stdout() {
        return stdout;
      },
    };
    this.#runs.push(run);
    return run;
  }

  /** A command that only reads, in this process: a start would cost more than the reading. */
  async look(...args: string[]): Promise<{ code: number; text: string }> {
    let text = '';
    const say = (piece: string): void => {
      text += piece;
    };
    const code = await runProgram(args, {
      out: say,
      note: say,
      isTerminal: false,
      columns: null,
      progress: () => {},
      env: this.#env,
      cwd: this.repository,
      signal: new AbortController().signal,
    });
    return { code, text };
  }

  /** The sessions that have a file, oldest first by name alone. */
  sessions(): string[] {
    try {
      return readdirSync(this.project).flatMap((name) => sessionOfFile(name) ?? []);
    } catch {
      return []; // nothing was recorded yet
    }
  }

  journalFile(session: string): string {
    return sessionPath(this.project, session);
  }

  /** The rate limit that a provider has told of has passed. */
  forgetLimits(): void {
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(this.root, 'ramet', `machine.sqlite${end}`), { force: true });
  }

  /** Files of the repository by path, git's own apart. */
  files(): Record<string, string> {
    const names = readdirSync(this.repository, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.repository.length + 1))
      .filter((name) => !name.startsWith('.git/'))
      .sort();
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(this.repository, name), 'utf8')]));
  }

  effectLogs(): string[] {
    return readdirSync(join(this.repository, 'effects')).filter((name) => name.endsWith('.log'));
  }

  /** Processes that were started in the repository and live; they are given a moment to end, and deletions longer. */
  async leftProcesses(): Promise<string[]> {
    let left: string[] = [];
    for (let tries = 0; tries < LONGEST_DELETION_MS / 20; tries++) {
      left = processesIn(this.root).map(describeProcess);
      if (left.length === 0) return [];
      if (tries >= 50 && !left.every((line) => DELETION.test(line))) return left;
      await sleep(20);
    }
    return left;
  }

  /** Files in the place of temporary ones. */
  leftTemporary(): string[] {
    return readdirSync(join(this.root, 'tmp'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const run of this.#runs.filter(({ isOver }) => !isOver)) endProcess(run.pid);
    await Promise.allSettled(this.#runs.map(({ ended }) => ended));
    // Whatever a defect has left running in here was started by this round.
    for (const pid of processesIn(this.root)) endProcess(pid);
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface WatchedRun extends Pick<WorldOptions, 'longestRun'> {
  began: number;
  printed: () => string;
}

function endOf(child: ChildProcess, { began, printed, longestRun }: WatchedRun): Promise<RunEnd> {
  let [stderr, hung] = ['', false];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const giveUp = (): void => {
    hung = child.exitCode === null && child.signalCode === null;
    child.kill('SIGKILL');
  };
  let timer = setTimeout(async () => {
    const left = (longestRun === undefined ? 0 : await longestRun()) - (performance.now() - began);
    timer = setTimeout(giveUp, Math.max(0, left));
    if (child.exitCode !== null || child.signalCode !== null) clearTimeout(timer);
  }, LONGEST_RUN_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      // Output is read by then, unless a process that inherited it still holds it: no one waits for that.
      const done = (): void =>
        resolve({ code, signal, stdout: printed(), stderr, hung, ms: performance.now() - began });
      const late = setTimeout(done, 500);
      child.once('close', () => {
        clearTimeout(late);
        done();
      });
    });
  });
}

function fillRepository(directory: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  const identity = ['-c', 'user.name=Campaign', '-c', 'user.email=campaign@example.invalid'];
  const git = (...args: string[]): void =>
    void execFileSync('git', [...identity, ...args], { cwd: directory, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message=start');
}
