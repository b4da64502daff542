/** `ramet -p --input-format stream-json`: one session, a prompt a line, and a result for each. */
import { UserMistake } from '../schema/errors.ts';
import { keepCompileCache } from '../sdk/compile-cache.ts';
import type { AgentResult, PromptContent, PromptOptions, SessionOptions } from '../sdk/index.ts';
import { openSession, type Session } from '../sdk/session/session.ts';
import { answerControl, isForLater } from './control-requests.ts';
import { type CommandIo, EXIT, exitCodeOf } from './io.ts';
import { type ResultOutput, sessionNotes, tellingChanges, tellingItsEnd } from './output/result-output.ts';
import { streamJsonOutput } from './output/stream-json.ts';
import { readAhead } from './read-ahead.ts';
import { type InputLine, inputLines } from './stream-input.ts';

export interface PromptStream {
  /** Comes before those of the stream; empty for none. */
  readonly first: string;
  readonly session: SessionOptions;
  readonly options: PromptOptions;
  /** The user has said which model it is. */
  readonly isChosen: boolean;
  /** Each message is repeated before its run. */
  readonly replays: boolean;
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
  // Who is interrupted does not wait for the next line.
  using reading = new DisposableStack();
  reading.defer(() => void input.destroy());
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
  let current: AbortController | null = null;
  /** Why it was not begun, such as a command that is not there; null if it ran. Programs count on a result for each. */
  const run = async (prompt: PromptContent): Promise<string | null> => {
    const typed = typeof prompt === 'string' ? { commands: true, typed: true } : {};
    const own = new AbortController();
    current = own;
    const signal = AbortSignal.any([io.signal, own.signal]);
    try {
      const result = await stream.follow(session, prompt, output, { ...stream.options, ...typed, signal });
      // One that was to be interrupted has not failed.
      if (!own.signal.aborted) code ||= exitCodeOf(result);
      return null;
    } catch (error) {
      if (error instanceof UserMistake) return error.message;
      throw error;
    } finally {
      current = null;
    }
  };
  /** `number` is null for the prompt of the command line. */
  const carryOut = async (number: number | null, prompt: PromptContent): Promise<void> => {
    const problem = await run(prompt);
    if (problem !== null) tell(number, problem);
    if (problem !== null) output.refused?.(session, problem);
    output = streamJsonOutput(io, session);
  };
  const tell = (number: number | null, problem: string): void => {
    wrong += 1;
    if (number !== null) output.wrongLine(session, { number, problem });
    io.note(number === null ? problem : `line ${number} of standard input: ${problem}`);
  };
  const begun = session.model;
  const controlled = { session, out: io.out, interrupt: () => interrupted(current) };
  const takes = (line: InputLine): boolean => {
    if (!('control' in line) || isForLater(line.control)) return false;
    answerControl(controlled, line.control, begun);
    return true;
  };
  const lines = readAhead(inputLines(input), takes, io.signal);
  if (stream.first.trim() !== '') await carryOut(null, stream.first);
  for await (const line of lines) {
    if ('control' in line) {
      answerControl(controlled, line.control, begun);
      continue;
    }
    if ('prompt' in line && stream.replays) output.replay(session, line.line);
    if ('prompt' in line) await carryOut(line.number, line.prompt);
    else tell(line.number, line.problem);
  }
  tellingItsEnd(session, io);
  return code || (wrong > 0 ? EXIT.wrongUse : EXIT.done);
}

function interrupted(run: AbortController | null): boolean {
  run?.abort('interrupt');
  return run !== null;
}
