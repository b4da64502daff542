/**
 * A text as a reader would take it: without what only spells, marks up or cuts a word. A secret that is written so is still
 * one. Lines keep their numbers.
 */

import { characterKind, nextRun } from './character-runs.ts';

const CODES: Readonly<Record<string, string>> = {
  ...{
    quot: '"',
    QUOT: '"',
    apos: "'",
    amp: '&',
    AMP: '&',
    lt: '<',
    gt: '>',
    equals: '=',
    colon: ':',
    num: '#',
  },
  ...{ lowbar: '_', UnderBar: '_', hyphen: '-', dash: '-', period: '.', excl: '!', dollar: '$', commat: '@' },
  ...{ plus: '+', ast: '*', sol: '/', percnt: '%', Hat: '^', quest: '?', lpar: '(', rpar: ')' },
};

const DOUBLE = /\u00ab[ \u00a0\u202f]?|[ \u00a0\u202f]?\u00bb|[\u201c-\u201f]/g;
const SINGLE = /[\u2018-\u201b\u2032]/g;

/** Quotes of other languages, and those that programs bend, as keyboards have them. */
export function straightQuotes(text: string): string {
  return /[\u00ab\u00bb\u2018-\u201f\u2032]/.test(text)
    ? text.replace(DOUBLE, '"').replace(SINGLE, "'")
    : text;
}

/** `%5F`, `\x5f`, `\u005f`, `\u{5f}`, `&#95;`, `&#x5f;`, `&quot;`: signs that are seen, so that no line ends there. */
const CODE =
  /%([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\u\{0{0,4}([2-7][0-9a-f])\}|&#x0{0,4}([2-7][0-9a-f]);|&#0{0,4}(3[3-9]|[4-9]\d|1[01]\d|12[0-6]);|&([A-Za-z]{2,9});|\\{1,15}(?=[-_.~=+"'`#*!@$%^&|/:])/gi;

/** Signs that stand for others, escapes, letters in another dress (`ｇｈｐ`), accents, and dashes of every length. */
export function decodedSigns(text: string): string {
  const decoded = /[%\\&]/.test(text) ? text.replace(CODE, signOf) : text;
  if (!/[^\t\n\r -~]/.test(decoded)) return decoded;
  return decoded
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/\p{Pd}/gu, '-');
}

function signOf(all: string, ...codes: (string | undefined)[]): string {
  const hex = codes.slice(0, 5).find((one) => one !== undefined);
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  const [decimal, name] = codes.slice(5, 7);
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  return name === undefined ? '' : (CODES[name] ?? all);
}

/** Emphasis, code, quotes, elements, and strings that are put together, inside of a word. */
const MARKS = /(?<=[\w-])(?:[*`~"']{1,3}|<[!/a-z][^<>\n]{0,80}>)(?=[\w-])/gi;
const JOINTS = /(?<=[\w-])(["'])[ \t]{0,2}(?:\+|\.{1,2}|&)?[ \t]{0,2}\1(?=[\w-])/g;

/** This may make words that nobody has written: only forms that chance does not make are looked for in it. */
export function joinedWords(text: string): string {
  return /[<*`~"']/.test(text) ? text.replace(MARKS, '').replace(JOINTS, '') : text;
}

const ENCODED = characterKind(/[A-Za-z0-9+/_-]/);
const SHORTEST = 24;
const LONGEST = 4096;
const HEX = /^(?:[0-9a-f]{2})+$/i;
const READABLE = /^[\t\n\r -~]+$/;

/** What words of a text say in base64 or hexadecimal digits, if that is a text; digests and images are none. */
export function* decodedWords(text: string): Generator<{ at: number; text: string }> {
  for (let run = nextRun(text, 0, ENCODED, SHORTEST); run !== null; ) {
    const word = text.slice(run.start, Math.min(run.end, run.start + LONGEST));
    const decoded = Buffer.from(word, HEX.test(word) ? 'hex' : 'base64').toString('latin1');
    if (READABLE.test(decoded)) yield { at: run.start, text: decoded };
    run = nextRun(text, run.end, ENCODED, SHORTEST);
  }
}
