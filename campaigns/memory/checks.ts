/** What must hold of memory after a round, however often its processes were killed. Each check says in a line what is wrong. */
import type { MemoryChange } from '../../packages/ramet/src/memory/files/memory-history.ts';
import { factOf, KNOWN_FACT, SECRET, wishOf } from './remembering-model.ts';

export interface MemoryEvidence {
  /** What ended badly although nobody killed it, with what it said. */
  failures: readonly string[];
  /** Prompts that were given; the run of the last one was not disturbed. */
  steps: number;
  /** Lines that a person's program wrote into the file. */
  lines: readonly string[];
  /** Notes that a command has acknowledged. */
  notes: readonly string[];
  /** Notes whose command was killed: they may be there. */
  unsure: readonly string[];
  /** Files of the store by path, and what changed them, the oldest first. */
  files: ReadonlyMap<string, string>;
  changes: readonly MemoryChange[];
  /** The files after every change was taken back. */
  undone: ReadonlyMap<string, string>;
  /** Files of `$RAMET_HOME` that hold the secret. */
  leaks: readonly string[];
  processes: readonly string[];
}

type Check = (evidence: MemoryEvidence) => string[];

/** Besides the history: notes, topics, notes of sessions, and what a person's program was about to write. */
const KNOWN_FILE =
  /^(?:MEMORY\.md|topics?\/[^/]+\.md|[\w-]+\.md|sessions\/[\w-]+\.md|.+\.kept-[0-9a-f]+\.md)$/;

export const CHECKS: Readonly<Record<string, Check>> = {
  'what is not killed ends well': ({ failures }) => [...failures],
  'every line of the person is there, once': ({ files, lines, notes, unsure }) => [
    ...[...lines, ...notes].flatMap((line) => lacking(files, line)),
    ...[...lines, ...notes, ...unsure].flatMap((line) => twice(files, line)),
  ],
  'no fact is there twice': ({ files, steps }) => found(steps).flatMap((line) => twice(files, line)),
  'the undisturbed run has left its facts': ({ files, steps }) =>
    [KNOWN_FACT, factOf(steps)].flatMap((line) => lacking(files, line)),
  'nothing passes for the word of a person, who has typed nothing': ({ files, steps }) =>
    Array.from({ length: steps }, (_, index) => wishOf(index + 1)).flatMap((line) =>
      countIn(files, line) === 0 ? [] : [`"${line}" is there`],
    ),
  'each change begins where the one before ended': ({ changes }) => broken(changes),
  'the files are as the record has them': ({ files, changes }) =>
    [...lastTexts(changes)].flatMap(([path, text]) =>
      (files.get(path) ?? null) === text ? [] : [`${path} is not what its last change left`],
    ),
  'no other file is left': ({ files }) => [...files.keys()].filter((path) => !KNOWN_FILE.test(path)),
  'after undo the lines of the person stand alone': ({ undone, lines, notes, unsure, steps }) => [
    ...lines.flatMap((line) => lacking(undone, line)),
    ...[...notes, ...unsure, ...found(steps)].flatMap((line) =>
      countIn(undone, line) === 0 ? [] : [`"${line}" is still there`],
    ),
  ],
  'no secret is kept': ({ leaks }) => [...leaks],
  'nothing is left running': ({ processes }) => [...processes],
};

export function problemsOf(evidence: MemoryEvidence): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) =>
    check(evidence).map((problem) => `${name}: ${problem}`),
  );
}

/** What a person's program was in the middle of writing is beside the file: that counts as there, and not twice. */
function countIn(files: ReadonlyMap<string, string>, line: string, isKept = false): number {
  return [...files]
    .filter(([path]) => path.includes('.kept-') === isKept)
    .reduce((count, [, text]) => count + text.split(line).length - 1, 0);
}

function lacking(files: ReadonlyMap<string, string>, line: string): string[] {
  return countIn(files, line) + countIn(files, line, true) > 0 ? [] : [`"${line}" is lost`];
}

function twice(files: ReadonlyMap<string, string>, line: string): string[] {
  const count = countIn(files, line);
  return count > 1 ? [`"${line}" is there ${count} times`] : [];
}

/** All that forks may have found. */
function found(steps: number): string[] {
  return [KNOWN_FACT, ...Array.from({ length: steps }, (_, index) => factOf(index + 1))];
}

function broken(changes: readonly MemoryChange[]): string[] {
  const last = new Map<string, string | null>();
  return changes.flatMap(({ id, kind, files }) =>
    files.flatMap(({ path, before, after }) => {
      const expected = last.get(path);
      last.set(path, after);
      return expected === undefined || expected === before
        ? []
        : [`${path} in change ${id} (${kind}) does not begin with what was there`];
    }),
  );
}

function lastTexts(changes: readonly MemoryChange[]): Map<string, string | null> {
  return new Map(changes.flatMap(({ files }) => files.map(({ path, after }) => [path, after] as const)));
}

export function hasSecret(bytes: Buffer): boolean {
  return bytes.includes(SECRET);
}
