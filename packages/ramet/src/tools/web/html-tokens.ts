/**
 * Splits HTML into text and tags as browsers do, as far as reading needs it. Forward only: what is never closed
 * lasts to the end of the page, so no page, however made, takes more than one pass.
 */
import { decodeEntities } from './html-entities.ts';

export type HtmlToken =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string };

/** Elements whose content is not markup, with what is done with it. */
const RAW: ReadonlyMap<string, 'drop' | 'text'> = new Map([
  ['script', 'drop'],
  ['style', 'drop'],
  ['noscript', 'drop'],
  ['iframe', 'drop'],
  ['noembed', 'drop'],
  ['template', 'drop'],
  ['svg', 'drop'],
  ['math', 'drop'],
  ['textarea', 'text'],
  ['title', 'text'],
]);

export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf('<', at);
    if (next !== at) {
      yield { kind: 'text', text: decodeEntities(html.slice(at, next === -1 ? html.length : next)) };
      if (next === -1) return;
    }
    const markup = readMarkup(html, next);
    if (markup.token !== null) yield markup.token;
    at = markup.end;
    const raw = markup.token?.kind === 'open' ? RAW.get(markup.token.name) : undefined;
    if (raw === undefined || markup.token?.kind !== 'open') continue;
    const { name } = markup.token;
    const end = closingTag(html, name, at);
    if (raw === 'text') yield { kind: 'text', text: decodeEntities(html.slice(at, end)) };
    at = end;
  }
}

interface Markup {
  token: HtmlToken | null;
  end: number;
}

/** What begins with the `<` at `start`. */
function readMarkup(html: string, start: number): Markup {
  const [first = ''] = html.slice(start + 1, start + 2);
  if (first === '!' || first === '?') return { token: null, end: afterComment(html, start) };
  const closing = first === '/';
  const nameStart = closing ? start + 2 : start + 1;
  if (!/[a-z]/i.test(html.charAt(nameStart))) {
    return closing
      ? { token: null, end: after(html, '>', nameStart) }
      : { token: { kind: 'text', text: '<' }, end: start + 1 };
  }
  const end = tagEnd(html, nameStart);
  const tag = html.slice(nameStart, end - 1);
  const name = (/^[^\s/>]+/.exec(tag)?.[0] ?? '').toLowerCase();
  if (closing) return { token: { kind: 'close', name }, end };
  return { token: { kind: 'open', name, attributes: attributesOf(tag.slice(name.length)) }, end };
}

function afterComment(html: string, start: number): number {
  return html.startsWith('<!--', start) ? after(html, '-->', start + 4) : after(html, '>', start);
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** Behind the `>` that ends a tag; one inside a quoted value does not. */
function tagEnd(html: string, from: number): number {
  let at = from;
  for (; at < html.length; at++) {
    const character = html[at];
    if (character === '>') return at + 1;
    if (character !== '=') continue;
    while (/\s/.test(html.charAt(at + 1))) at++;
    const quote = html.charAt(at + 1);
    if (quote === '"' || quote === "'") at = after(html, quote, at + 2) - 1;
  }
  return html.length;
}

const ATTRIBUTE = /([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

function attributesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // A tag of this length is no tag that a person wrote; its attributes are not worth the look.
  if (text.length > 20_000) return found;
  for (const [, name = '', double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, decodeEntities(double ?? single ?? bare ?? ''));
  }
  return found;
}

function closingTag(html: string, name: string, from: number): number {
  const closer = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  closer.lastIndex = from;
  return closer.exec(html)?.index ?? html.length;
}
