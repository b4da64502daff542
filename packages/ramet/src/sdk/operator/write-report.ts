/** The report of a run of the operator, as a file. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readOrNull } from '../../git/repository.ts';
import { type OperatorState, tasksOf } from '../../operator/run/operator-state.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { LEAD } from '../../schema/team.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { viewTeamCost } from '../../views/ledger/team-cost.ts';
import { runReport } from '../../views/operator/run-report.ts';
import type { Caller } from '../calls/caller.ts';
import { findPlace, operatorDirectory, type Place } from '../place.ts';
import { endOfOutput } from './check-output.ts';

/** For what a run says when a disk is full. */
export { isDatabaseFull } from '../../system/sqlite/sqlite-failure.ts';

/** Of what a failed check printed. */
const OUTPUT = { lines: 40, characters: 6_000 };

/** Before anything is spent: a report that cannot be written is found out now. */
export function checkReportFile(file: string | undefined, { cwd }: Pick<Caller, 'cwd'>): void {
  if (file === undefined) return;
  const path = resolve(cwd, file);
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const hasParent = statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() === true;
  if (isDirectory) throw new UserMistake('bad_report', `${file} is a directory: name a file with --report`);
  if (!hasParent)
    throw new UserMistake(
      'bad_report',
      `the report cannot be written: there is no directory ${dirname(path)}`,
    );
}

/** Where the report of a run is: the file that was asked for, or else our own; null if none was written yet. */
export function reportOf(
  { session, state }: { session: string; state: OperatorState },
  caller: Pick<Caller, 'cwd' | 'env'>,
): string | null {
  const own = join(operatorDirectory({ project: findPlace(caller).project, session }), 'report.md');
  const wanted = state.run?.report;
  const files = [...(wanted === undefined ? [] : [resolve(caller.cwd, wanted)]), own];
  return files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true) ?? null;
}

/** Where refs are not files, all are taken to be there. */
function branchesOf(repository: Place['repository']): (name: string) => boolean {
  const common = repository?.commonDirectory;
  if (common === undefined || existsSync(join(common, 'reftable'))) return () => true;
  const packed = readOrNull(join(common, 'packed-refs'), MOST_PACKED) ?? '';
  return (name) => {
    const ref = name.startsWith('refs/') ? name : `refs/heads/${name}`;
    return existsSync(join(common, ref)) || packed.includes(` ${ref}\n`);
  };
}

const MOST_PACKED = 64 << 20;

function hasMembers(state: OperatorState): boolean {
  return tasksOf(state).some(({ attempts }) => attempts.some(({ isolation }) => isolation === 'team'));
}

/** As `ramet cost --team` says. */
function memberCosts(session: string, project: string): Map<string, number | null> {
  using view = viewTeamCost(session, project);
  const lines = Array.from(view.cost.members, ([name, { ledger }]) => [name, ledger.total.costUsd] as const);
  return new Map(lines.filter(([name]) => name !== LEAD));
}

/** Under the session's folder; in the repository only where someone said so. Null where it could not be written. */
export function writeReport(
  { session, state }: { session: string; state: OperatorState },
  wanted: string | undefined,
  caller: Pick<Caller, 'cwd' | 'env' | 'note'>,
): string | null {
  const { project, repository } = findPlace(caller);
  const directory = operatorDirectory({ project, session });
  const redact = createRedactor(caller.env);
  const outputOf = (file: string): string | null => endOfOutput(file, { ...OUTPUT, redact });
  const hasBranch = branchesOf(repository);
  const members = hasMembers(state) ? memberCosts(session, project) : new Map<string, number | null>();
  const text = runReport(state, { session, now: Date.now(), outputOf, hasBranch, members });
  const own = join(directory, 'report.md');
  const files = wanted === undefined ? [own] : [own, resolve(caller.cwd, wanted)];
  let written: string | null = null;
  for (const file of files) {
    try {
      if (file === own) {
        makePrivateDirectory(dirname(directory));
        makePrivateDirectory(directory);
      }
      replaceWhole(file, text, file === own ? PRIVATE_FILE : undefined);
      written = file;
    } catch (error) {
      caller.note(`the report cannot be written: ${describeError(error)}`);
    }
  }
  return written;
}
