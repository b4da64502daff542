/** `ramet -p`: one prompt in, one result out. The first step of the main path (docs/architecture.md). */
import { addAbortSignal } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import type { AgentResult } from '../../engine/agent-event.ts';
import { Cancelled, UserMistake } from '../../schema/errors.ts';
import type { ExecutorKind, LaunchMode, SessionMode } from '../../schema/status.ts';
import type { SessionOptions } from '../../sdk/options.ts';
import { openSession, type Session } from '../../sdk/session.ts';
import { exitCodeOf } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';
import { jsonOutput } from '../output/json.ts';
import type { ResultOutput } from '../output/result-output.ts';
import { streamJsonOutput } from '../output/stream-json.ts';
import { textOutput } from '../output/text.ts';
import { sessionNotes } from '../session-notes.ts';

export interface PrintOptions {
  print?: boolean;
  outputFormat: 'text' | 'json' | 'stream-json';
  includePartialMessages?: boolean;
  model?: string;
  fallbackModel?: string;
  maxTurns?: number;
  maxBudgetUsd?: number;
  permissionMode?: SessionMode;
  launch?: LaunchMode;
  executor?: ExecutorKind;
  allowedTools?: string[];
  disallowedTools?: string[];
  continue?: boolean;
  /** True where no session is named. */
  resume?: string | true;
  takeOver?: boolean;
  /** True where no name is given. */
  worktree?: string | true;
  worktreeBase?: string;
}

export async function print(argument: string, options: PrintOptions, io: CommandIo): Promise<number> {
  const named = options.resume === true ? 'latest' : options.resume;
  const resume = named ?? (options.continue ? 'latest' : undefined);
  if (options.takeOver && resume === undefined) throw nothingToTakeOver();
  if (!options.print) {
    if (argument !== '') throw withoutPrint(argument);
    const attended = { ...sessionOptions(options, resume, io), attended: true };
    return (await import('./chat.ts')).chat(attended, io);
  }
  const prompt = await promptFrom(argument, resume !== undefined, io.signal);
  return carryOut(prompt, options, resume, io);
}

/** Runs a prompt, or what a session that is resumed has left to do, and prints what comes of it. */
export async function carryOut(
  prompt: string | null,
  options: PrintOptions,
  resume: string | undefined,
  io: CommandIo,
): Promise<number> {
  const output = OUTPUTS[options.outputFormat](io);
  const { record } = output;
  const wanted = sessionOptions(options, resume, io);
  await using session = await openSession(record === undefined ? wanted : { ...wanted, onRecord: record });
  const chosen = resume !== undefined || options.model !== undefined;
  for (const note of sessionNotes(session, io, chosen)) io.note(note);
  const result = await follow(session, prompt, output, {
    signal: io.signal,
    partial: options.includePartialMessages ?? false,
  });
  return exitCodeOf(result);
}

const OUTPUTS: Record<PrintOptions['outputFormat'], (io: CommandIo) => ResultOutput> = {
  text: textOutput,
  json: jsonOutput,
  'stream-json': streamJsonOutput,
};

async function follow(
  session: Session,
  prompt: string | null,
  output: ResultOutput,
  options: { signal: AbortSignal; partial: boolean },
): Promise<AgentResult> {
  output.start(session);
  const events = session.run(prompt, options);
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) {
      output.end(session, next.value);
      return next.value;
    }
    output.event(session, next.value);
  }
}

function nothingToTakeOver(): UserMistake {
  return new UserMistake(
    'no_session',
    '--take-over is for a session that is resumed: give --resume SESSION or --continue with it',
  );
}

function withoutPrint(argument: string): UserMistake {
  return new UserMistake(
    'not_print',
    `there is no command "${argument}"; give a prompt with -p: ramet -p "what to do" (see ramet --help)`,
  );
}

/** The words after -p, else standard input. Null, for a session that is resumed, goes on where it stopped. */
async function promptFrom(argument: string, resumed: boolean, signal: AbortSignal): Promise<string | null> {
  if (argument.trim() !== '') return argument;
  const piped = process.stdin.isTTY ? '' : (await readInput(signal)).trim();
  if (piped !== '') return piped;
  if (resumed) return null;
  throw new UserMistake(
    'no_prompt',
    'there is no prompt: ramet -p "what to do", or write it to standard input',
  );
}

async function readInput(signal: AbortSignal): Promise<string> {
  try {
    return await readAll(addAbortSignal(signal, process.stdin));
  } catch (error) {
    throw signal.aborted ? new Cancelled(`interrupted (${signal.reason})`, { cause: error }) : error;
  }
}

function sessionOptions(options: PrintOptions, resume: string | undefined, io: CommandIo): SessionOptions {
  const { model, fallbackModel, maxTurns, maxBudgetUsd, permissionMode, allowedTools, disallowedTools } =
    options;
  return {
    cwd: io.cwd,
    env: io.env,
    budget: { usd: maxBudgetUsd },
    permissions: { allow: allowedTools, deny: disallowedTools },
    ...(model === undefined ? {} : { model }),
    ...(fallbackModel === undefined ? {} : { fallbackModel }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(options.launch === undefined ? {} : { launch: options.launch }),
    ...(options.executor === undefined ? {} : { agents: { executor: options.executor } }),
    ...(resume === undefined ? {} : { resume }),
    ...(options.takeOver ? { takeOver: true } : {}),
    ...worktreeOptions(options),
  };
}

/** Who says where it begins wants one. */
function worktreeOptions({
  worktree,
  worktreeBase,
}: PrintOptions): Pick<SessionOptions, 'worktree' | 'worktreeBase'> {
  if (worktreeBase === undefined) return worktree === undefined ? {} : { worktree };
  return { worktree: worktree ?? true, worktreeBase };
}
