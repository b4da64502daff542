/** Why Edit did not find its text, in terms the model can act on. */
import { linesOf, numberedSnippet } from './line-window.ts';

const SHOWN_LINES = 10;
const COMPARED_LINES = 20_000;
const COMPARED_LENGTH = 200;
const SIMILAR = 0.5;

export function explainMismatch(text: string, wanted: string): string {
  const plain = wanted.replace(/^ *\d+\t/gm, '');
  if (plain !== wanted && plain !== '' && text.includes(plain)) {
    return 'old_string was not found: leave out the line numbers and tabs that Read puts in front of lines.';
  }
  const lines = linesOf(text);
  const start = findIgnoringSpace(lines, linesOf(wanted));
  if (start !== null) {
    const found = lines.slice(start, start + Math.min(linesOf(wanted).length, SHOWN_LINES));
    return `old_string was not found: it differs in white space only from this text.\n${numberedSnippet(found, start + 1)}`;
  }
  const nearest = nearestLine(lines, linesOf(wanted));
  if (nearest === null) return 'old_string was not found, nor anything like it. Read the file again.';
  const shown = numberedSnippet(lines.slice(nearest, nearest + 1), nearest + 1);
  return `old_string was not found. The nearest line is this one; Read around it and copy the text exactly.\n${shown}`;
}

/** The first line of a block equal to `wanted` but for white space. */
function findIgnoringSpace(lines: readonly string[], wanted: readonly string[]): number | null {
  const squeeze = (line: string): string => line.replace(/\s+/g, '');
  const pattern = wanted.map(squeeze);
  if (pattern.every((line) => line === '')) return null;
  const squeezed = lines.map(squeeze);
  for (let start = 0; start + pattern.length <= squeezed.length; start++) {
    if (pattern.every((line, index) => squeezed[start + index] === line)) return start;
  }
  return null;
}

/** The line most like the longest line that was asked for: the longest says most about the place. */
function nearestLine(lines: readonly string[], wanted: readonly string[]): number | null {
  const longest = wanted.reduce((best, line) => (line.trim().length > best.length ? line.trim() : best), '');
  const pairs = pairsOf(longest);
  let best: { index: number; score: number } | null = null;
  for (const [index, line] of lines.slice(0, COMPARED_LINES).entries()) {
    const score = likeness(pairs, pairsOf(line.trim()));
    if (score >= SIMILAR && score > (best?.score ?? 0)) best = { index, score };
  }
  return best?.index ?? null;
}

function pairsOf(line: string): Set<string> {
  const pairs = new Set<string>();
  const end = Math.min(line.length, COMPARED_LENGTH) - 1;
  for (let index = 0; index < end; index++) pairs.add(line.slice(index, index + 2));
  return pairs;
}

/** Dice's measure on pairs of characters: 1 for equal sets, 0 for none in common. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}
