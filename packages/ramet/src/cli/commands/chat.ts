/** `ramet` without -p: a conversation on a terminal, or line by line without one (docs/interactive.md). */
import type { SessionOptions } from '../../sdk/options.ts';
import { Chat } from '../interactive/chat/chat.ts';
import type { CommandIo } from '../io.ts';

/** Whether a person can type and read here. */
export function isAttended(io: CommandIo): boolean {
  return process.stdin.isTTY === true && io.isTerminal && io.env.TERM !== 'dumb';
}

/** `first` is carried out at once, on a terminal. */
export async function chat(
  options: SessionOptions,
  io: CommandIo,
  first: string | null = null,
): Promise<number> {
  return isAttended(io) ? onTerminal(options, io, first) : lineByLine(options, io);
}

async function lineByLine(options: SessionOptions, io: CommandIo): Promise<number> {
  const { plainChat } = await import('../interactive/chat/plain-chat.ts');
  await using chat = new Chat(options, io, (line) => io.note(line));
  const isTyped = process.stdin.isTTY === true;
  if (isTyped) {
    const why = io.isTerminal ? 'TERM is dumb' : 'the output is no terminal';
    io.note(`${why}: each line that you type is a prompt; /help lists commands, Ctrl-D leaves`);
  }
  return plainChat(chat, process.stdin, io, isTyped);
}

async function onTerminal(options: SessionOptions, io: CommandIo, first: string | null): Promise<number> {
  await askedAboutTrust(options, io);
  const { runOnTerminal } = await import('../interactive/chat/run-on-terminal.ts');
  return runOnTerminal(options, io, first);
}

/** Only where the folder was trusted: elsewhere nothing is loaded for it. */
async function askedAboutTrust(options: SessionOptions, io: CommandIo): Promise<void> {
  const { isTrustRecorded } = await import('../../sdk/calls/session-defaults.ts');
  if (!isTrustRecorded(options)) return;
  const { askAboutTrust } = await import('../interactive/chat/questions/trust-question.ts');
  await askAboutTrust(io);
}
