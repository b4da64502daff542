/** The end of what a check printed, fit for people and prompts: bounded, without secrets, its controls written out. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { CheckOutcome } from '../../git/shapes.ts';
import type { RecordedCheck } from '../../schema/operator-events.ts';
import { headOf, tailOf, visibleText } from '../../system/text/visible-text.ts';

/** More of it is not read: it may be very long. */
const MOST_READ = 64_000;
const LONGEST_LINE = 300;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
const COLOURS = /\u001b\[[\d;:]{0,64}m/g;

export interface EndBounds {
  lines: number;
  characters: number;
  redact(text: string): string;
}

/** Null if the file is gone or empty. */
export function endOfOutput(file: string, { lines, characters, redact }: EndBounds): string | null {
  const read = lastBytes(file);
  if (read === null) return null;
  const plain = redact(read.text.replace(COLOURS, '').replaceAll('\r\n', '\n')).trimEnd();
  if (plain === '') return null;
  const all = visibleText(plain).split('\n');
  const shown = all.slice(-lines).map((line) => headOf(line, LONGEST_LINE));
  const end = tailOf(shown.join('\n'), characters);
  const isWhole = !read.isCut && all.length <= lines && end.length === shown.join('\n').length;
  return isWhole ? end : `(more before this)\n${end}`;
}

/** From the start of a line on, unless there is only one: half a secret would not be known as one. */
function lastBytes(file: string): { text: string; isCut: boolean } | null {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const bytes = Buffer.alloc(Math.min(size, MOST_READ));
      readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
      const text = bytes.toString('utf8');
      const isCut = size > bytes.length;
      return { text: isCut ? text.slice(text.indexOf('\n') + 1) : text, isCut };
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null; // it was removed; who asks says where it was
  }
}

export function recordedCheck(
  { command }: { command: string },
  { passed, ending, output }: CheckOutcome,
): RecordedCheck {
  return { command, passed, ending, output };
}

/** The one that a reason of the merge queue is about: the reason names the file of its output. */
export function failedCheck(
  reason: string,
  check: { command: string },
  outcomes: Iterable<CheckOutcome>,
): RecordedCheck | null {
  const outcome = Iterator.from(outcomes).find(({ passed, output }) => !passed && reason.includes(output));
  return outcome === undefined ? null : recordedCheck(check, outcome);
}

/** Another try of a task gets a check of its own, also if it made the same files: the check may have been killed, or fail by chance. */
export function forgetFailures(known: Map<string, CheckOutcome>): void {
  for (const [tree, { passed }] of known) if (!passed) known.delete(tree);
}
