/**
 * Splits HTML into text and tags as browsers do, entities decoded. The work is `htmlparser2`'s tokenizer; its parser is
 * not used, because it searches all open elements at every closing tag, and a page made for that takes hours. Forward
 * only: what is never closed lasts to the end of the page, so no page takes more than one pass.
 */
import { Tokenizer } from 'htmlparser2';

export type HtmlToken =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string };

/** Elements whose content nobody reads. */
const DROPPED: ReadonlySet<string> = new Set(
  'script style noscript noframes iframe noembed template svg math'.split(' '),
);
const FOREIGN: ReadonlySet<string | null> = new Set(['svg', 'math']);

/** Text comes in pieces, one for each entity and stray `<`; more are not written by people. */
const MOST_PIECES = 1_000_000;

/** Hands over one token after the other until `take` returns false. False when the page was not read to its end. */
export function readHtml(html: string, take: (token: HtmlToken) => boolean): boolean {
  let text = '';
  let tag = '';
  let attributes = new Map<string, string>();
  let attribute = { name: '', value: '' };
  let dropped: string | null = null;
  const give = (token: HtmlToken): void => {
    if (tokenizer.running && !take(token)) tokenizer.pause();
  };
  const giveText = (): void => {
    if (text !== '') give({ kind: 'text', text });
    text = '';
  };
  let pieces = 0;
  const addText = (part: string): void => {
    if (dropped === null) text += part;
    if (++pieces > MOST_PIECES) tokenizer.pause();
  };
  const endTag = (end: number): void => {
    if (dropped !== null) return;
    if (DROPPED.has(tag)) {
      const isWhole = FOREIGN.has(tag) && html[end - 1] === '/';
      if (!isWhole) dropped = tag;
      return;
    }
    giveText();
    give({ kind: 'open', name: tag, attributes });
  };
  const tokenizer: Tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext: (start, end) => addText(html.slice(start, end)),
      ontextentity: (code) => addText(String.fromCodePoint(code)),
      onopentagname(start, end) {
        tag = html.slice(start, end).toLowerCase();
        attributes = new Map();
      },
      onattribname(start, end) {
        attribute = { name: html.slice(start, end).toLowerCase(), value: '' };
      },
      onattribdata: (start, end) => {
        attribute.value += html.slice(start, end);
      },
      onattribentity: (code) => {
        attribute.value += String.fromCodePoint(code);
      },
      onattribend() {
        if (!attributes.has(attribute.name)) attributes.set(attribute.name, attribute.value);
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (dropped === name) dropped = null;
        else if (dropped === null) {
          giveText();
          give({ kind: 'close', name });
        }
      },
      isInForeignContext: () => FOREIGN.has(dropped),
      oncdata() {},
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend: giveText,
    },
  );
  tokenizer.write(html);
  if (!tokenizer.running) {
    take({ kind: 'text', text });
    return false;
  }
  tokenizer.end();
  return tokenizer.running;
}
