/** Which marks of emphasis belong together: CommonMark's algorithm, in time in proportion to the number of marks. Pure. */
const PUNCTUATION = /[\p{P}\p{S}]/u;

/** A run of `*`, `_` or `~~`. */
export interface Delimiter {
  readonly char: string;
  readonly length: number;
  readonly opens: boolean;
  readonly closes: boolean;
  readonly node: number;
  readonly at: number;
  /** How many of its characters belong to nothing yet. */
  left: number;
}

export interface EmphasisPair {
  readonly opener: Delimiter;
  readonly closer: Delimiter;
  readonly used: 1 | 2;
}

export function delimiterAt(text: string, at: number, length: number, node: number): Delimiter {
  const char = text[at] ?? '';
  const before = characterBefore(text, at);
  const after = characterAfter(text, at + length);
  const left = isFlanking(after, before);
  const right = isFlanking(before, after);
  const opens = char === '_' ? left && (!right || PUNCTUATION.test(before)) : left;
  const closes = char === '_' ? right && (!left || PUNCTUATION.test(after)) : right;
  return { char, length, opens, closes, node, at, left: length };
}

/** Each closer looks back for its opener; openers that did not fit are not tried again. */
export function pairUp(delimiters: readonly Delimiter[]): EmphasisPair[] {
  const pairs: EmphasisPair[] = [];
  const stack: Delimiter[] = [];
  const bottoms = new Map<string, number>();
  for (const delimiter of delimiters) {
    if (delimiter.closes) close(delimiter, stack, bottoms, pairs);
    if (delimiter.opens && delimiter.left > 0) stack.push(delimiter);
  }
  return pairs;
}

function close(
  closer: Delimiter,
  stack: Delimiter[],
  bottoms: Map<string, number>,
  pairs: EmphasisPair[],
): void {
  const key = `${closer.char}${closer.opens}${closer.length % 3}`;
  while (closer.left > 0) {
    const bottom = bottoms.get(key) ?? 0;
    let found = stack.length - 1;
    while (found >= bottom && !isPair(stack[found], closer)) found -= 1;
    const opener = stack[found];
    if (found < bottom || opener === undefined) {
      bottoms.set(key, stack.length);
      return;
    }
    const used = opener.left >= 2 && closer.left >= 2 ? 2 : 1;
    opener.left -= used;
    closer.left -= used;
    pairs.push({ opener, closer, used });
    stack.length = opener.left === 0 ? found : found + 1;
    for (const [name, place] of bottoms) if (place > stack.length) bottoms.set(name, stack.length);
  }
}

function isPair(opener: Delimiter | undefined, closer: Delimiter): boolean {
  if (opener?.char !== closer.char || opener.left === 0) return false;
  if (!opener.closes && !closer.opens) return true;
  const sum = opener.length + closer.length;
  return sum % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

/** Whether a run of marks touches `near`, as the start of a word touches it. */
function isFlanking(near: string, far: string): boolean {
  if (near === '' || /\s/.test(near)) return false;
  return !PUNCTUATION.test(near) || far === '' || /\s/.test(far) || PUNCTUATION.test(far);
}

export function characterBefore(text: string, at: number): string {
  const code = at >= 2 ? text.codePointAt(at - 2) : undefined;
  return code !== undefined && code > 0xffff ? String.fromCodePoint(code) : (text[at - 1] ?? '');
}

function characterAfter(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
