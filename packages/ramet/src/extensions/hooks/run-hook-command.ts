/**
 * Runs the command of one hook: JSON on standard input, exit code and output back.
 *
 * Invariants
 * 1. The command has a process group of its own. Nothing of the group is left when this resolves, whether the command
 *    ended, was too slow or was interrupted. A daemon with a session of its own carries the owner's mark: it ends with it.
 * 2. The group is noted on disk while it runs: the next start ends what a killed process left.
 * 3. However much is printed, little of it is kept.
 * 4. Its answer is to what it was told: none is taken if someone else has changed its input meanwhile.
 */
import { isUtf8 } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { openedInput } from '../../system/opened-input.ts';
import {
  OWNER_VARIABLE,
  START_VARIABLE,
  signalGroup,
  terminateGroup,
} from '../../system/processes/process-group.ts';
import { AGENT_VARIABLE, type ProcessRegister } from '../../system/processes/process-register.ts';

export interface HookCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  readonly agent: string;
  /** Marks whatever it starts. */
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly processes: ProcessRegister;
  /** Called when its first line says that nobody is to wait for it. */
  readonly onLeft?: (() => void) | undefined;
}

export type HookProcessEnd =
  | {
      readonly code: number | null;
      /** That ended it; null if none did. */
      readonly signal: NodeJS.Signals | null;
      readonly stdout: string;
      /** What it printed is text, as far as it is kept. */
      readonly isText: boolean;
      readonly stderr: string;
      /** It printed more than is kept. */
      readonly isCut: boolean;
    }
  | {
      readonly failure: string;
      /** `absent`: there is no such program, or it may not be run. `disturbed`: from outside. */
      readonly ending: 'timed_out' | 'interrupted' | 'absent' | 'disturbed';
    };

const MOST_OUTPUT = 1 << 20;
const MOST_ERRORS = 64 << 10;
/** How long output is waited for that something out of reach may still hold open. */
const DRAIN_MS = 100;

export async function runHookCommand(command: HookCommand): Promise<HookProcessEnd> {
  if (command.signal.aborted) return { failure: 'it was interrupted', ending: 'interrupted' };
  const expected = command.processes.expect(command.agent);
  using input = openedInput(command.input);
  let child: ChildProcess;
  try {
    const { program, args, cwd, agent, owner } = command;
    const marks = { [AGENT_VARIABLE]: agent, [OWNER_VARIABLE]: owner, [START_VARIABLE]: expected.token };
    const env = { ...command.env, ...marks };
    child = spawn(program, args, {
      cwd,
      env,
      detached: true,
      stdio: [input?.descriptor ?? 'pipe', 'pipe', 'pipe'],
    });
    const problem = await startProblem(child);
    if (problem !== null) return failed(problem);
  } catch (error) {
    return failed(error);
  }
  // It has started, so it has a number.
  const group = child.pid ?? 0;
  const leave = command.processes.enter(group, command.agent, expected);
  expected.settle();
  try {
    const end = await endOf(child, group, command);
    return 'failure' in end || input === null || input.isAsWritten()
      ? end
      : { failure: 'its input was changed while it ran', ending: 'disturbed' };
  } finally {
    leave();
  }

  function failed(error: unknown): HookProcessEnd {
    expected.settle();
    const failure = `it could not be started: ${describeError(error)}`;
    // Without its directory, too, a program is not found.
    const isAbsent = ABSENT.has(Object(error).code) && existsSync(command.cwd);
    return { failure, ending: isAbsent ? 'absent' : 'disturbed' };
  }
}

const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC']);

/** The number is known at once; why a program has no number is told a moment later. */
function startProblem(child: ChildProcess): Promise<unknown> | null {
  if (child.pid !== undefined) {
    child.on('error', () => {});
    return null;
  }
  return new Promise((settle) => child.once('error', settle));
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

async function endOf(child: ChildProcess, group: number, command: HookCommand): Promise<HookProcessEnd> {
  const { clock, timeoutMs, signal } = command;
  const stdout = keep(child.stdout, MOST_OUTPUT);
  tellLeft(child, command.onLeft);
  const stderr = keep(child.stderr, MOST_ERRORS);
  const exited = new Promise<Exit>((settle) =>
    child.once('exit', (code, by) => settle({ code, signal: by })),
  );
  const drained = new Promise<void>((settle) => child.once('close', () => settle()));
  child.stdin?.on('error', () => {});
  child.stdin?.end(command.input);
  const over = new AbortController();
  const stopped = Promise.withResolvers<'timed_out' | 'interrupted'>();
  const unlink = onAbort(signal, () => stopped.resolve('interrupted'));
  void clock.sleep(timeoutMs, over.signal, { keepsAlive: false }).then(() => stopped.resolve('timed_out'));
  try {
    const end = await Promise.race([exited, stopped.promise]);
    if (typeof end === 'string') {
      await terminateGroup(group);
      const failure =
        end === 'interrupted' ? 'it was interrupted' : `it took longer than ${timeoutMs / 1_000} s`;
      return { failure, ending: end };
    }
    // What it left running has no one to report to.
    signalGroup(group, 'SIGKILL');
    await Promise.race([drained, clock.sleep(DRAIN_MS, over.signal, { keepsAlive: false })]);
    return { ...end, ...stdout.read(), stderr: stderr.read().stdout };
  } finally {
    over.abort();
    unlink();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

const LONGEST_FIRST_LINE = 4_096;

function tellLeft({ stdout }: ChildProcess, onLeft: (() => void) | undefined): void {
  if (onLeft === undefined) return;
  let begun = '';
  stdout?.on('data', function look(chunk: Buffer) {
    begun += chunk.toString('utf8');
    const end = begun.indexOf('\n');
    if (end === -1 && begun.length < LONGEST_FIRST_LINE) return;
    stdout.off('data', look);
    if (isLeft(begun.slice(0, Math.max(0, end)))) onLeft();
  });
}

/** `{"async": true}`, with other fields or without. */
export function isLeft(line: string): boolean {
  try {
    return Object(JSON.parse(line)).async === true;
  } catch {
    return false;
  }
}

interface Kept {
  read(): { readonly stdout: string; readonly isText: boolean; readonly isCut: boolean };
}

/** Reads everything and keeps the beginning. */
function keep(stream: ChildProcess['stdout'], most: number): Kept {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = false;
  stream?.on('error', () => {});
  stream?.on('data', (chunk: Buffer) => {
    if (kept + chunk.length > most) cut = true;
    if (kept < most) chunks.push(chunk.subarray(0, most - kept));
    kept = Math.min(most, kept + chunk.length);
  });
  return {
    read() {
      const bytes = Buffer.concat(chunks);
      // A cut can go through a character.
      const isText = !bytes.includes(0) && (cut || isUtf8(bytes));
      return { stdout: bytes.toString('utf8'), isText, isCut: cut };
    },
  };
}
