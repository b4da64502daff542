/** Passwords that people choose look like words with a few signs, so they count only where a text says that they are one. */
import { isPlain } from '../../tools/redaction/redact.ts';

/** A name, a call, a path of properties, a type. */
export const CODE: RegExp = /[()[\]{}]|^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*$|::|=>/;

/** One word with three digits, or three kinds of characters that are not words with separators. */
export function isPassword(value: string): boolean {
  if (value.length > 64 || isPlain(value)) return false;
  if (ONE_WORD.test(value)) return true;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  return kinds >= 3 && !CODE.test(value) && !MADE_OF_WORDS.test(value);
}

const ONE_WORD = /^(?=[^\d]*[a-zA-Z])(?=(?:\D*\d){3})[A-Za-z0-9]{8,64}$/;
const MADE_OF_WORDS =
  /^[@#]?[A-Za-z]+\d{0,2}(?:[-_.:/@ #]+[A-Za-z]*\d{0,2})*[!?]?$|^https?:|^[./~#]|^\w+\/\w+/;
