/**
 * How well a text answers a search: all letters of the search, in order. Letters that follow each other and letters at
 * the start of a word count more. Linear in the text for each letter's run, so that 50,000 paths are ranked at once.
 */
const AT_START = 8;
const IN_A_ROW = 5;
const LETTER = 1;

/**
 * Null when it does not answer it. Capitals are like small letters, and blanks in the search do not count: `pars dat`
 * finds `parse dates`.
 */
export function fuzzyScore(text: string, search: string): number | null {
  const wanted = search.toLowerCase().replace(/\s+/g, '');
  const within = text.toLowerCase();
  const whole = within.lastIndexOf(wanted);
  // All of it in one piece beats any scattered match; later is better: the end of a path names the file.
  if (whole !== -1)
    return 1_000 + (isStart(within, whole) ? AT_START : 0) - Math.min(500, within.length) / 1_000;
  let score = 0;
  let at = -1;
  for (const letter of wanted) {
    const next = within.indexOf(letter, at + 1);
    if (next === -1) return null;
    score += LETTER + (next === at + 1 ? IN_A_ROW : 0) + (isStart(within, next) ? AT_START : 0);
    at = next;
  }
  return score - Math.min(500, within.length) / 1_000;
}

function isStart(text: string, at: number): boolean {
  return at === 0 || /[^a-z0-9]/.test(text[at - 1] ?? '');
}
