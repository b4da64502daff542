/** `ramet -p`: one prompt in, one result out. The main path in docs/architecture.md leads through it. */
import { UserMistake } from '../../schema/errors.ts';
import { drain } from '../../schema/generators.ts';
import { keepCompileCache } from '../../sdk/compile-cache.ts';
import type { AgentResult, AnswerServer, JsonSchema, PromptContent } from '../../sdk/index.ts';
import { openSession, type PromptOptions, refuseBadSchema, type Session } from '../../sdk/session/session.ts';
import { visibleLine } from '../../views/text/format.ts';
import { type CommandIo, exitCodeOf, withEnvironment } from '../io.ts';
import { jsonArgument } from '../json-argument.ts';
import { nearWord } from '../near-word.ts';
import { jsonOutput } from '../output/result-object.ts';
import { type ResultOutput, sessionNotes, tellingChanges, tellingItsEnd } from '../output/result-output.ts';
import { streamJsonOutput } from '../output/stream-json.ts';
import { textOutput } from '../output/text.ts';
import { FIRST_BYTE_MS, readPiped, SILENCE_MS } from '../piped-input.ts';
import {
  idleFlag,
  nothingToFork,
  nothingToTakeOver,
  schemaWithoutPrint,
  streamWithout,
  withoutPrint,
  withoutPrompt,
} from '../print-mistakes.ts';
import { environmentOf, type PrintOptions, sessionOptions } from '../print-options.ts';

/** `commands` are the names of the others, for a misspelt one; none where the argument cannot be one. */
export async function print(
  argument: string,
  options: PrintOptions,
  process: CommandIo,
  commands: readonly string[],
): Promise<number> {
  const io = withEnvironment(process, environmentOf(options, process));
  const named = options.resume === true ? 'latest' : options.resume;
  const resume = named ?? (options.continue ? 'latest' : undefined);
  if (options.takeOver && resume === undefined) throw nothingToTakeOver();
  const idle = idleFlag(options);
  if (idle !== null) throw idle;
  if (!options.print) {
    if (options.jsonSchema !== undefined) throw schemaWithoutPrint();
    if (options.inputFormat === 'stream-json') throw streamWithout('it is for -p');
    const { chat, isAttended } = await import('./chat.ts');
    const meant = argument === '' ? null : nearWord(argument.split(' ')[0] ?? '', commands);
    if (argument !== '' && (meant !== null || !isAttended(io))) throw withoutPrint(argument, meant);
    // A person chooses; a script gets the latest.
    const chooses = options.resume === true && isAttended(io);
    if (chooses && options.forkSession) throw nothingToFork();
    const attended = { ...sessionOptions(options, chooses ? undefined : resume, io), attended: true };
    return chat(attended, io, chooses ? '/resume' : argument || null);
  }
  if (options.inputFormat === 'stream-json') {
    if (options.outputFormat !== 'stream-json')
      throw streamWithout('give --output-format stream-json with it');
    return carryOutStream(argument, options, resume, io);
  }
  const prompt = await promptFrom(argument, resume !== undefined, io);
  return carryOut(prompt, options, resume, io);
}

/** Runs a prompt, or what a session that is resumed has left to do, and prints the outcome. */
export async function carryOut(
  prompt: string | null,
  options: PrintOptions,
  resume: string | undefined,
  io: CommandIo,
): Promise<number> {
  const schema = options.jsonSchema === undefined ? {} : await givenSchema(options.jsonSchema, io);
  const output = OUTPUTS[options.outputFormat](io);
  const { record } = output;
  const wanted = { ...sessionOptions(options, resume, io), ...(prompt !== null && { title: prompt }) };
  const onRecord = tellingChanges((line) => io.note(line), record);
  await using session = await openSession({ ...wanted, onRecord, elicit: declining(io) });
  using _ = keepCompileCache(io.env, session);
  const chosen = resume !== undefined || options.model !== undefined;
  for (const note of sessionNotes(session, io, chosen)) io.note(note);
  output.start(session);
  const result = await follow(session, prompt, output, {
    signal: io.signal,
    partial: options.includePartialMessages ?? false,
    commands: true,
    typed: true,
    ...schema,
  }).catch((error) => {
    // Programs read the last line, also of a prompt that was refused; without a prompt none was.
    if (prompt !== null && error instanceof UserMistake) output.refused?.(session, error.message);
    throw error;
  });
  tellingItsEnd(session, io);
  return exitCodeOf(result);
}

async function carryOutStream(
  first: string,
  options: PrintOptions,
  resume: string | undefined,
  io: CommandIo,
): Promise<number> {
  const schema = options.jsonSchema === undefined ? {} : await givenSchema(options.jsonSchema, io);
  const { printStream } = await import('../print-stream.ts');
  const session = { ...sessionOptions(options, resume, io), elicit: declining(io) };
  const asked = { signal: io.signal, partial: options.includePartialMessages ?? false, ...schema };
  const isChosen = resume !== undefined || options.model !== undefined;
  const replays = options.replayUserMessages ?? false;
  return printStream({ first, session, options: asked, isChosen, replays, follow }, io);
}

/** Nobody is there to answer a server. */
function declining(io: CommandIo): AnswerServer {
  return ({ server, message }) => {
    const said = visibleLine(message.slice(0, 200));
    io.note(`the MCP server ${visibleLine(server)} asked something, and was declined: ${said}`);
    return { action: 'decline' };
  };
}

/** Compiled here, too: nothing is begun for one that cannot be used. */
async function givenSchema(text: string, io: CommandIo): Promise<Pick<PromptOptions, 'schema'>> {
  // Whether it is a schema is checked next.
  const schema = jsonArgument('--json-schema', text, io.cwd) as JsonSchema;
  await refuseBadSchema(schema, '--json-schema');
  return { schema: typeof schema === 'boolean' ? {} : schema };
}

const OUTPUTS: Record<PrintOptions['outputFormat'], (io: CommandIo) => ResultOutput> = {
  text: textOutput,
  json: jsonOutput,
  'stream-json': streamJsonOutput,
};

async function follow(
  session: Session,
  prompt: PromptContent | null,
  output: ResultOutput,
  options: PromptOptions,
): Promise<AgentResult> {
  const events = session.run(prompt, options);
  const result = await drain(events, (event) => {
    if (event.type !== 'result') output.event(session, event);
  });
  output.end(session, result);
  return result;
}

/**
 * The words after -p, and what standard input brings. Null, for a resumed session, continues where it stopped.
 */
async function promptFrom(argument: string, resumed: boolean, io: CommandIo): Promise<string | null> {
  const isEnough = argument.trim() !== '' || resumed;
  const onSilence = (): void => io.note(STILL_OPEN);
  const input = io.piped?.() ?? null;
  const piped =
    input === null
      ? ''
      : await readPiped(input, { signal: io.signal, firstByteMs: FIRST_BYTE_MS, onSilence });
  if (piped === null && isEnough) io.note(NOTHING_CAME);
  const prompt = joinPrompt(argument, piped ?? '');
  if (prompt !== '') return prompt;
  if (resumed) return null;
  throw withoutPrompt(piped === null);
}

/** The argument of `-p` and what was piped, as one prompt. */
export function joinPrompt(argument: string, piped: string): string {
  if (argument.trim() === '') return piped.trim();
  return piped.trim() === '' ? argument : `${argument}\n\n${piped.trimEnd()}`;
}

const NOTHING_CAME =
  `standard input is open and nothing came in ${FIRST_BYTE_MS / 1000} seconds: continuing without it ` +
  '(close it with < /dev/null)';

const STILL_OPEN = `standard input is open and silent: waiting for it to close; gives up after ${SILENCE_MS / 1000} seconds of silence`;
