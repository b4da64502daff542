/**
 * How well a text answers a search: all letters of the search, in order. Letters that follow each other and letters at
 * the start of a word count more. It is asked for 50,000 paths with every key, so it allocates nothing.
 */
const AT_START = 8;
const IN_A_ROW = 5;
const LETTER = 1;
/** All of the search in one piece beats any scattered match. */
const WHOLE = 1_000;

/**
 * Gives the score of a text in small letters; null when it does not answer the search. Capitals of the search are like
 * small letters, and its blanks do not count: `pars dat` finds `parse dates`.
 */
export function fuzzyMatcher(search: string): (text: string) => number | null {
  const wanted = search.toLowerCase().replace(/\s+/g, '');
  return (text) => {
    const length = Math.min(500, text.length) / 1_000;
    // The last one: the end of a path names the file.
    const whole = text.lastIndexOf(wanted);
    if (whole !== -1) return WHOLE + (isStart(text, whole) ? AT_START : 0) - length;
    let score = 0;
    let at = -1;
    for (let index = 0; index < wanted.length; index++) {
      const next = text.indexOf(wanted.charAt(index), at + 1);
      if (next === -1) return null;
      score += LETTER + (next === at + 1 ? IN_A_ROW : 0) + (isStart(text, next) ? AT_START : 0);
      at = next;
    }
    return score - length;
  };
}

/** Whether no letter or digit is before it. */
function isStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const code = text.charCodeAt(at - 1);
  const isLetter = code >= 97 && code <= 122;
  return !isLetter && !(code >= 48 && code <= 57);
}
