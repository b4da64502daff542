/**
 * Reads a script as bash does, or says why not. The reader knows a part of the language and knows that part exactly: a
 * script that holds anything else is not read at all.
 *
 * Invariants
 * 1. Every command that could run is in `commands`, wherever it stands: in lists, pipes, substitutions, loops.
 * 2. Every file that a redirect opens is in `files`.
 * 3. Reading takes time in proportion to the length, and nesting has a bound.
 */
import { placesAt, staying } from './follow-directory.ts';
import { forgetRenamed } from './renamed-directories.ts';
import { scanList } from './scan-list.ts';
import { type MoveKnowledge, newGround } from './script-ground.ts';
import {
  type ExactReading,
  hasLoops,
  type ScriptScan,
  type ShellDialect,
  UnreadScript,
} from './script-scan.ts';
import { unreadable } from './shell-limits.ts';

export function readExactly(
  script: string,
  directories: readonly string[] | null,
  dialect: ShellDialect = 'bash',
  known: MoveKnowledge = {},
): ExactReading | { unread: string } {
  const problem = unreadable(script);
  if (problem !== null) return { unread: problem };
  const reading: ExactReading = {
    ...{ commands: [], files: [], variables: [], unclear: [] },
    ...{ features: new Set<string>(), evaluated: [], steered: false },
  };
  const places = placesAt(directories);
  const ground = newGround(known);
  const scan: ScriptScan = {
    ...{ text: script, dialect, reading, list: scanList, at: 0, depth: 0 },
    ...{ places, outcome: staying(places), ground, heredocs: [] },
  };
  try {
    if (scanList(scan) !== '' || scan.heredocs.length > 0) return { unread: 'its syntax' };
  } catch (error) {
    if (error instanceof UnreadScript) return { unread: error.reason };
    throw error;
  }
  if (ground.overtaken) return readExactly(script, directories, dialect, { ...known, touched: true });
  reading.steered = ground.steered;
  forgetRenamed(reading, hasLoops(reading.features));
  return calculatesUnknown(reading) ? { unread: 'arithmetic on what a variable holds' } : reading;
}

/** Has the script itself set each of these, and only to numbers? */
function calculatesUnknown({ evaluated, variables }: ExactReading): boolean {
  return evaluated.some((name) => {
    const set = variables.filter((variable) => variable.name === name);
    return set.length === 0 || !set.every(({ value }) => value !== null && /^-?\d{1,15}$/.test(value));
  });
}
