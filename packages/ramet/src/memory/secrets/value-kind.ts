/**
 * What a value behind the name of a credential is: drawn by a machine, chosen by a person, or none: a placeholder, a reference, a
 * type, a word. Nobody can tell a password that is a plain word from prose.
 */
import { surpriseOf } from './letter-pairs.ts';
import { isCamelName, isDrawn, isHexDrawn, isPlaceholder } from './random-text.ts';

/** `numbered`: a word with digits at an end, which may be a name as well; `named`: several, with what joins them. */
export type ValueKind = 'drawn' | 'chosen' | 'numbered' | 'named';

const SHORTEST = 6;
const LONGEST_CHOSEN = 100;
/** Bits for each step: names, calls and types have 3 to 5. */
const SURPRISING = 5.4;
const SURPRISING_SHORT = 5.8;
const SURPRISING_LONG = 5;
/** In small letters. */
const A_NAME = 5.2;

export function kindOfValue(value: string, isQuoted: boolean): ValueKind | null {
  if (value.length < SHORTEST || isPlaceholder(value) || isMadeUp(value)) return null;
  if (isHexDrawn(value, 16) || isDrawn(value, 12) || isGrouped(value)) return 'drawn';
  if (value.length > LONGEST_CHOSEN || IS_TECHNICAL.test(value)) return null;
  if (isNoise(value)) return 'chosen';
  if (isReference(value)) return null;
  const letters = value.match(/[A-Za-z]/g)?.length ?? 0;
  const digits = value.match(/\d/g)?.length ?? 0;
  const signs = value.match(/[^A-Za-z0-9._:/-]/g)?.length ?? 0;
  if (letters < 2) return null;
  if (isMadeOfNames(value)) return isPhrase(value) ? 'numbered' : digits > 0 ? 'named' : null;
  if (/^[A-Za-z]+\d+$|^\d+[A-Za-z]+\d*$/.test(value))
    return digits >= 2 && value.length >= 8 ? 'numbered' : null;
  if (/^[A-Za-z]+\d+[A-Za-z]{3,}$/.test(value)) return isQuoted && digits >= 2 ? 'numbered' : null;
  if (digits === 0) return signs >= 2 && /[a-z]/.test(value) && /[A-Z]/.test(value) ? 'chosen' : null;
  return value.length >= 8 || signs > 0 ? 'chosen' : null;
}

/** A word with a digit, which is mostly a name: `hunter2`, `Kx9vT2`. */
export function isShortPassword(value: string): boolean {
  if (!/^(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z][^A-Za-z]*[A-Za-z])[A-Za-z0-9]{6,16}$/.test(value)) return false;
  return !isPlaceholder(value) && !isMadeUp(value) && !IS_TECHNICAL.test(value);
}

/** Letters, digits and signs in no order, as programs make passwords: neither words nor code are like that. */
export function isNoise(value: string): boolean {
  if (
    value.length < 8 ||
    !/[A-Za-z].*[A-Za-z]/.test(value) ||
    IS_CODE.test(value) ||
    isCamelName(value) ||
    isCall(value)
  )
    return false;
  if (!/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/.test(value)) return false;
  const least = value.length < 12 ? SURPRISING_SHORT : value.length < 24 ? SURPRISING : SURPRISING_LONG;
  return surpriseOf(value) >= least;
}

/** Properties, and expressions that look for characters. */
const IS_CODE = /^\w+(?:\??\.\w+)+[);,:]*$|^[\w.:>-]+[([]["'`]\w*["'`][)\]]|a-z|\\[wds]/i;

/** `getToken(cookieName`, `Arc::new(...)`, `types::PyBytes`: what stands before the sign is made of words. */
function isCall(value: string): boolean {
  if (/^&?[A-Za-z_]\w*::[A-Za-z_]/.test(value)) return true;
  const [, name = ''] = /^&?([A-Za-z_][\w.:>-]*?)[(<]/.exec(value) ?? [];
  return /[a-z]{3}/.test(name) && surpriseOf(name.toLowerCase().replace(/[^a-z]/g, '')) < A_NAME;
}

/** `correct-horse-battery-staple`: four words and more that nothing but a password joins. */
function isPhrase(value: string): boolean {
  const words = value.split(/[-_]/);
  return words.length >= 4 && words.every((word) => /^[A-Za-z][a-z]{2,9}$/.test(word) && !MADE_UP.has(word));
}

/** Addresses, paths, calls, properties, variables and types. */
const REFERENCE =
  /^(?:[$%@#&*+,:;?~^!]?[A-Za-z_][\w-]*(?:(?:\?\.|\.|::|->|\/)[A-Za-z_*][\w-]*)+[!?;]?|[./~].*|[a-z][a-z0-9+.-]*:\/{0,2}[^\d\s].*|--?[a-z].*|[$%{[(<].*|[\w.+-]+@[\w-]+\.[a-z].*)$|[()[\]{}]|=>|::|\$\{|^[&*!][A-Za-z]/i;

function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

/** Names of methods, formats, versions, dates, sizes. */
const IS_TECHNICAL =
  /sha-?\d|pbkdf|pbes|a\d{3}(?:gcm|cbc|kw|hs)|crypt|argon2|hmac|\baes|rsa\d|[rhep]s(?:256|384|512)|base-?\d|utf-?\d|oauth|ed25519|secp\d|curve25519|x509|http[s12]|^v?\d+(?:[._-]\d+)+|^\d+(?:\.\d+)?[a-z]{1,5}$|^\d{4}-\d\d|^[\d.,:_/+%-]+$|^rfc\d/i;

/** `9f2k-77qx-3m1p`. */
function isGrouped(value: string): boolean {
  const groups = /^[A-Za-z0-9]{3,6}(?:-[A-Za-z0-9]{3,6}){2,7}$/.test(value) ? value.split('-') : [];
  return (
    groups.length > 0 && groups.filter((group) => /\d/.test(group) && /[A-Za-z]/.test(group)).length >= 2
  );
}

/** Words with separators: `db-password2`, `test-user-7`, `src/key_2`. */
function isMadeOfNames(value: string): boolean {
  return /^[@#]?[A-Za-z]+\d{0,2}(?:[-_.:/]+[A-Za-z]*\d{0,2})+[!?]?$/.test(value);
}

/** What people write where a value belongs: `password123`, `fake_access_token_1`. */
const MADE_UP = new Set(
  'a abc access admin alice an any api app auth bad bearer bob change client credential credentials data db default demo dummy empty example fake false field first foo bar baz qux guest here id in input insert invalid item key keyword letters local localhost login me missing mock mongo my mysql name new no none null old one pass passwd password phrase placeholder postgres private pwd qwerty redis refresh replace right root sample secret secrets server service session should some string super temp test testing text the this three to todo token tokens true two type undefined user username valid value with word wrong xyz your'.split(
    ' ',
  ),
);

export function isMadeUp(value: string): boolean {
  const words = value
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  const digits = value.replace(/\D+/g, '');
  return (
    /^(?:\d{0,2}|1234?5?6?7?8?9?0?)$/.test(digits) && words.every((word) => word === '' || MADE_UP.has(word))
  );
}
