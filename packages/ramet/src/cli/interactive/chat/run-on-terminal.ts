/** Puts the parts of a terminal conversation together, and leaves the terminal as it was found. */
import { openPromptHistory } from '../../../sdk/calls/prompt-history.ts';
import type { SessionOptions } from '../../../sdk/options.ts';
import { findPlace, type Place } from '../../../sdk/place.ts';
import { VERSION } from '../../../sdk/version.ts';
import { safeLine } from '../../../views/text/format.ts';
import { type CommandIo, EXIT, exitCodeOf } from '../../io.ts';
import { OutsideLetters } from '../record/outside-letters.ts';
import { createAttention } from '../screen/attention.ts';
import { asciiForms, hasUnicode, lookOf } from '../screen/terminal-abilities.ts';
import { inAscii, openTerminal } from '../screen/terminal-device.ts';
import { TerminalView } from '../screen/terminal-view.ts';
import { type TextStyle, textStyle, wantsColours } from '../screen/text-style.ts';
import { Chat } from './chat.ts';
import { QuestionDesk } from './questions/question-desk.ts';
import { TerminalChat } from './terminal-chat.ts';

/** `first` is carried out at once: a prompt, or a command. */
export async function runOnTerminal(
  options: SessionOptions,
  io: CommandIo,
  first: string | null = null,
): Promise<number> {
  const desk = new QuestionDesk((withdrawn) => terminal.questionChanged(withdrawn));
  let note = (line: string): void => io.note(line);
  const letters = new OutsideLetters();
  const onRecord: SessionOptions['onRecord'] = (agent, event) => {
    letters.recorded(agent, event);
    options.onRecord?.(agent, event);
  };
  await using chat = new Chat(
    { ...options, broker: desk, onRecord, onSuggestions: () => view.soon() },
    io,
    (line) => note(line),
    (event) => terminal.childActed(event),
  );
  // A session that cannot be resumed is reported before the terminal is taken over.
  if (options.resume !== undefined) await chat.open();
  else if (options.agent !== undefined)
    await (await import('../../../sdk/calls/session-defaults.ts')).refuseUnknownType(options, options.agent);
  const place = findPlace(io);
  const style = textStyle(wantsColours(io.env));
  const history = openPromptHistory(place.project);
  const attention = createAttention(io.env, (bytes) => device.write(bytes));
  const release = (): void => {
    terminal[Symbol.dispose]();
    view.print(style.dim(goodbye(chat)));
    view.close();
    attention.release();
    device[Symbol.dispose]();
    // What hooks of its end say comes when the session closes.
    note = (line) => io.note(line);
  };
  const exitNow = (code: number): void => {
    release();
    process.exit(code);
  };
  const look = lookOf(io.env);
  const terminal = new TerminalChat({ chat, desk, letters, history, io, style, look, attention, exitNow });
  const opened = openTerminal({
    key: (key) => terminal.key(key),
    keysTaken: () => view.now(),
    resized: () => view.resized(),
    gone: () => terminal.leave(EXIT.hungUp, 'SIGHUP'),
  });
  const device = hasUnicode(io.env) ? opened : inAscii(opened, asciiForms);
  const view = new TerminalView(device, style, look, () => terminal.liveState);
  note = (line) => view.print(`${style.yellow(safeLine(line))}\n`);
  try {
    view.print(greeting(place, options.agent, style));
    leaveOnSignal(terminal, io.signal);
    const code = await terminal.start(view, first);
    const isLeft = !io.signal.aborted && code !== EXIT.hungUp;
    if (isLeft) chat.endReason = 'prompt_input_exit';
    return code;
  } finally {
    release();
  }
}

function leaveOnSignal(terminal: TerminalChat, signal: AbortSignal): void {
  const leave = (): void => {
    const cause = String(signal.reason);
    terminal.leave(exitCodeOf({ status: 'interrupted', cause }), cause);
  };
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
}

function greeting({ cwd }: Place, agent: string | undefined, style: TextStyle): string {
  const as = agent === undefined ? '' : ` as ${safeLine(agent)}`;
  return `${style.bold(`ramet ${VERSION}`)} in ${safeLine(cwd)}${as} ${style.dim('(/help)')}\n`;
}

export function goodbye({
  session,
  hasUnsent,
}: Pick<Chat, 'hasUnsent'> & { session: { id: string } | null }): string {
  if (session === null) return '';
  const unsent = hasUnsent
    ? 'the output of the last command was not sent and is not kept: run it again\n'
    : '';
  return `${unsent}session ${session.id}; resume with: ramet --resume ${session.id}\n`;
}
