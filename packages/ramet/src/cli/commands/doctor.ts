/** `ramet doctor`: what works here and what does not, each with what to do. */
import { checkHealth, repair } from '../../sdk/doctor/doctor.ts';
import { type HealthCheck, type HealthState, limited, ok } from '../../sdk/doctor/health-check.ts';
import { VERSION } from '../../sdk/version.ts';
import { repairLines } from '../../views/repair-text.ts';
import { printable } from '../../views/text/format.ts';
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
      `ramet ${VERSION}\n${checks.map((check) => lineOf(check, styleFor(io))).join('')}${conclusion(needed)}\n`,
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

function lineOf({ name, state, found, remedy }: HealthCheck, style: TextStyle): string {
  const first = `${style[COLOURS[state]](MARKS[state])}  ${name.padEnd(9)} ${printable(found)}\n`;
  return remedy === null ? first : `${first}${' '.repeat(14)}-> ${printable(remedy)}\n`;
}

function conclusion(needed: readonly HealthCheck[]): string {
  if (needed.length === 0) return 'everything that is needed works';
  return `needed and missing: ${needed.map(({ name }) => name).join(', ')}`;
}
