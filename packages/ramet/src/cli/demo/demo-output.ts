/** How demos look: headings, commands and what they print, within 80 columns. Plain where there is no terminal. */
import { RametError } from '../../schema/errors.ts';
import type { CommandIo } from '../io.ts';
import { styleFor } from '../output/painted.ts';

const LONGEST_LINE = 78;

export interface DemoOutput {
  say(text: string): void;
  heading(text: string): void;
  /** What a person would type, in one line or several. */
  command(...lines: string[]): void;
  /** Something goes wrong, on purpose. */
  alarm(text: string): void;
  /** Text that is not ours: a report, a list of changes. Long lines are cut. */
  quote(text: string): void;
  strong(text: string): string;
}

export function demoOutput(io: CommandIo): DemoOutput {
  const style = styleFor(io);
  const say = (text: string): void => io.out(`${text}\n`);
  return {
    say,
    heading: (text) => say(`\n${style.bold(text)}`),
    command: (...lines) => say(`\n${style.dim('$ ')}${lines.map((line) => style.bold(line)).join('\n    ')}`),
    alarm: (text) => say(`\n${style.red(style.bold(text))}`),
    quote: (text) => say(text.trimEnd().split('\n').map(quoted).join('\n')),
    strong: (text) => style.green(style.bold(text)),
  };
}

function quoted(line: string): string {
  if (line === '') return line;
  return `  ${line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line}`;
}

/** A demo checks what it shows. */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new RametError('demo_failed', 'terminal', `the demo failed: ${otherwise}`);
}
