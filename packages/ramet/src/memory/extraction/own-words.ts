/**
 * What of a prompt is surely the user's own: whole sentences before the first sign that something was pasted or quoted. Nobody can
 * tell where that ends, so nothing behind it counts. A wish that is lost does no harm, one that is invented does. So the signs
 * are broad: whatever people seldom begin a line with, or write in one, when they type to an agent.
 *
 * Invariant: what a reader of Markdown shows as code, HTML or a quotation of its own lines is behind a sign.
 */

/** A longer prompt is likely to hold text that was pasted. */
const LONGEST_TYPED = 2_000;

/** Written over code and over quoted words, so that nothing in them is a sign or ends a sentence. */
const [CODE, QUOTED] = ['\ue000', '\ue001'];

/** Sentences, and lines, of a prompt, as they were typed. */
export function ownSentences(prompt: string): string[] {
  if (prompt.length > LONGEST_TYPED) return [];
  return ownParagraphs(prompt).flatMap(({ text, isCut }) => {
    const ends = sentenceEnds(text);
    const sentences = ends.map((end, at) => ({ start: ends[at - 1] ?? 0, end }));
    const whole = isCut ? sentences.slice(0, -1) : [...sentences, { start: 0, end: text.length }];
    const shown = withoutQuoted(text);
    return whole
      .filter(({ start, end }) => !isQuotation(shown.slice(start, end)))
      .map(({ start, end }) => text.slice(start, end).trim());
  });
}

function isQuotation(sentence: string): boolean {
  return sentence.includes(QUOTED) || sentence.trimStart().startsWith(CODE);
}

interface Paragraph {
  readonly text: string;
  /** A sign follows: its last sentence is not whole. */
  readonly isCut: boolean;
}

/** Up to the first sign. A line that goes on in the next one is one with it. */
function ownParagraphs(prompt: string): Paragraph[] {
  const own: Paragraph[] = [];
  for (const line of prompt.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)) {
    const sign = firstSign(line);
    const last = continues(own.at(-1)?.text ?? '', line) ? own.pop() : undefined;
    const above = last === undefined ? '' : `${last.text} `;
    const mark = LIST_MARK.exec(line)?.[0].length ?? 0;
    const text = above + line.slice(mark, sign === -1 ? undefined : Math.max(mark, sign));
    own.push({ text, isCut: sign !== -1 });
    if (sign !== -1) break;
  }
  return own;
}

const LIST_MARK = /^ {0,3}(?:(?:[-*+\u2022]|\d{1,3}[.)]) {1,3})+/;
const BEGINS_SENTENCE = /^[\p{Lu}\p{Lt}]/u;
const ENDS_SENTENCE = /[.!?:\u3002\uff01\uff1f\uff1a][\p{Pe}\p{Pf}"'`*_]*\s*$/u;

/** `Never push` and, a line below, `unless I ask for it` are one sentence. */
function continues(above: string, line: string): boolean {
  if (above.trim() === '' || line.trim() === '' || ENDS_SENTENCE.test(above)) return false;
  return !LIST_MARK.test(line) && !BEGINS_SENTENCE.test(line);
}

/** Where a line begins to be none of the user's; -1 if it does not. */
function firstSign(line: string): number {
  if (line.trim() === '') return -1;
  const mark = LIST_MARK.exec(line)?.[0].length ?? 0;
  const shown = withoutQuoted(line);
  if (!BEGINS_AS_TYPED.test(shown.slice(mark))) return 0;
  const found = [line.search(MARKS), shown.search(STRUCTURE), introduction(shown, mark)];
  const signs = found.filter((at) => at !== -1);
  return signs.length === 0 ? -1 : Math.min(...signs);
}

/** Words, a name of a file as `@src/x.ts`, or what is quoted. Neither blanks nor any mark: `>`, `|`, `#`, `$`, `+`, `[`, `<`, `*`. */
const BEGINS_AS_TYPED = new RegExp(
  `^(?:$|[\\p{L}\\p{N}\u00a1\u00bf(${CODE}${QUOTED}]|@[\\p{L}\\p{N}./])`,
  'u',
);
/** Three in a row: fences, rules, quotes of some languages, headings of mails. */
const MARKS = /([^\p{L}\p{N}\s.!?])\1{2}/u;
/**
 * Elements, tags and tables of every style, what a program prints (columns, times), what is opened in this line and not closed.
 * Quotation marks that are left are part of no pair.
 */
const STRUCTURE =
  /<(?=[\p{L}/!?@#])|(?<![-=\s])>(?=\s|$)|(?<![\p{L}\p{N}_)\]])\[|[{}|\t]|&#?\w+;|\s{3,}(?=\S)|\b\d{1,2}:\d\d\b|\((?![^()]*\))|["`\u201c-\u201f\u00ab\u00bb\u2039\u203a\u3008-\u3011\u2500-\u257f]|(?<![\p{L}\p{N}])['\u2018-\u201b]/u;

const PAIRS =
  /(?<![\p{L}\p{N}])(?:`[^`]+`|"[^"]*"|'[^']*'|\u201c[^\u201c-\u201f]*\u201d|\u201d[^\u201c-\u201f]*\u201d|\u201e[^\u201c-\u201f]*[\u201c\u201d]|\u2018[^\u2018-\u201b]*\u2019|\u00ab[^\u00ab\u00bb]*\u00bb|\u00bb[^\u00ab\u00bb]*\u00ab)(?![\p{L}\p{N}])/gu;

function withoutQuoted(text: string): string {
  return text.replace(PAIRS, (pair) => (pair.startsWith('`') ? CODE : QUOTED).repeat(pair.length));
}

/** `alice:`, `He said:`, `On Monday she wrote:`, `Error:`. Who adds to their own words uses one of these. */
const OWN_INTRODUCTION =
  /^(?:(?:and|also|please|important|remember|reminder|one more thing|from now on|in future|in general|my (?:rules|wishes|preferences)|i (?:want|wish|prefer|expect)(?: you to)?)[\s,]*)+$/i;

/** Where something begins that a colon announces. */
function introduction(line: string, start: number): number {
  for (const { index } of line.matchAll(/[:\uff1a](?=\s|$)|\uff1a/g)) {
    const before = line.slice(start, index);
    const sentence = before.slice(sentenceEnds(before).at(-2) ?? 0);
    if (!OWN_INTRODUCTION.test(sentence.trim())) return index;
  }
  return -1;
}

/** A full stop ends no sentence behind an abbreviation (`e.g.`, `etc.`), and dots in a row do not. */
const SENTENCE_END =
  /(?<=(?:[\p{L}\p{N}\ue000\ue001)]{2}|\p{N})[.!?])(?<!\b(?:etc|resp|incl|excl|approx|esp|ex|vs|cf|viz|al|inc|no|nr|fig|vol|dept|est|sec|min|max|ca|bzw|usw|vgl|ggf)\.)\s+/giu;

/** Behind the blanks of each; the last is the end of the text. What is quoted has none. */
function sentenceEnds(text: string): number[] {
  const ends = Array.from(
    withoutQuoted(text).matchAll(SENTENCE_END),
    ({ index, 0: blanks }) => index + blanks.length,
  );
  return [...ends, text.length];
}
