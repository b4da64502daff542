/**
 * A page as text that reads like Markdown: headings, lists, links, code and tables stay recognisable; scripts,
 * styles and what only decorates are gone. Not a browser: nothing is laid out, hidden or run.
 */
import { type HtmlToken, readHtml } from './html-tokens.ts';

export interface PageText {
  title: string;
  text: string;
  /** The page continues, but it has more tags than anyone reads. */
  cut: boolean;
}

/** About a second of work, and more than pages of 5 MB have that were written to be read. */
const MOST_TOKENS = 400_000;

const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'header hgroup main menu nav ol p section summary table ul caption thead tbody tfoot'
  ).split(' '),
);

export function htmlToText(html: string, base: string): PageText {
  const writer = new TextWriter(base);
  let count = 0;
  const isWhole = readHtml(html, (token) => {
    if (++count > MOST_TOKENS) return false;
    writer.take(token);
    return true;
  });
  return { ...writer.finish(), cut: !isWhole };
}

class TextWriter {
  readonly #base: string;
  readonly #lists: { ordered: boolean; count: number }[] = [];
  #out: string[] = [];
  /** Line ends owed before the next text: 1 for a new line, 2 for a paragraph. */
  #breaks = 0;
  #space = false;
  #preformatted = 0;
  #code = false;
  #cells = 0;
  #link: { href: string; start: number } | null = null;
  #title: string[] | null = null;
  #titleText = '';

  constructor(base: string) {
    this.#base = base;
  }

  take(token: HtmlToken): void {
    if (token.kind === 'text') this.#text(token.text);
    else if (token.kind === 'open') this.#open(token.name, token.attributes);
    else this.#close(token.name);
  }

  finish(): Omit<PageText, 'cut'> {
    this.#endLink();
    const lines = this.#out.join('').split('\n');
    const text = lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trim();
    return { title: this.#titleText, text };
  }

  #text(text: string): void {
    if (this.#title !== null) {
      this.#title.push(text);
    } else if (this.#preformatted > 0) {
      this.#write(text);
    } else {
      const words = text.replace(/[\s\u00a0\u00ad]+/g, ' ');
      if (words.startsWith(' ')) this.#space = true;
      const inner = words.trim();
      if (inner !== '') this.#write(inner);
      if (words.length > 1 && words.endsWith(' ')) this.#space = true;
    }
  }

  #open(name: string, attributes: ReadonlyMap<string, string>): void {
    const heading = /^h([1-6])$/.exec(name)?.[1];
    if (heading !== undefined) {
      this.#break(2);
      this.#write(`${'#'.repeat(Number(heading))} `);
    } else if (name === 'ul' || name === 'ol') {
      this.#break(this.#lists.length === 0 ? 2 : 1);
      this.#lists.push({ ordered: name === 'ol', count: 0 });
    } else if (BLOCKS.has(name)) this.#break(2);
    else this.#openOther(name, attributes);
  }

  #openOther(name: string, attributes: ReadonlyMap<string, string>): void {
    switch (name) {
      case 'title':
        this.#title = this.#titleText === '' ? [] : null;
        break;
      case 'br':
        if (this.#preformatted > 0) this.#write('\n');
        else this.#break(1);
        break;
      case 'hr':
        this.#break(2);
        this.#write('---');
        this.#break(2);
        break;
      case 'li':
        this.#item();
        break;
      case 'pre':
        this.#break(2);
        if (this.#preformatted++ === 0) this.#write('```\n');
        break;
      case 'code':
        if (this.#preformatted === 0 && !this.#code) this.#write('`');
        this.#code = this.#preformatted === 0;
        break;
      case 'a':
        this.#startLink(attributes.get('href'));
        break;
      case 'img':
        if (attributes.get('alt')?.trim()) this.#text(`[image: ${attributes.get('alt')}]`);
        break;
      case 'tr':
        this.#break(1);
        this.#cells = 0;
        break;
      case 'td':
      case 'th':
        if (this.#cells++ > 0) this.#write(' | ');
        break;
    }
  }

  #close(name: string): void {
    if (/^h[1-6]$/.test(name) || BLOCKS.has(name)) this.#break(2);
    switch (name) {
      case 'ul':
      case 'ol':
        this.#lists.pop();
        if (this.#lists.length > 0) this.#breaks = Math.min(this.#breaks, 1);
        break;
      case 'title':
        this.#titleText ||= (this.#title ?? []).join('').replace(/\s+/g, ' ').trim();
        this.#title = null;
        break;
      case 'pre':
        if (this.#preformatted > 0 && --this.#preformatted === 0) this.#write('\n```');
        this.#break(2);
        break;
      case 'code':
        if (this.#code) this.#join('`');
        this.#code = false;
        break;
      case 'a':
        this.#endLink();
        break;
    }
  }

  #item(): void {
    const list = this.#lists.at(-1);
    this.#break(1);
    this.#breaks = Math.min(this.#breaks, list?.count === 0 ? 2 : 1);
    const indent = '  '.repeat(Math.min(10, Math.max(0, this.#lists.length - 1)));
    if (list !== undefined) list.count += 1;
    this.#write(`${indent}${list?.ordered ? `${list.count}.` : '-'} `);
    // What follows belongs on this line, also when it is a block of its own.
    this.#breaks = -1;
  }

  #startLink(href: string | undefined): void {
    this.#endLink();
    const target = href === undefined || href.startsWith('#') ? null : URL.parse(href, this.#base);
    if (target === null || !/^(https?|mailto):$/.test(target.protocol)) return;
    this.#write('[');
    this.#link = { href: target.href, start: this.#out.length };
  }

  #endLink(): void {
    const link = this.#link;
    if (link === null) return;
    this.#link = null;
    const text = this.#out.splice(link.start).join('').trim();
    // A link around a picture or around nothing says nothing to a reader.
    if (text === '') this.#out.pop();
    else this.#out.push(text, `](${link.href})`);
  }

  #break(lines: 1 | 2): void {
    this.#space = false;
    if (this.#breaks === -1) return;
    this.#breaks = Math.max(this.#breaks, lines);
  }

  #write(text: string): void {
    if (this.#breaks > 0) {
      if (this.#out.length > 0) this.#out.push('\n'.repeat(this.#breaks));
    } else if (this.#space && this.#breaks === 0 && this.#out.length > 0) {
      this.#out.push(' ');
    }
    this.#breaks = 0;
    this.#space = false;
    this.#out.push(text);
  }

  /** Right behind what stands there: the end of a pair of marks. */
  #join(text: string): void {
    this.#out.push(text);
  }
}
