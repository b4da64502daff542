/**
 * Whether a word was drawn by a machine or written by a person. Random letters, capitals and digits change from one kind
 * to another at almost every step; words, names in code and paths seldom do. That tells them apart better than
 * Shannon's entropy, which is about the same for 30 random characters and for a long name.
 */

/** What services print in their documents, and what people write where a secret belongs. */
const PLACEHOLDER =
  /example|sample|dummy|placeholder|change_?me|replace|redacted|your[-_ ]|[-_]here$|insert|x{4}|\*{3}|\.{3}|\u2026|<[^>]*>|\$\{|\{\{|\}\}|%s|%\(|\$\(|^\$[A-Za-z_]|123456|abcdef|(.)\1{4}/i;

export function isPlaceholder(word: string): boolean {
  return PLACEHOLDER.test(word);
}

const HEX = /^(?:0x)?[0-9a-f]+$|^(?:0x)?[0-9A-F]+$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A digest, a commit, an id: random, and public wherever no name beside it says otherwise. */
export function isHexOrUuid(word: string): boolean {
  return HEX.test(word) || UUID.test(word);
}

/** Encoded public keys, as SSH, PEM and minisign write them. */
const PUBLIC = /^(?:AAAA[A-Z][A-Za-z0-9]Nz|MII?[A-Z]|MFkw|MC[ow]w|MH[Yy]w|MIG[bf]|RW[QRST][A-Za-z0-9+/]{53})/;

interface Kinds {
  lower: number;
  upper: number;
  digit: number;
  /** Steps from one kind to another, for each step there is. */
  changes: number;
}

function kindsOf(word: string): Kinds {
  const kinds = { lower: 0, upper: 0, digit: 0, other: 0 };
  let last: keyof typeof kinds | null = null;
  let changed = 0;
  for (const character of word) {
    const kind = kindOf(character);
    kinds[kind]++;
    if (last !== null && kind !== last) changed++;
    last = kind;
  }
  return { ...kinds, changes: word.length < 2 ? 0 : changed / (word.length - 1) };
}

function kindOf(character: string): 'lower' | 'upper' | 'digit' | 'other' {
  if (character >= 'a' && character <= 'z') return 'lower';
  if (character >= 'A' && character <= 'Z') return 'upper';
  return character >= '0' && character <= '9' ? 'digit' : 'other';
}

/** Of 62 characters, 0.62 is what chance gives; names in code have 0.1 to 0.35. */
const MIXED_CHANGES = 0.42;
/** Of 36 characters, 0.4 is what chance gives. */
const SINGLE_CASE_CHANGES = 0.22;

/** Capitals, small letters and digits in no order. */
export function isMixedRandom(word: string, shortest: number): boolean {
  if (word.length < shortest || PUBLIC.test(word) || isHexOrUuid(word)) return false;
  const { lower, upper, digit, changes } = kindsOf(word);
  const isMixed = lower >= 2 && upper >= 2 && (digit >= 1 || word.length >= 14);
  return isMixed && changes >= MIXED_CHANGES && !hasSteps(word) && !isMadeOfWords(word);
}

/** The same for letters of one case and digits. */
export function isRandom(word: string, shortest: number): boolean {
  if (isMixedRandom(word, shortest)) return true;
  if (word.length < Math.max(shortest, 20) || isHexOrUuid(word) || !/^[A-Za-z0-9]+$/.test(word)) return false;
  const { lower, upper, digit, changes } = kindsOf(word);
  return (lower === 0 || upper === 0) && digit >= 3 && changes >= SINGLE_CASE_CHANGES;
}

/** Names in code: more than half are runs of three small letters and more. */
function isMadeOfWords(word: string): boolean {
  const runs = word.match(/[A-Z]?[a-z]{3,}/g) ?? [];
  return runs.join('').length > word.length / 2;
}

/** An alphabet or a row of numbers: four neighbours one after the other. */
function hasSteps(word: string): boolean {
  let run = 1;
  for (let index = 1; index < word.length; index++) {
    run = word.charCodeAt(index) - word.charCodeAt(index - 1) === 1 ? run + 1 : 1;
    if (run >= 5) return true;
  }
  return false;
}
