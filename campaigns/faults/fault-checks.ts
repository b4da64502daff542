/**
 * What must hold after a round of the fault campaign, from the evidence alone: the checks of the kill campaign, and
 * what every run has said. `packages/ramet/test/crash/fault-checks.test.ts` shows them fail.
 */
import { problemsOf, type Undisturbed } from '../kill/checks.ts';
import type { Evidence } from '../kill/evidence.ts';
import type { RunEnd } from '../kill/world.ts';

export interface FaultExpectation {
  /** What a first run that fails says, in one line. */
  says: RegExp;
  /** The journal may have lost its end. Effects may be repeated only if the witness reported the loss. */
  losesEnd?: boolean;
}

/** What may be said along the way, whole lines: anything else is a failure, or a word too many. */
const NOTES = [
  /^ramet: (\.\d+ )?attempt \d+ failed: .+; trying again in [\d.]+ s$/,
  /^ramet: (\.\d+ )?waiting: provider$/,
  /^ramet: cannot use the session index .+$/,
  /^ramet: cannot empty the journal's WAL: .+$/,
];
const RAW = /TypeError|ReferenceError|SyntaxError|Cannot read prop|Unexpected token|^\s+at .*:\d+:\d+/m;
/** The witness of a journal knows how much of it is missing. */
const WITNESS =
  /^ramet: the end of the journal \S+ is missing: \d+ events? up to .* may be done again: check before you rely on it$/;

/** What is repeated shows here, and nowhere else. */
const SHOWS_REPETITION = [
  'no effect is there twice: ',
  'the files are those of an undisturbed run: ',
  'every agent reports what it reports undisturbed: ',
];

/** The runs of a round in order; the first is the one under the fault. */
export function sayingProblems(runs: readonly RunEnd[], expected: FaultExpectation): string[] {
  return runs.flatMap(({ code, signal, stderr, hung }, index) => {
    const which = index === 0 ? 'the first run' : `run ${index + 1}, without the fault,`;
    if (hung) return [`${which} hangs; it had said ${JSON.stringify(stderr)}`];
    if (RAW.test(stderr)) return [`${which} shows a raw error: ${JSON.stringify(stderr)}`];
    const lines = otherLines(stderr, expected);
    if (code === 0 || signal === 'SIGKILL')
      return lines.map((line) => `${which} says ${JSON.stringify(line)}, which is no note`);
    if (index > 0) return [`${which} fails with ${code} and says ${JSON.stringify(lines)}`];
    if (lines.length === 1 && expected.says.test(lines[0] ?? '')) return [];
    return [
      `${which} fails with ${code} and says ${JSON.stringify(lines)}, not one line like ${expected.says}`,
    ];
  });
}

function otherLines(stderr: string, { losesEnd = false }: FaultExpectation): string[] {
  const notes = losesEnd ? [...NOTES, WITNESS] : NOTES;
  return stderr.split('\n').filter((line) => line !== '' && !notes.some((note) => note.test(line)));
}

export function outcomeProblems(
  evidence: Evidence,
  undisturbed: Undisturbed,
  { losesEnd = false }: FaultExpectation,
  said: string,
): string[] {
  const found = problemsOf(evidence, { undisturbed, mayBeGivenUp: false });
  if (!losesEnd || !said.split('\n').some((line) => WITNESS.test(line))) return found;
  const others = found.filter((problem) => !SHOWS_REPETITION.some((name) => problem.startsWith(name)));
  return [...others, ...lostLines(evidence.files, undisturbed.files)];
}

/** Also where something may be repeated, nothing may be missing or new. */
function lostLines(files: Evidence['files'], wanted: Undisturbed['files']): string[] {
  const names = new Set([...Object.keys(files), ...Object.keys(wanted)]);
  return [...names].flatMap((name) => {
    const [there, undisturbed] = [linesOf(files[name]), linesOf(wanted[name])];
    const lost = undisturbed.difference(there);
    const strange = there.difference(undisturbed);
    return [
      ...(lost.size > 0 ? [`lost from ${name}: ${[...lost].join(', ')}`] : []),
      ...(strange.size > 0 ? [`strange in ${name}: ${[...strange].join(', ')}`] : []),
    ];
  });
}

function linesOf(text = ''): Set<string> {
  return new Set(text.split('\n').filter((line) => line !== ''));
}
