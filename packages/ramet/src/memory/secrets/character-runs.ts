/** Runs of characters of one kind, found in steps of the shortest run that counts: most text is passed over quickly. */

export interface CharacterRun {
  readonly start: number;
  readonly end: number;
}

/** Whether a character of ASCII is one of a kind, by its code. */
export function characterKind(expression: RegExp): readonly boolean[] {
  return Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)));
}

/** The next of at least `shortest` characters; null if none follows. Looks first at the last character that a run must have. */
export function nextRun(
  text: string,
  from: number,
  kind: readonly boolean[],
  shortest: number,
): CharacterRun | null {
  const isPart = (at: number): boolean => kind[text.charCodeAt(at)] === true;
  let start = from;
  while (start + shortest <= text.length) {
    let last = start + shortest - 1;
    while (last >= start && isPart(last)) last--;
    if (last < start) {
      let end = start + shortest;
      while (end < text.length && isPart(end)) end++;
      return { start, end };
    }
    start = last + 1;
  }
  return null;
}
