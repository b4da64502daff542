/**
 * The marks inside a paragraph: emphasis, code, links, escapes. It takes time in proportion to the text, whatever the text
 * is: a model may write anything, and a key must be shown within a frame. Emphasis is CommonMark's algorithm.
 */
import { characterBefore, type Delimiter, delimiterAt, type EmphasisPair, pairUp } from './emphasis.ts';
import { addressAt, referenceAt, trimmedAddress, withinBrackets } from './link-address.ts';
import { type Look, linked, type Paint, painted } from './look.ts';
import type { Span } from './wrapped-rows.ts';

export interface InlineText {
  readonly spans: readonly Span[];
  /** Where the first mark stands that text to come could still close; else the length of the text. */
  readonly openFrom: number;
}

interface Node {
  readonly text: string;
  readonly at: number;
  readonly kind: 'text' | 'code' | 'mark';
  readonly address?: string;
  /** It is an address beside its text: always if that looks like another address, else where the link cannot be opened. */
  readonly beside?: 'always' | 'if needed';
}

interface Bracket {
  readonly node: number;
  readonly at: number;
  readonly isImage: boolean;
  readonly delimiters: number;
}

const LITERAL = /[^\\`*_~[\]!<&h\n]+/y;
const BARE_ADDRESS = /https?:\/\/[^\s<>`"\u3000-\u303f]{1,1000}/y;
const POINTED_ADDRESS = /<((?:https?|mailto|ftp):[^\s<>]{1,1000})>/y;
const LINE_BREAK = /<br ?\/?>/iy;
const ENTITY =
  /&(amp|lt|gt|quot|apos|#39|nbsp|copy|reg|trade|hellip|mdash|ndash|rarr|larr|times|deg|euro|check);/y;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: '\u00a0',
  apos: "'",
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  rarr: '→',
  larr: '←',
  times: '×',
  deg: '°',
  euro: '€',
  check: '✓',
};

export function inlineText(text: string, look: Look, base: readonly Paint[] = []): InlineText {
  return new InlineReader(text, look).read(base);
}

class InlineReader {
  readonly #text: string;
  readonly #look: Look;
  readonly #nodes: Node[] = [];
  readonly #delimiters: Delimiter[] = [];
  readonly #brackets: Bracket[] = [];
  /** Where runs of backticks stand, by their length. */
  readonly #ticks = new Map<number, number[]>();
  /** At each node, how many emphases of each kind begin (1) and end (-1) there. */
  readonly #turns = new Map<number, Map<Paint, number>>();
  #openFrom: number;

  constructor(text: string, look: Look) {
    this.#text = text;
    this.#look = look;
    this.#openFrom = text.length;
    for (const { 0: run, index } of text.matchAll(/`+/g)) {
      const places = this.#ticks.get(run.length) ?? [];
      places.push(index);
      this.#ticks.set(run.length, places);
    }
    for (const places of this.#ticks.values()) places.reverse();
  }

  read(base: readonly Paint[]): InlineText {
    let at = 0;
    while (at < this.#text.length) at = this.#step(at);
    for (const pair of pairUp(this.#delimiters)) this.#emphasise(pair);
    for (const { at: place } of this.#brackets) this.#stillOpen(place);
    for (const { at: place, opens, left } of this.#delimiters) if (opens && left > 0) this.#stillOpen(place);
    return { spans: this.#spans(base), openFrom: this.#openFrom };
  }

  #step(at: number): number {
    const literal = matchAt(LITERAL, this.#text, at);
    if (literal !== null) return this.#add(literal[0], at, literal[0].length);
    const char = this.#text[at] ?? '';
    switch (char) {
      case '\\':
        return this.#escape(at);
      case '`':
        return this.#code(at);
      case '*':
      case '_':
      case '~':
        return this.#delimiter(char, at);
      case '!':
        return this.#text[at + 1] === '[' ? this.#openBracket(at, true) : this.#add(char, at, 1);
      case '[':
        return this.#openBracket(at, false);
      case ']':
        return this.#closeBracket(at);
      case '<':
        return this.#pointed(at);
      case '&': {
        const entity = matchAt(ENTITY, this.#text, at);
        if (entity === null) return this.#add(char, at, 1);
        return this.#add(ENTITIES[entity[1] ?? ''] ?? '', at, entity[0].length, 'mark');
      }
      case 'h':
        return this.#bareAddress(at);
      default:
        return this.#add(char, at, 1);
    }
  }

  #add(text: string, at: number, length: number, kind: Node['kind'] = 'text', address?: string): number {
    this.#nodes.push({ text, at, kind, ...(address !== undefined && { address }) });
    return at + length;
  }

  #escape(at: number): number {
    const next = this.#text[at + 1] ?? '';
    if (next === '\n') return this.#add('', at, 1, 'mark');
    if (next === '') this.#stillOpen(at);
    if (!/[!-/:-@[-`{-~]/.test(next)) return this.#add('\\', at, 1);
    return this.#add(next, at, 2, 'mark');
  }

  /** From a run of backticks to the next one of the same length. */
  #code(at: number): number {
    const length = runLength(this.#text, at, '`');
    const places = this.#ticks.get(length) ?? [];
    while ((places.at(-1) ?? Number.POSITIVE_INFINITY) <= at) places.pop();
    const end = places.at(-1);
    if (end === undefined) {
      this.#stillOpen(at);
      return this.#add('`'.repeat(length), at, length);
    }
    const inner = this.#text.slice(at + length, end).replaceAll('\n', ' ');
    const isPadded = /^ .* $/.test(inner) && inner.trim() !== '';
    return this.#add(isPadded ? inner.slice(1, -1) : inner, at, end + length - at, 'code');
  }

  #delimiter(char: string, at: number): number {
    const length = runLength(this.#text, at, char);
    if (char === '~' && length !== 2) return this.#add(char.repeat(length), at, length);
    const delimiter = delimiterAt(this.#text, at, length, this.#nodes.length);
    const isLast = at + length === this.#text.length;
    if (delimiter.opens || delimiter.closes) this.#delimiters.push(delimiter);
    // At the end of the text nobody knows yet what follows.
    else if (isLast) this.#stillOpen(at);
    return this.#add(char.repeat(length), at, length);
  }

  #openBracket(at: number, isImage: boolean): number {
    const delimiters = this.#delimiters.length;
    this.#brackets.push({ node: this.#nodes.length, at, isImage, delimiters });
    return this.#add(isImage ? '![' : '[', at, isImage ? 2 : 1);
  }

  #closeBracket(at: number): number {
    const open = this.#brackets.at(-1);
    if (open === undefined) return this.#add(']', at, 1);
    // What follows may still become its address.
    if (at + 1 === this.#text.length) return this.#add(']', at, 1);
    const target = this.#targetAt(open, at);
    if (target === 'unfinished') return this.#add(']', at, 1);
    this.#brackets.pop();
    if (target === null) return this.#add(']', at, 1);
    for (const pair of pairUp(this.#delimiters.splice(open.delimiters))) this.#emphasise(pair);
    const first = this.#nodes[open.node];
    if (first !== undefined) this.#nodes[open.node] = { ...first, text: '', kind: 'mark' };
    this.#makeLink(open, target.address);
    return target.end;
  }

  /** Where the text between the brackets leads. */
  #targetAt({ at, isImage }: Bracket, end: number): ReturnType<typeof addressAt> {
    if (this.#text[end + 1] === '(') return addressAt(this.#text, end + 2);
    const { references } = this.#look;
    if (references === undefined) return null;
    return referenceAt(this.#text, { from: at + (isImage ? 2 : 1), to: end }, references);
  }

  #makeLink({ node, at, isImage }: Bracket, address: string): void {
    const inner = this.#nodes.slice(node + 1);
    const shown = inner.map(({ text }) => text).join('');
    // Also where the text has an address of its own: a click must not lead elsewhere than the link.
    for (const [index, part] of inner.entries()) {
      const whole = { ...part, kind: part.kind === 'code' ? ('code' as const) : ('mark' as const) };
      this.#nodes[node + 1 + index] = { ...whole, address };
    }
    if (isImage) this.#nodes[node] = { text: 'image: ', at, kind: 'mark' };
    const isAddress = /\w\.\w|:\/\//.test(shown);
    const differs = shown !== address && shown !== address.replace(/^mailto:/, '');
    if (differs && address !== '')
      this.#nodes.push({ text: address, at, kind: 'mark', beside: isAddress ? 'always' : 'if needed' });
    // No links inside of links.
    if (!isImage) this.#brackets.length = 0;
  }

  #pointed(at: number): number {
    const address = matchAt(POINTED_ADDRESS, this.#text, at)?.[1];
    if (address !== undefined) return this.#add(address, at, address.length + 2, 'mark', address);
    const broken = matchAt(LINE_BREAK, this.#text, at);
    return broken === null ? this.#add('<', at, 1) : this.#add('\n', at, broken[0].length, 'mark');
  }

  #bareAddress(at: number): number {
    const found = /[\p{L}\p{N}_]/u.test(characterBefore(this.#text, at))
      ? null
      : matchAt(BARE_ADDRESS, this.#text, at);
    if (found === null) return this.#add('h', at, 1);
    const address = trimmedAddress(this.#brackets.length > 0 ? withinBrackets(found[0]) : found[0]);
    return this.#add(address, at, address.length, 'mark', address);
  }

  #emphasise({ opener, closer, used }: EmphasisPair): void {
    const kind: Paint = opener.char === '~' ? 'strike' : used === 2 ? 'bold' : 'italic';
    this.#turn(opener.node + 1, kind, 1);
    this.#turn(closer.node, kind, -1);
    for (const { node, left, char } of [opener, closer]) {
      const before = this.#nodes[node];
      if (before !== undefined) this.#nodes[node] = { ...before, text: char.repeat(left), kind: 'mark' };
    }
  }

  #turn(node: number, kind: Paint, by: 1 | -1): void {
    const turns = this.#turns.get(node) ?? new Map<Paint, number>();
    turns.set(kind, (turns.get(kind) ?? 0) + by);
    this.#turns.set(node, turns);
  }

  #stillOpen(at: number): void {
    this.#openFrom = Math.min(this.#openFrom, at);
  }

  #spans(base: readonly Paint[]): Span[] {
    const depth = new Map<Paint, number>();
    const spans: Span[] = [];
    for (const [index, node] of this.#nodes.entries()) {
      for (const [kind, by] of this.#turns.get(index) ?? []) depth.set(kind, (depth.get(kind) ?? 0) + by);
      const on = [...base, ...[...depth].filter(([, count]) => count > 0).map(([kind]) => kind)];
      const span = nodeSpan(node, on, this.#look);
      if (span !== null)
        addSpan(spans, span, node.kind === 'text' && on.length === base.length ? node.at : -1);
    }
    return spans;
  }
}

function nodeSpan({ text, kind, address, beside }: Node, on: readonly Paint[], look: Look): Span | null {
  if (beside !== undefined) {
    const isShown = beside === 'always' || !look.links || !/^(?:https?|mailto|ftp):/i.test(text);
    return isShown ? painted(` (${text})`, ['dim'], look) : null;
  }
  if (text === '') return null;
  const paints: readonly Paint[] = kind === 'code' ? [...on, 'cyan'] : on;
  const shown = kind === 'code' && !look.colours ? `\`${text}\`` : text;
  if (address === undefined) return painted(shown, paints, look);
  return linked(painted(shown, [...paints, 'underline'], look), address, look);
}

/** Text that could be cut anywhere is joined, so that its rows know where they begin. */
function addSpan(spans: Span[], span: Span, at: number): void {
  const last = spans.at(-1);
  if (at >= 0 && last?.at !== undefined && last.at + last.text.length === at && last.open === span.open)
    spans[spans.length - 1] = { ...last, text: last.text + span.text };
  else spans.push(at >= 0 ? { ...span, at } : span);
}

function runLength(text: string, at: number, char: string): number {
  let end = at;
  while (text[end] === char) end += 1;
  return end - at;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
