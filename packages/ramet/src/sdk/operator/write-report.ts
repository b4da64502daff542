/** The report of a run of the operator, as a file. */
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { OperatorState } from '../../operator/run/operator-state.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { runReport } from '../../views/operator/run-report.ts';
import type { Caller } from '../calls/caller.ts';
import { findPlace } from '../place.ts';
import { endOfOutput } from './check-output.ts';
import { operatorDirectory } from './control/operator-requests.ts';

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

/** Under the session's folder; in the repository only where someone said so. Null where it could not be written. */
export function writeReport(
  { session, state }: { session: string; state: OperatorState },
  wanted: string | undefined,
  caller: Pick<Caller, 'cwd' | 'env' | 'note'>,
): string | null {
  const { project } = findPlace(caller);
  const directory = operatorDirectory({ project, session });
  const redact = createRedactor(caller.env);
  const outputOf = (file: string): string | null => endOfOutput(file, { ...OUTPUT, redact });
  const text = runReport(state, { session, now: Date.now(), outputOf });
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
