/** `ramet doctor`: what works here and what does not, each with what to do. */
import { checkHealth, repair } from '../../sdk/doctor/doctor.ts';
import { type HealthCheck, type HealthState, limited, ok } from '../../sdk/doctor/health-check.ts';
import { VERSION } from '../../sdk/version.ts';
import { repairLines } from '../../views/repair-text.ts';
import { printable } from '../../views/text/format.ts';
import { plainSpan, wrapSpans } from '../interactive/markdown/wrapped-rows.ts';
import type { TextStyle } from '../interactive/screen/text-style.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { styleFor } from '../output/painted.ts';

const MARKS: Readonly<Record<HealthState, string>> = { ok: 'ok', limited: '--', missing: 'NO' };

/** Exits with 1 when something that is needed is missing. */
export async function doctor(options: { json?: boolean; repair?: string }, io: CommandIo): Promise<number> {
  if (options.repair !== undefined) {
    const { session, outcome } = repair(options.repair, callFrom(io));
    io.out(`${repairLines(session, outcome).join('\n')}\n`);
    return EXIT.done;
  }
  const checks = [...(await checkHealth(callFrom(io))), checkTerminal(io)];
  const needed = checks.filter(({ state }) => state === 'missing');
  if (options.json) io.out(`${JSON.stringify({ version: VERSION, ok: needed.length === 0, checks })}\n`);
  else
    io.out(
      `ramet ${VERSION}\n${checks.map((check) => linesOf(check, styleFor(io), io.columns)).join('')}${conclusion(needed)}\n`,
    );
  return needed.length === 0 ? EXIT.done : EXIT.failed;
}

function checkTerminal(io: CommandIo): HealthCheck {
  const { columns, rows } = process.stdout;
  const kind = io.env.TERM ?? 'no TERM';
  if (!io.isTerminal) return ok('terminal', `output is not a terminal (${kind})`);
  if (columns >= 40 && rows >= 10) return ok('terminal', `${columns}x${rows}, ${kind}`);
  return limited('terminal', `${columns}x${rows}, ${kind}`, 'make it at least 40x10, better 80x24');
}

const COLOURS = { ok: 'green', limited: 'yellow', missing: 'red' } as const;

/** Columns before what was found: the mark, the longest name, and blanks. */
const NAME_WIDTH = 10;
const INDENT = 2 + 2 + NAME_WIDTH + 1;

export function linesOf(
  { name, state, found, remedy }: HealthCheck,
  style: TextStyle,
  columns: number | null,
): string {
  const head = `${style[COLOURS[state]](MARKS[state])}  ${name.padEnd(NAME_WIDTH)} `;
  const blanks = ' '.repeat(INDENT);
  const told = wrapped(found, columns).join(`\n${blanks}`);
  if (remedy === null) return `${head}${told}\n`;
  return `${head}${told}\n${blanks}${wrapped(`-> ${remedy}`, columns).join(`\n${blanks}   `)}\n`;
}

/** On a screen, between words; without one as it is. */
function wrapped(text: string, columns: number | null): string[] {
  if (columns === null) return [printable(text)];
  const room = Math.max(20, columns - INDENT - 4);
  return wrapSpans([plainSpan(printable(text))], room).map((row) => row.text);
}

function conclusion(needed: readonly HealthCheck[]): string {
  if (needed.length === 0) return 'everything that is needed works';
  return `needed and missing: ${needed.map(({ name }) => name).join(', ')}`;
}
