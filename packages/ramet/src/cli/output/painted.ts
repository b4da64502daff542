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
  verifying: 'cyan',
  frozen: 'red',
  landed: 'green',
  integrated: 'green',
  conflict: 'red',
};

/** `NAME   COST, CACHED`: several words, or one that begins a part of a table; never a row, which has figures or names. */
const HEADINGS = /^\s*[A-Z][A-Z]+(?:[ ,()/]+[A-Z]+)*\)?\s*$/;
const SUM = /^TOTAL\b/;

/** Tables with headings, one below the other: those bold, and the word below `STATUS` or `STATE` by what it says. */
export function paintTable(text: string, style: TextStyle): string {
  let column = -1;
  const paint = (line: string): string => {
    if (line === '') column = -1;
    if (HEADINGS.test(line)) {
      column = line.search(/\bSTAT(?:US|E)\b/);
      return style.bold(line);
    }
    if (SUM.test(line)) return style.bold(line);
    return column === -1 ? line : paintStatus(line, column, style);
  };
  return text.split('\n').map(paint).join('\n');
}

/** `name   value`, with a line above that names their subject: the names recede. */
export function paintFields(text: string, style: TextStyle): string {
  const paint = (line: string): string => {
    if (/^(?:request|session) \S/.test(line)) return style.bold(line);
    const [name = ''] = /^ {0,2}[a-z][a-z ]*?(?= {2,}\S)/.exec(line) ?? [];
    return style.dim(name) + line.slice(name.length);
  };
  return text.split('\n').map(paint).join('\n');
}

/** Lists below a line of their own: those lines are bold. */
export function paintGroups(text: string, style: TextStyle): string {
  const lines = text.split('\n');
  return lines
    .map((line, at) => (lines[at + 1]?.startsWith('  ') && /^\S/.test(line) ? style.bold(line) : line))
    .join('\n');
}

/** The first word of each line, such as `keep` or a commit. */
export function paintFirst(text: string, style: TextStyle): string {
  return text.replace(/^[a-z0-9]\S*(?= {2,}\S)/gm, (word) => style.yellow(word));
}

/** A part of a conversation: who speaks, and whose it is. */
export function paintSpeaker(text: string, style: TextStyle): string {
  return text
    .replace(/^\[[^\]\n]+\]/, (who) => style.cyan(who))
    .replace(/^(?:session|agent) \S[^\n]*/, (line) => style.bold(line));
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
