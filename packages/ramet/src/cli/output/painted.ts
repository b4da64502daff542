/** Colours for what views print on a terminal. The text itself is made without them, so its columns are right. */
import { type TextStyle, textStyle, wantsColours } from '../interactive/screen/text-style.ts';
import type { CommandIo } from '../io.ts';

/** Colours where a person reads on a screen that shows them, and did not turn them off. */
export function styleFor({ isTerminal, env }: Pick<CommandIo, 'isTerminal' | 'env'>): TextStyle {
  return textStyle(isTerminal && env.TERM !== 'dumb' && wantsColours(env));
}

type Colour = Exclude<keyof TextStyle, 'bold'>;

const STATUS: Readonly<Record<string, Colour>> = {
  running: 'cyan',
  waiting: 'cyan',
  queued: 'dim',
  blocked: 'yellow',
  interrupted: 'yellow',
  cancelled: 'yellow',
  done: 'green',
  failed: 'red',
  timed_out: 'red',
};

/** The headings bold, and the word below `STATUS` by what it says. */
export function paintTable(text: string, style: TextStyle): string {
  const [headings = '', ...lines] = text.split('\n');
  const column = headings.indexOf('STATUS');
  const painted = column === -1 ? lines : lines.map((line) => paintStatus(line, column, style));
  return [style.bold(headings), ...painted].join('\n');
}

/** Only a word that is a status: a line may have no such column. */
function paintStatus(line: string, column: number, style: TextStyle): string {
  const [word = ''] = /^\w+/.exec(line.slice(column)) ?? [];
  const colour = Object.hasOwn(STATUS, word) ? STATUS[word] : undefined;
  if (colour === undefined || /\S/.test(line[column - 1] ?? ' ')) return line;
  return line.slice(0, column) + style[colour](word) + line.slice(column + word.length);
}

/** A patch in git's format. */
export function paintDiff(text: string, style: TextStyle): string {
  return text
    .split('\n')
    .map((line) => {
      if (/^(?:diff --git|index|new file|deleted file|--- |\+\+\+ )/.test(line)) return style.bold(line);
      if (line.startsWith('@@')) return style.cyan(line);
      if (line.startsWith('+')) return style.green(line);
      return line.startsWith('-') ? style.red(line) : line;
    })
    .join('\n');
}

/** `2026-11-16 14:05:09.123  agent  what happened`: the time recedes. */
export function paintEvent(line: string, style: TextStyle): string {
  const end = line.indexOf('  ');
  return end === -1 ? line : style.dim(line.slice(0, end)) + line.slice(end);
}
