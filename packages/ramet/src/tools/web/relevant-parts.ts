/** Chooses what to show of a text that is too long: the parts that share most words with what is looked for. */
const PART = 2_000;
const MOST_WORDS = 100;

/** At most about `length` characters, in their order, gaps marked; the beginning always counts. */
export function relevantParts(text: string, wanted: string, length: number): string {
  const said = new Set(wanted.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []);
  // Long words say most; more of them than this choose no better.
  const words = [...said].sort((a, b) => b.length - a.length).slice(0, MOST_WORDS);
  const parts = splitParts(text);
  const scores = parts.map((part) => {
    const lower = part.toLowerCase();
    return words.filter((word) => lower.includes(word)).length;
  });
  const ranked = parts.map((_, index) => index).sort((a, b) => rank(scores, b) - rank(scores, a) || a - b);
  const chosen = new Set(ranked.slice(0, Math.max(1, Math.floor(length / PART))));
  return parts
    .map((part, index) => (chosen.has(index) ? part : chosen.has(index - 1) ? '\n[... left out ...]\n' : ''))
    .join('');
}

function rank(scores: readonly number[], index: number): number {
  return index === 0 ? Number.POSITIVE_INFINITY : (scores[index] ?? 0);
}

/** Cut at the last line end of each part where there is one. */
function splitParts(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    // Looked for in this part alone: a text without line ends would be searched to its beginning each time.
    const lineEnd = text.slice(at, at + PART).lastIndexOf('\n') + 1;
    const end = text.length - at <= PART ? text.length : at + (lineEnd > 0 ? lineEnd : PART);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
