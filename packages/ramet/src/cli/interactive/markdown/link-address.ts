/** Addresses in the text of an answer. Pure. */

/** Longer addresses are shown as they were written. */
const LONGEST_ADDRESS = 1_000;

/** `(address "title")` from behind the bracket on; null when it is none. */
export function addressAt(
  text: string,
  start: number,
): { address: string; end: number } | 'unfinished' | null {
  let depth = 0;
  let at = start;
  const most = Math.min(text.length, start + LONGEST_ADDRESS);
  for (; at < most; at += 1) {
    const char = text[at];
    if (char === '(') depth += 1;
    else if (char === ')' && depth-- === 0) break;
    else if (char === '\n') return null;
  }
  if (at === text.length) return 'unfinished';
  if (at === most) return null;
  const inside = text.slice(start, at).trim();
  const [, address = ''] = /^<?([^\s<>]*)>?(?:\s+(?:"[^"]*"|'[^']*'))?$/.exec(inside) ?? [];
  return address !== '' || inside === '' ? { address, end: at + 1 } : null;
}

/** Punctuation at its end belongs to the sentence, a bracket only if it was not opened inside. */
export function trimmedAddress(found: string): string {
  let open = found.split(')').length - found.split('(').length;
  let end = found.length;
  for (; end > 0; end -= 1) {
    const last = found[end - 1] ?? '';
    if (last === ')' && open > 0) open -= 1;
    else if (!/[.,:;!?'*_~\]]/.test(last)) break;
  }
  return found.slice(0, end);
}
