/**
 * Paragraphs whose Markdown nobody writes by hand: thousands of brackets without a blank line. The time to parse one grows with its
 * length times its brackets (`[a](` 50,000 times takes a minute), and everybody in the process would stand still. These are not
 * parsed; their lines are named, so that nobody takes them for read.
 */

/** Of one paragraph, and of all together: its length times its brackets. All together take less than half a second. */
const MOST_OF_ONE = 5_000_000;
const MOST = 50_000_000;

/** What is left of what may be parsed. */
export interface ParsingBudget {
  left: number;
}

export function newParsingBudget(): ParsingBudget {
  return { left: MOST };
}

/** Lines from 0; `end` is behind the last. */
export interface DenseLines {
  readonly start: number;
  readonly end: number;
}

/** Where a paragraph ends for every reader: a blank line, or one that begins an item of a list. */
const BREAK = /^(?:\s*$| {0,3}[-*+] +\S)/;
const BRACKET = /[[<]/g;

/** Those that do not fit into the budget, from which the others are taken. */
export function denseParagraphs(
  lines: readonly string[],
  budget: ParsingBudget = newParsingBudget(),
): DenseLines[] {
  const dense: DenseLines[] = [];
  const close = (start: number, end: number): void => {
    const work = workOf(lines.slice(start, end));
    if (work <= Math.min(MOST_OF_ONE, budget.left)) budget.left -= work;
    else dense.push({ start, end });
  };
  let start = 0;
  for (const [index, line] of lines.entries()) {
    if (index === start || !BREAK.test(line)) continue;
    close(start, index);
    start = index;
  }
  close(start, lines.length);
  return dense;
}

function workOf(lines: readonly string[]): number {
  let [length, brackets] = [0, 0];
  for (const line of lines) {
    length += line.length + 1;
    brackets += line.match(BRACKET)?.length ?? 0;
  }
  return length * brackets;
}

/** The same lines with other signs in the place of brackets: they cost nothing, and every column stays where it is. */
export function withoutDense(source: string, budget?: ParsingBudget): string {
  const parts = source.split(/(\r\n|\n|\r)/);
  const lines = parts.filter((_, index) => index % 2 === 0);
  const dense = denseParagraphs(lines, budget);
  for (const { start, end } of dense)
    for (let line = start; line < end; line++)
      parts[2 * line] = (lines[line] ?? '').replace(BRACKET, '\ufffd');
  return dense.length === 0 ? source : parts.join('');
}
