/** Lines that a command wrote for the status line, as rows: its colours stay, every other control goes. Pure. */
import { displayWidth, fitText, printable } from '../../../views/text/format.ts';
import type { LiveRow } from '../screen/screen.ts';

export interface StatusRowsShape {
  readonly columns: number;
  /** How many rows there is room for. */
  readonly most: number;
  readonly colours: boolean;
  readonly padding: number;
}

/** A longer line is not looked at: no screen shows it. */
const LONGEST_LINE = 8_192;
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls of terminals are what is looked for
const CONTROL_STRINGS = /\u001b[\]PX^_][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?/g;
/** The first group is a colour or another look. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls of terminals are what is looked for
  /(\u001b\[[0-9;:]{0,64}m)|\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]?|\u001b[ -/]{0,8}[0-~]?/g;
const PLAIN_LOOK = '\u001b[0m';

export function statusRows(lines: readonly string[], shape: StatusRowsShape): LiveRow[] {
  return lines.slice(0, shape.most).map((line) => statusRow(line.slice(0, LONGEST_LINE), shape));
}

function statusRow(line: string, { columns, colours, padding }: StatusRowsShape): LiveRow {
  const indent = ' '.repeat(Math.min(padding, Math.max(0, columns - 1)));
  const row = new CutRow(columns, indent);
  const text = line.replaceAll('\t', '  ').replace(CONTROL_STRINGS, '');
  let from = 0;
  for (const { 0: whole, 1: look, index } of text.matchAll(SEQUENCES)) {
    row.add(printable(text.slice(from, index)));
    if (look !== undefined && colours) row.paint(look);
    from = index + whole.length;
  }
  row.add(printable(text.slice(from)));
  return row.end();
}

/** Takes text until the row is full; what turns looks on and off takes no room. */
class CutRow {
  readonly #columns: number;
  #text: string;
  #width: number;
  #isPainted = false;
  #isFull = false;

  constructor(columns: number, indent: string) {
    this.#columns = columns;
    this.#text = indent;
    this.#width = indent.length;
  }

  paint(look: string): void {
    if (this.#isFull) return;
    this.#isPainted = true;
    this.#text += look;
  }

  add(text: string): void {
    if (this.#isFull) return;
    const fitted = fitText(text, this.#columns - this.#width);
    this.#text += fitted;
    this.#width += displayWidth(fitted);
    this.#isFull = fitted !== text;
  }

  end(): LiveRow {
    return { text: this.#isPainted ? this.#text + PLAIN_LOOK : this.#text, width: this.#width };
  }
}
