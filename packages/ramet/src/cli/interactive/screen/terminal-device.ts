/** The terminal of this process: keys as they are pressed, its size, and whether it is still there. */
import { createKeyParser, type Key } from '../editor/key-parser.ts';
import { createScreenQuestion, HELD_MS, type SeenScreen } from './screen-question.ts';
import { createTerminalOutput, unwaitingStdout } from './terminal-output.ts';

/** Disposing of it puts the terminal back into the state it was in. */
export interface TerminalDevice extends Disposable {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** It has not taken all that was written: what is drawn now would only wait. */
  readonly isBehind: boolean;
  /** What the terminal itself says about its size and its cursor, after all that was written; null when it does not answer. */
  ask(): Promise<SeenScreen | null>;
  /** Another program has the terminal until `work` ends. */
  lend(work: () => Promise<void>): Promise<void>;
}

export interface TerminalListener {
  key(key: Key): void;
  /** All keys that arrived together have been told of. */
  keysTaken(): void;
  resized(): void;
  /** Nothing can be read or written any more. */
  gone(): void;
}

const BRACKETED_PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' };
/** How long an Escape may be the beginning of a longer sequence. */
const ESCAPE_MS = 30;
/** A paste whose end has not come after this long is over: a link that breaks would lock the keyboard. */
const PASTE_SILENCE_MS = 3_000;

/** Takes the terminal over until it is disposed of. */
export function openTerminal(listener: TerminalListener): TerminalDevice {
  const { stdin, stdout } = process;
  const parser = createKeyParser();
  const unwaiting = unwaitingStdout();
  const output = createTerminalOutput(unwaiting?.take ?? writeWaiting, () => listener.gone());
  const question = createScreenQuestion((bytes) => output.write(bytes));
  let timer: NodeJS.Timeout | undefined;
  const take = (keys: readonly Key[]): void => {
    for (const key of keys) listener.key(key);
    if (keys.length > 0) listener.keysTaken();
  };
  const takeTyped = (typed: string): void => {
    if (typed !== '') take(parser.feed(typed));
    if (question.isHolding) timer = setTimeout(() => takeTyped(question.release()), HELD_MS);
    else if (parser.waiting !== null)
      timer = setTimeout(
        () => take(parser.flush()),
        parser.waiting === 'escape' ? ESCAPE_MS : PASTE_SILENCE_MS,
      );
  };
  const onData = (chunk: string): void => {
    clearTimeout(timer);
    takeTyped(question.typedOf(chunk));
  };
  const onResize = (): void => listener.resized();
  const onGone = (): void => listener.gone();
  let isLent = false;
  // Who stopped this process from outside, and the shell that continued it, have left the terminal in its usual mode.
  const onContinued = (): void => {
    if (isLent) return;
    // It is set only when it is not set yet, as far as Node knows.
    stdin.setRawMode(false).setRawMode(true);
    output.write(BRACKETED_PASTE.on);
    listener.resized();
  };
  process.on('SIGCONT', onContinued);
  stdin.setEncoding('utf8').setRawMode(true);
  stdin.on('data', onData).on('error', onGone).on('end', onGone).on('close', onGone);
  // A question before this has paused it.
  stdin.resume();
  stdout.on('resize', onResize).on('error', onGone);
  output.write(BRACKETED_PASTE.on);
  return {
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    write: (text) => output.write(text),
    get isBehind() {
      return output.isBehind;
    },
    ask: question.ask,
    async lend(work) {
      // Its answer is not for the other program.
      await question.answered();
      clearTimeout(timer);
      isLent = true;
      stdin.off('data', onData);
      output.write(BRACKETED_PASTE.off);
      output.flush();
      restore(stdin);
      try {
        await work();
      } finally {
        isLent = false;
        stdin.setRawMode(true).on('data', onData).resume();
        output.write(BRACKETED_PASTE.on);
      }
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      process.off('SIGCONT', onContinued);
      stdin.off('data', onData).off('end', onGone).off('close', onGone);
      stdout.off('resize', onResize);
      if (!stdout.destroyed) output.write(BRACKETED_PASTE.off);
      output.flush();
      output[Symbol.dispose]();
      unwaiting?.close();
      restore(stdin);
    },
  };
}

/** Where a write cannot but wait. */
function writeWaiting(bytes: Buffer): number {
  process.stdout.write(bytes);
  return bytes.length;
}

/** A terminal that is gone cannot be put back into its mode, and need not be. */
function restore(stdin: NodeJS.ReadStream): void {
  try {
    stdin.setRawMode(false);
  } catch {
    // It was closed.
  }
  stdin.pause();
}

/** The same device for a terminal that shows no more than ASCII. */
export function inAscii(device: TerminalDevice, forms: (bytes: string) => string): TerminalDevice {
  return {
    get columns() {
      return device.columns;
    },
    get rows() {
      return device.rows;
    },
    write: (text) => device.write(forms(text)),
    get isBehind() {
      return device.isBehind;
    },
    ask: () => device.ask(),
    lend: (work) => device.lend(work),
    [Symbol.dispose]: () => device[Symbol.dispose](),
  };
}
