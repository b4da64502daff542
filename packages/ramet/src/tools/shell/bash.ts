/**
 * Bash runs one command in the agent's directory, in a process group of its own. Its output goes straight to a file,
 * so order is kept, memory stays flat, and what runs on in the background loses nothing.
 *
 * Invariants
 * 1. A call returns when its shell has ended, timed out, was aborted or printed too much; never later because of
 *    something the shell left behind.
 * 2. After a timeout, an abort or too much output nobody of the group is left; what a shell left behind, and every
 *    background command, ends with the agent.
 */

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { plainShell, type ShellDecision, type ShellStart } from '../../sandbox/command-sandbox.ts';
import { describeError, isInterruptionCause, systemCode } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';
import {
  type ProcessEnd,
  type ProcessGroup,
  startProcessGroup,
} from '../../system/processes/process-group.ts';
import { AGENT_VARIABLE } from '../../system/processes/process-register.ts';
import { describeSize } from '../../system/text/visible-text.ts';
import {
  defineTool,
  failure,
  type HeavyPlace,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from '../tool.ts';
import {
  createOutputFile,
  discardOutputFile,
  followOutput,
  keepOutputFile,
  type OutputFile,
  readShownOutput,
  TOO_MUCH_OUTPUT,
  watchOutputSize,
} from './output-file.ts';
import { sandboxDoing } from './sandbox-doing.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** A limit or an outage ends the run: nobody is in a hurry, and half a command is worse than a whole one. */
const PATIENCE_MS = 3_000;

const input = z.strictObject({
  command: z.string().check(z.minLength(1)),
  timeout: z.optional(
    z.int().check(z.minimum(1), z.maximum(MAX_TIMEOUT_MS), z.describe('Milliseconds, default 120000')),
  ),
  description: z.optional(z.string().check(z.describe('What it does, in 5-10 words'))),
  run_in_background: z.optional(z.boolean()),
});

export const bashTool: Tool = defineTool({
  name: 'Bash',
  description:
    'Run a bash command. Every call is a fresh shell in your own directory: cd and variables do not last, so chain ' +
    'with &&. There is no input: use non-interactive flags. Quote paths with spaces. Long output is cut in the middle ' +
    'and kept whole in a file. run_in_background returns at once with a task_id for TaskOutput and TaskStop; use it for ' +
    'servers and watchers. What still runs when you finish is stopped. Use the other tools to read, change, find or search files.',
  effect: 'execute',
  schedule: 'ordered',
  changesFiles: true,
  input,
  access: ({ command }) => ({ command }),
  async run({ command, timeout = DEFAULT_TIMEOUT_MS, run_in_background = false }, context) {
    if (context.signal.aborted) return NOT_BEGUN;
    if (!statSync(context.cwd, { throwIfNoEntry: false })?.isDirectory()) {
      return failure(`Your directory ${context.cwd} no longer exists. No command can run in it.`);
    }
    try {
      const shell = (await context.shell?.(command)) ?? plainShell(command);
      if ('refusal' in shell) return failure(shell.refusal);
      const place = (await context.heavyPlace?.(command)) ?? null;
      // Waiting for it may have taken long.
      if (context.signal.aborted) {
        place?.[Symbol.dispose]();
        return NOT_BEGUN;
      }
      if (run_in_background) return await runInBackground({ command, shell, place }, context);
      using _ = place;
      const run = (where: ShellStart): Promise<TextOutcome> =>
        runInForeground(where, { command, timeout, place }, context);
      const outcome = await run(shell);
      return shell.confined ? await outsideIfStopped(outcome, { command, run }, context) : outcome;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return failure(startFailure(error));
    }
  },
});

const NOT_BEGUN: ToolOutcome = {
  ...failure('Interrupted before the command started.'),
  isNotBegun: true,
};

function start(
  shell: ShellStart,
  output: OutputFile,
  place: HeavyPlace | null,
  context: ToolContext,
): Promise<ProcessGroup> {
  const { agent, cwd, env, expectGroup, registerGroup } = context;
  return startProcessGroup({
    program: shell.program,
    arguments: shell.arguments,
    cwd,
    env: { ...env, ...shell.environment, ...place?.environment, [AGENT_VARIABLE]: agent },
    output: output.descriptor,
    ...{ handed: shell.handed, arrangement: shell.arrangement },
    confined: shell.confined,
    expect: expectGroup,
    register: registerGroup,
  });
}

function startFailure(error: unknown): string {
  if (systemCode(error) !== 'E2BIG') return `The command could not be started: ${describeError(error)}.`;
  return 'The command is too long for the system. Write it to a file and run that.';
}

async function runInForeground(
  shell: ShellStart,
  { command, timeout, place }: { command: string; timeout: number; place: HeavyPlace | null },
  context: ToolContext,
): Promise<TextOutcome> {
  const output = createOutputFile(context.outputDirectory, fileNames(context.call));
  const since = Date.now();
  let group: ProcessGroup;
  try {
    group = await start(shell, output, place, context);
  } catch (error) {
    await discardOutputFile(output);
    throw error;
  }
  const { onOutput, redact } = context;
  const leave = onOutput && followOutput(output, (text) => onOutput(redact(text)));
  const end = await waitForEnd(group, output, timeout, context.signal);
  leave?.();
  if (typeof end === 'string') await group.terminate();
  const outcome = await report(end, group, output, context);
  const note = shell.confined ? null : ((await context.afterCommand?.(command, since)) ?? null);
  return note === null ? outcome : { ...outcome, content: `${outcome.content}\n${note}` };
}

/** How the shell ended, or why it must be ended. */
async function waitForEnd(
  group: ProcessGroup,
  output: OutputFile,
  timeout: number,
  signal: AbortSignal,
): Promise<ProcessEnd | string> {
  const stopped = Promise.withResolvers<string>();
  const stop = (): void => stopped.resolve('Interrupted: the command was stopped.');
  let patience: NodeJS.Timeout | undefined;
  const abort = (): void => {
    if (isInterruptionCause(signal.reason)) patience = setTimeout(stop, PATIENCE_MS);
    else stop();
  };
  const timer = setTimeout(
    () => stopped.resolve(`Timed out after ${timeout} ms: the command was stopped.`),
    timeout,
  );
  const stopWatching = watchOutputSize(output, () => stopped.resolve(TOO_MUCH_OUTPUT));
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([group.ended, stopped.promise]);
  } finally {
    clearTimeout(timer);
    clearTimeout(patience);
    stopWatching();
    signal.removeEventListener('abort', abort);
  }
}

async function report(
  end: ProcessEnd | string,
  group: ProcessGroup,
  output: OutputFile,
  context: ToolContext,
): Promise<TextOutcome> {
  const gap = (size: number): string =>
    `[... the middle of ${describeSize(size)} left out; all of it is in ${output.path} ...]`;
  const { text, cut } = readShownOutput(output, gap);
  const parts = [text === '' ? '(no output)' : text];
  const verdict = describeEnd(end);
  if (verdict !== null) parts.push(verdict);
  if (group.alive()) parts.push(endWithAgent(group, output, context));
  else if (!cut) await discardOutputFile(output);
  else if (!(await keepOutputFile(output, context.redact))) parts.push(`(${output.path} could not be kept.)`);
  const content = parts.join('\n');
  return verdict === null ? { content } : { content, isError: true };
}

/** For what the shell left behind. */
function endWithAgent(group: ProcessGroup, output: OutputFile, context: ToolContext): string {
  const stopWatching = watchOutputSize(output, () => void group.terminate());
  context.onAgentEnd(async () => {
    await group.terminate();
    stopWatching();
    await keepOutputFile(output, context.redact);
  });
  return `(Processes it started are still running. They end when you finish; their output goes to ${output.path}.)`;
}

function describeEnd(end: ProcessEnd | string): string | null {
  if (typeof end === 'string') return end;
  if (end.signal !== null) return `Ended by ${end.signal}.`;
  return end.code === 0 ? null : `Exit code ${end.code}.`;
}

/** Call ids come from the provider: only what is safe in a file name is kept of them. */
function* fileNames(call: string): Generator<string> {
  const name = call.replace(/[^\w-]/g, '_').slice(0, 100);
  yield `${name}.txt`;
  for (let number = 2; ; number++) yield `${name}-${number}.txt`;
}

/**
 * The outcome of a command that ran behind the wall (RES-3): if the sandbox made it fail, a person is asked whether it
 * may run outside; if it may not, its result says what the sandbox did. Nothing is changed silently.
 */
type TextOutcome = ToolOutcome & { content: string };

interface WalledCommand {
  readonly command: string;
  /** Runs it again. */
  run(shell: ShellStart): Promise<TextOutcome>;
}

async function outsideIfStopped(
  inside: TextOutcome,
  { command, run }: WalledCommand,
  { outside, signal }: Pick<ToolContext, 'outside' | 'signal'>,
): Promise<TextOutcome> {
  const doing = sandboxDoing({ output: inside.content, failed: inside.isError === true });
  if (doing === null || outside === undefined || signal.aborted) return inside;
  if (doing.kind === 'doubtful') return withNote(inside, `(It ran in a read-only sandbox: ${doing.reason}.)`);
  const shell = await outside(command, doing.kind === 'owners' ? null : doing.reason);
  if (!isRefusal(shell)) return run(shell);
  if (doing.kind === 'owners')
    return withNote(inside, '(It ran in a sandbox, which shows every other owner as nobody.)');
  const known = shell.refusal.includes(doing.reason);
  return withNote(
    inside,
    `${known ? '' : `The read-only sandbox stopped it: ${doing.reason}. `}${shell.refusal}`,
  );
}

function isRefusal(shell: ShellDecision): shell is Extract<ShellDecision, { refusal: string }> {
  return 'refusal' in shell;
}

function withNote(outcome: TextOutcome, note: string): TextOutcome {
  return { ...outcome, content: `${outcome.content}\n${note}` };
}

/** The directory is the counter: a name is taken by creating its file, so ids stay unique after a restart too. */
function* taskNames(): Generator<string> {
  for (let number = 1; ; number++) yield `bash-${number}.txt`;
}

async function runInBackground(
  { command, shell, place }: { command: string; shell: ShellStart; place: HeavyPlace | null },
  context: ToolContext,
): Promise<ToolOutcome> {
  const output = createOutputFile(context.outputDirectory, taskNames());
  const since = Date.now();
  let group: ProcessGroup;
  try {
    group = await start(shell, output, place, context);
  } catch (error) {
    place?.[Symbol.dispose]();
    await discardOutputFile(output);
    throw error;
  }
  group.release();
  const task = context.tasks.add(basename(output.path, '.txt'), context.call, group);
  const stopWatching = watchOutputSize(output, () => void task.stop('output limit'));
  place?.keepUntil(task.ended);
  void task.ended.then(() => context.afterCommand?.(command, since));
  context.onAgentEnd(async () => {
    await task.stop('agent end');
    stopWatching();
    await keepOutputFile(output, context.redact);
  });
  const where = shell.confined ? ' It runs in a read-only sandbox without network.' : '';
  return {
    content: `Started ${task.id} (pid ${group.id}). Follow it with TaskOutput, or Read ${output.path}. It is stopped when you finish.${where}`,
  };
}
