/** Puts the parts of a terminal conversation together, and leaves the terminal as it was found. */
import type { SessionOptions } from '../../sdk/options.ts';
import { findPlace } from '../../sdk/place.ts';
import { VERSION } from '../../sdk/version.ts';
import { EXIT, exitCodeOf } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';
import { Chat } from './chat.ts';
import { openPromptHistory } from './prompt-history.ts';
import { QuestionDesk } from './question-desk.ts';
import { TerminalChat } from './terminal-chat.ts';
import { openTerminal } from './terminal-device.ts';
import { TerminalView } from './terminal-view.ts';
import { textStyle, wantsColours } from './text-style.ts';

export async function runOnTerminal(options: SessionOptions, io: CommandIo): Promise<number> {
  const desk = new QuestionDesk(() => terminal.questionChanged());
  await using chat = new Chat({ ...options, broker: desk }, io);
  // A session that cannot be resumed is told of before the terminal is taken over.
  if (options.resume !== undefined) await chat.open();
  const style = textStyle(wantsColours(io.env));
  const exitNow = (code: number): void => {
    view.close();
    device[Symbol.dispose]();
    process.exit(code);
  };
  const history = openPromptHistory(findPlace(io).project);
  const terminal = new TerminalChat({ chat, desk, history, io, style, exitNow });
  const leaveBySignal = (): void => {
    const cause = String(io.signal.reason);
    terminal.leave(exitCodeOf({ status: 'interrupted', cause }), cause);
  };
  using device = openTerminal({
    key: (key) => terminal.key(key),
    keysTaken: () => view.now(),
    resized: () => view.resized(),
    gone: () => terminal.leave(EXIT.interrupted, 'SIGHUP'),
  });
  const view = new TerminalView(device, style, () => terminal.liveState);
  view.print(`${style.bold(`ramet ${VERSION}`)} in ${io.cwd} ${style.dim('(/help)')}\n`);
  io.signal.addEventListener('abort', leaveBySignal);
  try {
    return await terminal.start(view);
  } finally {
    io.signal.removeEventListener('abort', leaveBySignal);
    const id = chat.session?.id;
    if (id !== undefined) view.print(style.dim(`session ${id}; go on with: ramet --resume ${id}\n`));
    view.close();
  }
}
