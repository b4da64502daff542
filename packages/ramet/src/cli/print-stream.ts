/** `ramet -p --input-format stream-json`: one session, a prompt a line, and a result for each. */
import { UserMistake } from '../schema/errors.ts';
import { keepCompileCache } from '../sdk/compile-cache.ts';
import type { PromptContent } from '../sdk/index.ts';
import { openSession } from '../sdk/session/session.ts';
import { declining, follow, givenSchema, type PrintOptions, sessionOptions } from './commands/print.ts';
import { type CommandIo, EXIT, exitCodeOf } from './io.ts';
import { sessionNotes, tellingChanges } from './output/result-output.ts';
import { streamJsonOutput } from './output/stream-json.ts';
import { inputLines } from './stream-input.ts';

/** An argument is the first prompt. Exits with the code of the first run that failed, or with 2 for lines that were wrong. */
export async function printStream(
  argument: string,
  options: PrintOptions,
  resume: string | undefined,
  io: CommandIo,
): Promise<number> {
  const input = io.piped?.() ?? null;
  if (input === null)
    throw new UserMistake('no_prompt', '--input-format stream-json reads standard input: pipe lines into it');
  const schema = options.jsonSchema === undefined ? {} : await givenSchema(options.jsonSchema, io);
  let output = streamJsonOutput(io);
  const onRecord = tellingChanges(
    (line) => io.note(line),
    (agent, event) => output.record?.(agent, event),
  );
  await using session = await openSession({
    ...sessionOptions(options, resume, io),
    onRecord,
    elicit: declining(io),
  });
  using _ = keepCompileCache(io.env, session);
  for (const note of sessionNotes(session, io, resume !== undefined || options.model !== undefined))
    io.note(note);
  output.start(session);
  let code: number = EXIT.done;
  let wrong = 0;
  const run = async (prompt: PromptContent): Promise<void> => {
    const result = await follow(session, prompt, output, {
      ...{ signal: io.signal, partial: options.includePartialMessages ?? false, ...schema },
      ...(typeof prompt === 'string' && { commands: true, typed: true }),
    });
    code ||= exitCodeOf(result);
    output = streamJsonOutput(io, session);
  };
  if (argument.trim() !== '') await run(argument);
  for await (const line of inputLines(input)) {
    if (io.signal.aborted) break;
    if ('prompt' in line) await run(line.prompt);
    else {
      wrong += 1;
      output.wrongLine(session, line);
      io.note(`line ${line.number} of standard input: ${line.problem}`);
    }
  }
  return code || (wrong > 0 ? EXIT.wrongUse : EXIT.done);
}
