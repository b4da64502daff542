/**
 * Merges two changes of one text, line by line. Memory is notes: where both sides only added lines in one place, both
 * additions stay, those of the server first. Where both changed the same lines there is no merge.
 */
import { diff3Merge } from 'node-diff3';
import { equalPairs } from '../files/merge-plan.ts';

export interface ThreeTexts {
  base: string;
  server: string;
  here: string;
}

/** Equal lines of two texts are compared in pairs: more than this takes seconds. */
const MOST_PAIRS = 4_000_000;

/** Null if it cannot be merged. */
export function mergeNotes({ base, server, here }: ThreeTexts): string | null {
  const [first, old, second] = [linesOf(server), linesOf(base), linesOf(here)];
  if (equalPairs(first, old) + equalPairs(second, old) > MOST_PAIRS) return null;
  const merged: string[] = [];
  for (const { ok, conflict } of diff3Merge(first, old, second, { excludeFalseConflicts: true })) {
    if (ok !== undefined) merged.push(...ok);
    else if (conflict === undefined || conflict.o.length > 0) return null;
    else merged.push(...conflict.a, ...withBreak(conflict.a), ...conflict.b);
  }
  return merged.join('');
}

/** With their ends, so that a missing one at the end of the text is a difference. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function withBreak(lines: readonly string[]): string[] {
  return lines.at(-1)?.endsWith('\n') === false ? ['\n'] : [];
}
