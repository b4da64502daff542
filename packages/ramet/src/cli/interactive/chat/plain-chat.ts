/**
 * Without a terminal: each line of standard input is a prompt, one after the other in one session, and the
 * answers are plain text. A backslash at the end of a line joins the next one to it.
 */
import { createInterface } from 'node:readline';
import { addAbortSignal, type Readable } from 'node:stream';
import { Cancelled, UserMistake } from '../../../schema/errors.ts';
import { drain } from '../../../schema/generators.ts';
import { type CommandIo, EXIT, exitCodeOf } from '../../io.ts';
import { textOutput } from '../../output/text.ts';
import type { Chat } from './chat.ts';
import { parseChatCommand, pickText, runChatCommand } from './chat-commands.ts';

/**
 * Stops at the first line that fails: what follows was written for when it succeeds. `isTyped`: a person types the lines, and may
 * leave without one.
 */
export async function plainChat(
  chat: Chat,
  input: Readable,
  io: CommandIo,
  isTyped = false,
): Promise<number> {
  let lines = 0;
  for await (const line of promptsFrom(input, io.signal)) {
    lines += 1;
    const code = await carryOut(line, chat, io);
    if (code !== null) return code;
  }
  if (isTyped) chat.endReason = 'prompt_input_exit';
  if (lines > 0 || isTyped) return EXIT.done;
  throw new UserMistake(
    'no_prompt',
    'standard input holds no prompt: write one a line, or give it with -p (see ramet --help)',
  );
}

/** The exit code when this line is the last. */
async function carryOut(line: string, chat: Chat, io: CommandIo): Promise<number | null> {
  const command = parseChatCommand(line);
  if (command !== null) {
    const answer = await runChatCommand(command, { chat, io, signal: io.signal });
    const shown = answer.open === undefined ? answer.text : `without a terminal: ramet show ${answer.open}`;
    const text = answer.pick === undefined ? shown : pickText(answer.pick);
    if (text !== '') io.out(`${text.trimEnd()}\n`);
    if (answer.prompt !== undefined) return carryOut(answer.prompt, chat, io);
    if (answer.leave) chat.endReason = 'prompt_input_exit';
    return answer.leave ? EXIT.done : null;
  }
  const session = await chat.open(line);
  const output = textOutput(io);
  const events = chat.run(line, { signal: io.signal });
  const result = await drain(events, (event) => output.event(session, event));
  output.end(session, result);
  return result.status === 'done' ? null : exitCodeOf(result);
}

async function* promptsFrom(input: Readable, signal: AbortSignal): AsyncGenerator<string> {
  let begun = '';
  try {
    for await (const line of createInterface({ input: addAbortSignal(signal, input), crlfDelay: Infinity })) {
      if (line.endsWith('\\')) {
        begun += `${line.slice(0, -1)}\n`;
        continue;
      }
      const prompt = begun + line;
      begun = '';
      if (prompt.trim() !== '') yield prompt;
    }
  } catch (error) {
    throw signal.aborted ? new Cancelled(`interrupted (${signal.reason})`, { cause: error }) : error;
  }
  if (begun.trim() !== '') yield begun;
}
