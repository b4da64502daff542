/** Whether a word was drawn by a machine or written by a person. */
import { surpriseOf } from './letter-pairs.ts';

/** What services print in their documents, and what people write where a secret belongs. */
const PLACEHOLDER =
  /example|sample|dummy|placeholder|change_?me|replace|redacted|your[-_ ]|[-_]here$|insert|x{4}|\*{3}|\.{3}|\u2026|<[A-Za-z][\w .-]*>|^<|\$\{\w|\{\{[^{}]*\}\}|%s(?![A-Za-z0-9]{3})|%\(\w|^"?\$\(|123456|abcdef|(.)\1{4}/i;
const A_WORD = 5;

export function isPlaceholder(word: string): boolean {
  return PLACEHOLDER.test(word) || (/^\$[A-Za-z_]/.test(word) && surpriseOf(word) < A_WORD);
}

const HEX = /^(?:0x)?[0-9a-f]+$|^(?:0x)?[0-9A-F]+$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A digest, a commit, an id: random, and public wherever no name beside it says otherwise. */
function isHexOrUuid(word: string): boolean {
  return HEX.test(word) || UUID.test(word);
}

/** Digits of sixteen that chance has drawn, or an id of such. */
export function isHexDrawn(word: string, shortest: number): boolean {
  return word.length >= shortest && isHexOrUuid(word) && /\d/.test(word) && /[a-f]/i.test(word);
}

/** As services number what they keep: a kind, and a time that is written in letters. */
const TYPED_ID = /^[a-z]{2,12}_0[0-2][A-Za-z0-9]{20,26}$/;
/** Encoded public keys, as SSH, PEM and minisign write them. */
const PUBLIC = /^(?:AAAA[A-Z][A-Za-z0-9]Nz|MI[IGH][A-Z]|MFkw|MC[ow]w|MH[Yy]w|RW[QRST][A-Za-z0-9+/]{53})/;
/** Letters of one case surprise less: what chance draws of fewer characters, and words too. */
const SURPRISING = 6.2;
/** With digits in several places, as names seldom have. */
const SURPRISING_WITH_DIGITS = 5.8;
const SURPRISING_IN_ONE_CASE = 5.6;
const SURPRISING_LONG = 5.4;

/** Letters and digits in no order, but no digits of sixteen. */
export function isDrawn(word: string, shortest: number): boolean {
  if (
    word.length < shortest ||
    PUBLIC.test(word) ||
    TYPED_ID.test(word) ||
    isHexOrUuid(word) ||
    isCamelName(word) ||
    hasSteps(word)
  )
    return false;
  if ((word.match(/[A-Za-z]/g)?.length ?? 0) < word.length / 3) return false;
  if ((word.match(/[-_./]/g)?.length ?? 0) > Math.max(2, word.length / 7)) return false;
  const isOneCase = !/[a-z]/.test(word) || !/[A-Z]/.test(word);
  // `api-6d4cf56db6-x8k2p`
  if (isOneCase && (word.length < 16 || !/[A-Za-z]/.test(word) || /\w[-.]\w/.test(word))) return false;
  if (!isOneCase) return surpriseOf(word) >= (/\d\D+\d/.test(word) ? SURPRISING_WITH_DIGITS : SURPRISING);
  return surpriseOf(word) >= (word.length < 20 ? SURPRISING_IN_ONE_CASE : SURPRISING_LONG);
}

const METHOD = /PBKDF2|PBES(?:v?[12])?|CBC|GCM|CTR|ECB|H[Mm][Aa][Cc]|(?:SHA|AES|RSA|MD|A)-?\d{3}|SHA-?1|MD5/g;

/** Words that capitals part, as names in code have them: `csrfCookieName`, `PBKDF2WithHmacSHA512`. Chance makes no words of four letters. */
export function isCamelName(value: string): boolean {
  const rest = value.replace(METHOD, '');
  if (!/^[A-Za-z_]\w*$/.test(value) || (rest.match(/\d/g)?.length ?? 0) > 1) return false;
  const words = (rest.match(/[A-Z]?[a-z]{2,}/g) ?? []).filter((word) => surpriseOf(word) < A_WORD);
  const inWords = words.reduce((sum, word) => sum + word.length, 0);
  const small = rest.match(/[a-z]/g)?.length ?? 0;
  const longest = Math.max(0, ...words.map((word) => word.length));
  return (
    (longest >= 4 || rest !== value) && inWords >= 0.8 * (small + words.length) && inWords >= rest.length / 2
  );
}

/** An alphabet or a row of numbers: five neighbours one after the other. */
function hasSteps(word: string): boolean {
  let run = 1;
  for (let index = 1; index < word.length; index++) {
    run = word.charCodeAt(index) - word.charCodeAt(index - 1) === 1 ? run + 1 : 1;
    if (run >= 5) return true;
  }
  return false;
}
