/** `ramet -p --input-format stream-json`: one session, a prompt a line, and a result for each. */
import { UserMistake } from '../schema/errors.ts';
import { keepCompileCache } from '../sdk/compile-cache.ts';
import type { AgentResult, PromptContent, PromptOptions, SessionOptions } from '../sdk/index.ts';
import { openSession, type Session } from '../sdk/session/session.ts';
import { type CommandIo, EXIT, exitCodeOf } from './io.ts';
import { type ResultOutput, sessionNotes, tellingChanges } from './output/result-output.ts';
import { streamJsonOutput } from './output/stream-json.ts';
import { inputLines } from './stream-input.ts';

export interface PromptStream {
  /** Comes before those of the stream; empty for none. */
  readonly first: string;
  readonly session: SessionOptions;
  readonly options: PromptOptions;
  /** The user has said which model it is. */
  readonly isChosen: boolean;
  follow(
    session: Session,
    prompt: PromptContent,
    output: ResultOutput,
    options: PromptOptions,
  ): Promise<AgentResult>;
}

/** Exits with the code of the first run that failed, or with 2 for lines that were wrong. */
export async function printStream(stream: PromptStream, io: CommandIo): Promise<number> {
  const input = io.piped?.() ?? null;
  if (input === null)
    throw new UserMistake('no_prompt', '--input-format stream-json reads standard input: pipe lines into it');
  let output = streamJsonOutput(io);
  const onRecord = tellingChanges(
    (line) => io.note(line),
    (agent, event) => output.record?.(agent, event),
  );
  await using session = await openSession({ ...stream.session, onRecord });
  using _ = keepCompileCache(io.env, session);
  for (const note of sessionNotes(session, io, stream.isChosen)) io.note(note);
  output.start(session);
  let code: number = EXIT.done;
  let wrong = 0;
  const run = async (prompt: PromptContent): Promise<void> => {
    const typed = typeof prompt === 'string' ? { commands: true, typed: true } : {};
    const result = await stream.follow(session, prompt, output, { ...stream.options, ...typed });
    code ||= exitCodeOf(result);
    output = streamJsonOutput(io, session);
  };
  if (stream.first.trim() !== '') await run(stream.first);
  for await (const line of inputLines(input)) {
    if (io.signal.aborted) break;
    const problem = 'prompt' in line ? await refusalOf(run(line.prompt)) : line.problem;
    if (problem === null) continue;
    wrong += 1;
    output.wrongLine(session, { number: line.number, problem });
    io.note(`line ${line.number} of standard input: ${problem}`);
  }
  return code || (wrong > 0 ? EXIT.wrongUse : EXIT.done);
}

/** Why a prompt was not begun, such as an image that cannot be read or a command that is not there; null if it ran. */
async function refusalOf(run: Promise<void>): Promise<string | null> {
  try {
    await run;
    return null;
  } catch (error) {
    if (error instanceof UserMistake) return error.message;
    throw error;
  }
}
