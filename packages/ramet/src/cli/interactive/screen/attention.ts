/**
 * Calls a person who looks elsewhere: the bell, a notification of the desktop where the terminal is known to show one, and the
 * title of the window. What is written takes no room on the screen.
 */
import { safeLine } from '../../../views/text/format.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Attention {
  /** A question waits. */
  question(text: string): void;
  /** A turn is over that took this long. */
  turnEnded(forMs: number): void;
  /** What the conversation is about. */
  about(text: string): void;
  /** The window has its own title again. */
  release(): void;
}

/** A shorter turn is waited for. */
const LONG_TURN_MS = 15_000;
const LONGEST_TITLE = 60;
const LONGEST_NOTE = 200;

/** `RAMET_NOTIFY`: `off` for nothing, `title` for the title alone. */
export function createAttention(env: Environment, write: (bytes: string) => void): Attention {
  const wanted = env.RAMET_NOTIFY ?? '';
  const hasTitle = wanted !== 'off' && env.TERM !== 'linux';
  const call = (text: string): void => {
    if (wanted !== 'off' && wanted !== 'title') write(`\u0007${notification(text, env)}`);
  };
  let isTitled = false;
  return {
    question: (text) => call(`Ramet asks: ${text}`),
    turnEnded: (forMs) => {
      if (forMs >= LONG_TURN_MS) call('Ramet is done');
    },
    about(text) {
      if (!hasTitle) return;
      // The terminal keeps the title that was there.
      const keep = isTitled ? '' : '\u001b[22;2t';
      isTitled = true;
      write(`${keep}\u001b]2;ramet: ${plain(text, LONGEST_TITLE)}\u0007`);
    },
    release() {
      if (isTitled) write('\u001b]2;\u0007\u001b[23;2t');
      isTitled = false;
    },
  };
}

/** A multiplexer hides it from the terminal around it; the bell goes through. */
function notification(text: string, env: Environment): string {
  if ((env.TMUX ?? '') !== '' || (env.STY ?? '') !== '') return '';
  const shown = plain(text, LONGEST_NOTE);
  if (/^(?:iTerm\.app|WezTerm|ghostty)$/i.test(env.TERM_PROGRAM ?? '')) return `\u001b]9;${shown}\u0007`;
  if (/kitty/.test(env.TERM ?? '')) return `\u001b]99;;${shown}\u001b\\`;
  return '';
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: none may end the sequence around it
const CONTROLS = /[\u0000-\u001f\u007f-\u009f;]/g;

/** One line without controls, short enough for any terminal. */
function plain(text: string, most: number): string {
  return safeLine(text.slice(0, most)).replace(CONTROLS, ' ').trim();
}
