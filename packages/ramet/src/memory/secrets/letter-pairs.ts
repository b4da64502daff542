/**
 * How surprising a word is, to one who knows words and names in code: bits for each step from one character to the next. What chance
 * has drawn surprises at almost every step; words, names and paths seldom do. It tells them apart at twelve characters,
 * where Shannon's entropy is about the same for both.
 */

/** Of letters without case, a digit, and anything else. */
export const SYMBOLS = 28;
const DIGIT = 26;
const OTHER = 27;

/** Small letter, capital, digit, anything else. */
export const LETTER_KINDS = 4;

export const COST_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Bits that one digit is worth. */
export const COST_STEP = 0.25;

export function symbolOf(code: number): number {
  const letter = (code | 32) - 97;
  if (letter >= 0 && letter < 26) return letter;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
}

export function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 48 && code <= 57 ? 2 : 3;
}

/** From the row's symbol to the column's; made by `packages/ramet/scripts/letter-pairs.ts`. */
const PAIRS: readonly string[] = [
  'dUQShcPoUqcNPNnUtNQLWdceZkZb',
  'NaZdJbgaQTiLgjOgpQTfQnkqUkSU',
  'PiYfNhlMWlOSioJbrQUOUprvdpXT',
  'OZWVGZahNiWWZdRXoUSYWedkbpVQ',
  'RYQPXVbkckkUTNcWbLLPgXbTbsbS',
  'PcZbNPkiInnTjeLioSVURpioarRV',
  'TfbgFcZVOjlVaSVYnQSWTihpemdQ',
  'KeaeHejePkjcbhMclNYRXjjreqdT',
  'UZQSUXUqmpfQTIMUpWONoWtexVma',
  'RieeHhgfVfbegdPdebGeSYVifgWe',
  'PWXYHYYgOfgWaUVUmaORZfeohkdM',
  'OdZTJdjkLnYOgjNXpZSRSblwUviT',
  'KVYfIimoNombSfPOugQeXknsfqeP',
  'PgQOOWOhTmaabXRXqaNJXYhweqiS',
  'aXTRjXbragXQPJSQwLVUQYUakomZ',
  'KlebKkjbPuiPflNVqMXNRhlqfvfX',
  'beecdhhfdggRbgegdZaeCeafifUa',
  'NeTWIeWlOqWaVWNdvTQRUZjvVrkT',
  'SeRXKclUPrYaZdRRjYOKTkbiZviN',
  'NeVcKckQLrkadgOWuPQUXkfqSteP',
  'XWXUPZWoUqlNSLfRsMNLimseopcg',
  'JhgjEkhmKlofikWloieigmkoekSV',
  'KgecLgiUMjeZeOKdoPNZkjghkmcV',
  'UbPbObidSdidbdZLkeXHegfbYiPN',
  'VXVWVZccVidUTPVHmYOPdcWojgcM',
  'MgffGheeUfeddeIjkjWfYigiWTWW',
  'UUUVUUjihkihfggfkeffhhhbklCP',
  'PUPTSVYWSacUSWURiQOPXYVfnhQP',
];
const KINDS: readonly string[] = ['BPbS', 'DGbT', 'JRCP', 'CMQP'];

const PAIR_COST = Float64Array.from(PAIRS.join(''), costOf);
const KIND_COST = Float64Array.from(KINDS.join(''), costOf);
/** Each of ten digits alike would be 3.3; rows of digits are numbers, which say little. */
const DIGIT_COST = 1;

function costOf(digit: string): number {
  return COST_DIGITS.indexOf(digit) * COST_STEP;
}

/** 4 for a long name in code, 8 for what chance draws of 62 characters; 0 for a word of one character. */
export function surpriseOf(word: string): number {
  // In a word of one case that case is no choice.
  const isMixed = /[a-z]/.test(word) && /[A-Z]/.test(word);
  let bits = 0;
  for (let at = 1; at < word.length; at++) {
    const [one, other] = [word.charCodeAt(at - 1), word.charCodeAt(at)];
    const kind = kindOf(other);
    bits += PAIR_COST[symbolOf(one) * SYMBOLS + symbolOf(other)] ?? 0;
    if (kind === 2) bits += DIGIT_COST;
    else if (isMixed && kind < 2 && !isInCapitals(word, at))
      bits += KIND_COST[kindOf(one) * LETTER_KINDS + kind] ?? 0;
  }
  return word.length < 2 ? 0 : bits / (word.length - 1);
}

/** `API_KEY`: after two capitals another is no choice either. */
function isInCapitals(word: string, at: number): boolean {
  return at > 1 && [at - 2, at - 1, at].every((one) => kindOf(word.charCodeAt(one)) === 1);
}
