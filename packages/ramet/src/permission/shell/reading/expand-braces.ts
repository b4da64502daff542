/** Where the parts of a word end that the shell expands, and what braces make of it. */

/** After the expansion that begins at `from` with `$` or a backtick. */
export function substitutionEnd(source: string, from: number): number {
  if (source[from] === '`') return closing(source.indexOf('`', from + 1), source);
  const next = source[from + 1] ?? '';
  if (next === '(' || next === '{') return matching(source, from + 1);
  const name = /^(?:[A-Za-z_]\w*|[\d@*#?!$-])/.exec(source.slice(from + 1))?.[0] ?? '';
  return from + 1 + name.length;
}

function closing(at: number, source: string): number {
  return at === -1 ? source.length : at + 1;
}

const PAIRS: Readonly<Record<string, string>> = { '(': ')', '{': '}' };

/** After the sign that closes what opens at `from`; quotes are passed over. */
function matching(source: string, from: number): number {
  const opens = source[from] ?? '';
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    const character = source[at] ?? '';
    const quoted = quotedEnd(source, at);
    if (quoted > at) at = quoted - 1;
    else if (character === opens) depth++;
    else if (character === PAIRS[opens] && --depth === 0) return at + 1;
  }
  return source.length;
}

/** After the escaped character or the quoted text that begins at `at`; `at` itself where none begins. */
function quotedEnd(source: string, at: number): number {
  if (source[at] === '\\') return Math.min(at + 2, source.length);
  if (source[at] === "'") return closing(source.indexOf("'", at + 1), source);
  if (source[at] !== '"') return at;
  let end = at + 1;
  while (end < source.length && source[end] !== '"') end += source[end] === '\\' ? 2 : 1;
  return Math.min(end + 1, source.length);
}

/** `a{b,c}` as the two words it becomes; at most `most` of them, and then the word as it is. */
export function alternatives(source: string, most: number): string[] {
  const place = firstBraces(source);
  if (place === null) return [source];
  const { from, to, parts } = place;
  const tails = alternatives(source.slice(to), most);
  const all = parts
    .flatMap((part) => alternatives(part, most))
    .flatMap((part) => tails.map((tail) => `${source.slice(0, from)}${part}${tail}`));
  return all.length > most ? [source] : all;
}

/** Whether the shell makes several words of it. */
export function hasBraces(source: string): boolean {
  return firstBraces(source) !== null;
}

interface Braces {
  from: number;
  to: number;
  parts: string[];
}

function firstBraces(source: string): Braces | null {
  let quoted = false;
  for (let at = 0; at < source.length; at++) {
    const character = source[at];
    if (character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (character === "'" && !quoted) at = closing(source.indexOf("'", at + 1), source) - 1;
    else if (character === '$' || character === '`') at = substitutionEnd(source, at) - 1;
    else if (character === '{' && !quoted) {
      const to = matching(source, at);
      const parts = source[to - 1] === '}' ? partsOf(source.slice(at + 1, to - 1)) : [];
      if (parts.length > 1) return { from: at, to, parts };
    }
  }
  return null;
}

/** Between commas that no inner braces hold; the two ends of `1..9` stand for all between them. */
function partsOf(inner: string): string[] {
  const range = /^(\w+)\.\.(\w+)$/.exec(inner);
  if (range !== null) return [range[1] ?? '', range[2] ?? ''];
  const parts = [''];
  let depth = 0;
  for (let at = 0, next = 0; at < inner.length; at = next) {
    const character = inner[at] ?? '';
    const isExpansion = character === '$' || character === '`';
    next = Math.max(at + 1, isExpansion ? substitutionEnd(inner, at) : quotedEnd(inner, at));
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += inner.slice(at, next);
  }
  return parts;
}
