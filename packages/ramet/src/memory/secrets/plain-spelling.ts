/**
 * A text as a reader would take it: without what only spells, marks up or cuts a word. A secret that is written so is still
 * one. Lines keep their numbers. What joins words may make new ones, so only forms that chance does not make are looked for in it.
 */

/** Letters in another dress (`ｇｈｐ`), accents, and dashes of every length. */
function inPlainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/\p{Pd}/gu, '-');
}

/** `%5F`, `\x5f`, `\u005f`, `\u{5f}`, `&#95;`, `&#x5f;`: signs that are seen, so that no line ends there. */
const HEX_CODE =
  /%([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\u\{0{0,4}([2-7][0-9a-f])\}|&#x0{0,4}([2-7][0-9a-f]);/gi;
const DECIMAL_CODE = /&#0{0,4}(3[3-9]|[4-9]\d|1[01]\d|12[0-6]);/g;
const NAMED_CODE = /&(?:lowbar|UnderBar|hyphen|dash);/g;

/** Emphasis, code, elements, and strings that are put together, inside of a word. */
const MARKS = /(?<=[\w-])(?:[*`~]{1,3}|<[!/a-z][^<>\n]{0,80}>)(?=[\w-])/gi;
const JOINTS = /(?<=[\w-])(["'])[ \t]{0,2}(?:\+|\.{1,2}|&)?[ \t]{0,2}\1(?=[\w-])/g;
const BACKSLASHES = /\\(?=[-_.~=+])/g;

/** Most texts have none of these, and need no look. */
const ODD = /[^\t\n\r -~]|[%\\&<*`~"']/;

export function plainSpelling(text: string): string {
  if (!ODD.test(text)) return text;
  return inPlainLetters(text)
    .replace(HEX_CODE, (all, ...codes: (string | undefined)[]) => {
      const code = codes.slice(0, 5).find((one) => one !== undefined);
      return code === undefined ? all : String.fromCharCode(Number.parseInt(code, 16));
    })
    .replace(DECIMAL_CODE, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(NAMED_CODE, (name) => (/bar/i.test(name) ? '_' : '-'))
    .replace(BACKSLASHES, '')
    .replace(MARKS, '')
    .replace(JOINTS, '');
}

const ENCODED = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4096}={0,2}/g;
const HEX = /^(?:[0-9a-f]{2})+$/i;
const READABLE = /^[\t\n\r -~]+$/;

/** What words of a text say in base64 or hexadecimal digits, if that is a text; digests and images are none. */
export function* decodedWords(text: string): Generator<{ at: number; text: string }> {
  for (const { 0: word, index } of text.matchAll(ENCODED)) {
    const decoded = Buffer.from(word, HEX.test(word) ? 'hex' : 'base64').toString('latin1');
    if (READABLE.test(decoded)) yield { at: index, text: decoded };
  }
}
