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

/** Up to the bracket that ends the text around it; an address may have pairs of its own. */
export function withinBrackets(found: string): string {
  let open = 0;
  for (const { 0: bracket, index } of found.matchAll(/[[\]]/g)) {
    open += bracket === '[' ? 1 : -1;
    if (open < 0) return found.slice(0, index);
  }
  return found;
}

/** `[label]: address`, on a line of its own. */
export interface Definition {
  readonly label: string;
  readonly address: string;
  /** What follows the address, as it was written. */
  readonly title: string;
}

const LONGEST_LABEL = 80;
const LONGEST_DEFINITION = 1_500;
const DEFINITION = /^ {0,3}\[([^[\]\\^][^[\]\\]{0,79})\]:[ \t]+<?([^\s<>]{1,1000})>?((?:[ \t]+["'(].*)?)$/;
/** A word behind a bracket and a colon is more often just a word. */
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|[/#])|\w\.\w|\w\//i;

export function definitionOf(line: string): Definition | null {
  if (line.length > LONGEST_DEFINITION) return null;
  const [, label = '', address = '', title = ''] = DEFINITION.exec(line.trimEnd()) ?? [];
  if (label.trim() === '' || !ADDRESS.test(address)) return null;
  return { label, address, title: title.trim() };
}

/** The same for all spellings of a label. */
export function labelKey(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase();
}

/** The address that `[text]` refers to: by the label in brackets behind it, else by itself. */
export function referenceAt(
  text: string,
  { from, to }: { from: number; to: number },
  references: ReadonlyMap<string, string>,
): { address: string; end: number } | 'unfinished' | null {
  if (text[to + 1] !== '[') return known(text.slice(from, to), to + 1, references);
  const end = text.slice(to + 2, to + 3 + LONGEST_LABEL).search(/[[\]]/);
  if (end === -1) return text.length - to - 2 <= LONGEST_LABEL ? 'unfinished' : null;
  if (text[to + 2 + end] === '[') return null;
  const label = text.slice(to + 2, to + 2 + end);
  return known(label === '' ? text.slice(from, to) : label, to + 3 + end, references);
}

function known(
  label: string,
  end: number,
  references: ReadonlyMap<string, string>,
): { address: string; end: number } | null {
  if (label.length > LONGEST_LABEL) return null;
  const address = references.get(labelKey(label));
  return address === undefined ? null : { address, end };
}
