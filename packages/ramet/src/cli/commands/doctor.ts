/** `ramet doctor`: what works here and what does not, each with what to do. */
import { describeError } from '../../schema/errors.ts';
import { callerOf } from '../../sdk/caller.ts';
import {
  type DoctorContext,
  type HealthCheck,
  type HealthState,
  limited,
  missing,
  ok,
} from '../../sdk/doctor/health-check.ts';
import { checkNetwork, checkProvider } from '../../sdk/doctor/model-checks.ts';
import {
  checkHome,
  checkJournal,
  checkOthers,
  checkProcesses,
  checkSettings,
  checkTrust,
} from '../../sdk/doctor/place-checks.ts';
import { checkGit, checkNode, checkRipgrep, checkSandbox } from '../../sdk/doctor/program-checks.ts';
import { findPlace } from '../../sdk/place.ts';
import { VERSION } from '../../sdk/version.ts';
import { printable } from '../../views/text/format.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';

const CHECKS: Readonly<Record<string, (context: DoctorContext) => HealthCheck | Promise<HealthCheck>>> = {
  node: checkNode,
  git: checkGit,
  ripgrep: checkRipgrep,
  sandbox: checkSandbox,
  model: checkProvider,
  network: ({ caller }) => checkNetwork(caller.env),
  home: checkHome,
  journal: checkJournal,
  processes: checkProcesses,
  settings: checkSettings,
  others: checkOthers,
  trust: checkTrust,
};

const MARKS: Readonly<Record<HealthState, string>> = { ok: 'ok', limited: '--', missing: 'NO' };

/** Exits with 1 when something that is needed is missing. */
export async function doctor(options: { json?: boolean; repair?: string }, io: CommandIo): Promise<number> {
  if (options.repair !== undefined) return (await import('../doctor/repair.ts')).repair(options.repair, io);
  const context = { caller: callerOf(io), place: findPlace(io) };
  const checks: HealthCheck[] = [];
  // One after the other: `home` makes the directory that `journal` writes to.
  for (const [name, check] of Object.entries(CHECKS)) checks.push(await carriedOut(name, check, context));
  checks.push(checkTerminal(io));
  const needed = checks.filter(({ state }) => state === 'missing');
  if (options.json) io.out(`${JSON.stringify({ version: VERSION, ok: needed.length === 0, checks })}\n`);
  else io.out(`ramet ${VERSION}\n${checks.map(lineOf).join('')}${conclusion(needed)}\n`);
  return needed.length === 0 ? EXIT.done : EXIT.failed;
}

/** A check that breaks is itself something that does not work. */
async function carriedOut(
  name: string,
  check: (context: DoctorContext) => HealthCheck | Promise<HealthCheck>,
  context: DoctorContext,
): Promise<HealthCheck> {
  try {
    return await check(context);
  } catch (error) {
    return missing(name, describeError(error), 'report this with the output of ramet doctor --json');
  }
}

function checkTerminal(io: CommandIo): HealthCheck {
  const { columns, rows } = process.stdout;
  const kind = io.env.TERM ?? 'no TERM';
  if (!io.isTerminal) return ok('terminal', `output is not a terminal (${kind})`);
  if (columns >= 40 && rows >= 10) return ok('terminal', `${columns}x${rows}, ${kind}`);
  return limited('terminal', `${columns}x${rows}, ${kind}`, 'make it at least 40x10, better 80x24');
}

function lineOf({ name, state, found, remedy }: HealthCheck): string {
  const first = `${MARKS[state]}  ${name.padEnd(9)} ${printable(found)}\n`;
  return remedy === null ? first : `${first}${' '.repeat(14)}-> ${printable(remedy)}\n`;
}

function conclusion(needed: readonly HealthCheck[]): string {
  if (needed.length === 0) return 'everything that is needed works';
  return `needed and missing: ${needed.map(({ name }) => name).join(', ')}`;
}
