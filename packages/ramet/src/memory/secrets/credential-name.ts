/**
 * Names that mean a credential: `PGPASSWORD`, `connect.sid`, `clientSecret`, "the api key". A name is read as words, and its last
 * word says what it is: `token_url` is an address, `password_hash` a digest.
 */

export interface CredentialName {
  /** Where it begins and ends in the text. */
  readonly at: number;
  readonly end: number;
  /** `weak`: such a name may also mean something that everybody may know (`key`, `session`). */
  readonly strength: 'strong' | 'weak';
  /** Passwords are chosen by people; what has another name is mostly drawn by a machine. */
  readonly isPassword: boolean;
  /** Digits alone may be one. */
  readonly isCode: boolean;
  /** Who logs in is told with it: `credentials: ops / ...`. */
  readonly isPair: boolean;
  /** One word in small letters, as in a sentence: no name of a setting. */
  readonly isSpoken: boolean;
}

import { characterKind } from './character-runs.ts';
import { FOREIGN_HITS, inEnglish, ownedName } from './foreign-names.ts';

/** A part that every such name has, in several languages. */
const HIT = new RegExp(
  `pass|pwd|psk|pw(?![a-z])|secret|token|cred|bearer|key|auth|login|codes?(?![a-z])|(?<![a-z])pin(?![a-z])|sess|cookie|sid(?![a-z])|pat(?![a-z])|jwt|identified|${FOREIGN_HITS}|has[l\u0142]o|\u043f\u0430\u0440\u043e\u043b[\u0430-\u044f]{0,4}|\u5bc6\u7801|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9`,
  'gi',
);

const BEFORE = 48;
const AFTER = /[A-Za-z0-9_-]{0,40}(?:\.[A-Za-z][A-Za-z0-9_-]{0,30})?/y;
const PART = characterKind(/[A-Za-z0-9_.-]/);
const LETTER = characterKind(/[A-Za-z]/);

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const PASSWORDS = set('password passwords passwd passphrase pwd pword psk masterauth haslo has\u0142o');
const SECRETS = set(
  'secret secrets credential credentials cred creds bearer sid sessid apikey apikeys token',
);
/** Of many kinds: only what comes before says which. */
const KEYS = set('key keys');
const KEY_OWNERS = set(
  'access account admin aes api app application auth bot client deploy encryption function functions hmac integration jwt license licence master private recovery secret server service session shared signing storage subscription webhook wifi wireguard wlan wpa write',
);
const AUTH_OWNERS = set('basic digest docker http npm proxy redis rediscli registry sasl smtp');
const WEAK = set('auth authorization pat jwt cookie cookies session sess tokens');
const WEAK_PASSWORDS = set('pass pw login');
/** Who logs in is told with them. */
const PAIRS = set('auth cred creds credential credentials login');
const CODE_OWNERS = set(
  'access activation alarm backup door emergency entry gate invite lock login mfa otp pairing pin recovery rescue scratch security unlock',
);
/** Of names that end in `pass` or `pw`, and of words that are glued to it. */
const PASS_OWNERS = set(
  'admin app become bind database db first ftp guest http initial keystore ldap login mail master my mysql new old our pg postgres proxy rabbitmq rcon redis require root sasl smtp ssh store sudo temp temporary tmp user vnc wifi',
);
/** What follows the word that says what it is: where, and how it is written. */
const AFTERWORDS = set(
  'base b64 base64 current default dev development live local main old primary prod production raw secondary staging str string test value',
);

/** Meant to be seen, or worth nothing to others. */
const OPEN = set(
  'public pub publishable anon hash hashed digest csrf xsrf wrong invalid bad incorrect missing forgot forgotten no',
);
const OPEN_TOKENS = set(
  'bos cancel cancellation completion continuation design eos input keyword last lookahead mask max min next output pad page pagination peek prompt special start stop sync syntax unknown',
);
const OPEN_KEYS = set(
  'arrow cache column composite context dict external foreign group host hot idempotency index json keyboard lookup map message natural object partition primary react registry routing row shard shortcut site sort storage surrogate translation unique',
);
const GLUED =
  /(?:password|passwd|passphrase|passcode|pwd|secret|apikey|accesskey|secretkey|privatekey|masterkey|authkey|authtoken|accesstoken|token|creds|credentials|sessid|sessionid)s?$|sessionid/;
const GLUED_PASSWORD = /(?:password|passwd|passphrase|passcode|pwd)$/;
const GLUED_PASS = /^([a-z]+)(?:pass|pw)$/;

export function* credentialNames(text: string): Generator<CredentialName> {
  let past = 0;
  for (const { index, 0: hit } of text.matchAll(HIT)) {
    if (index < past) continue;
    const name = nameAround(text, index, index + hit.length);
    past = Math.max(name.end, index + hit.length);
    const found = meaningOf(name.words);
    if (found !== null) yield { ...found, at: name.at, end: name.end, isSpoken: name.isSpoken };
  }
}

interface Name {
  readonly at: number;
  readonly end: number;
  readonly words: readonly string[];
  readonly isSpoken: boolean;
}

/** The whole name that a word is part of; no words for one that means something else. */
function nameAround(text: string, from: number, to: number): Name {
  let at = from;
  while (from - at < BEFORE && PART[text.charCodeAt(at - 1)]) at--;
  while (at < from && /[.-]/.test(text[at] ?? '')) at++;
  // `-Dpassword=...`
  if (text[at] === 'D' && text[at - 1] === '-' && at + 1 < to) at++;
  AFTER.lastIndex = to;
  let end = to + (AFTER.exec(text)?.[0].length ?? 0);
  while (end > to && /[-_]/.test(text[end - 1] ?? '')) end--;
  const own = wordsOf(text.slice(at, end));
  const [only = ''] = own;
  const owned = own.length === 1 ? ownedName(text, only, end) : null;
  if (owned !== null) return { at, end: owned.end, words: owned.words, isSpoken: true };
  if (only === 'identified') return identified(text, at, end);
  if (own.length > 1) return { at, end, words: own, isSpoken: false };
  if (only === 'session' && /^ id(?![A-Za-z])/i.test(text.slice(end, end + 4)))
    return { at, end: end + 3, words: ['session', 'id'], isSpoken: true };
  const words = [...wordsBefore(text, at), only];
  return { at, end, words, isSpoken: !/^.+[A-Z]/.test(text.slice(at, end)) };
}

/** `IDENTIFIED BY`, as SQL calls it. */
const BY = /[ \t]{1,4}(?:WITH[ \t]{1,4}\S{1,40}[ \t]{1,4})?BY(?=[ \t])/iy;

function identified(text: string, at: number, end: number): Name {
  BY.lastIndex = end;
  const by = BY.exec(text);
  return { at, end: end + (by?.[0].length ?? 0), words: by === null ? [] : ['password'], isSpoken: false };
}

const MOST_LETTERS = 20;

/** Up to two words of a sentence, with one blank after each. */
function wordsBefore(text: string, at: number): string[] {
  const words: string[] = [];
  let end = at - 1;
  while (words.length < 2 && (text[end] === ' ' || (words.length > 0 && text[end] === '-'))) {
    let start = end;
    while (end - start < MOST_LETTERS && LETTER[text.charCodeAt(start - 1)]) start--;
    if (start === end) break;
    words.unshift(text.slice(start, end).toLowerCase());
    end = start - 1;
  }
  return words;
}

/** In small letters; digits are words of their own. */
function wordsOf(name: string): string[] {
  if (/^[A-Z]?[a-z]+$/.test(name)) return [name.toLowerCase()];
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/([A-Za-z])(\d)/g, '$1 $2')
    .toLowerCase()
    .split(/[ _.-]+/);
  return parts.filter((part) => part !== '');
}

type Meaning = Pick<CredentialName, 'strength' | 'isPassword' | 'isPair' | 'isCode'>;

const STRONG: Meaning = { strength: 'strong', isPassword: false, isPair: false, isCode: false };
const STRONG_PASSWORD: Meaning = { ...STRONG, isPassword: true };
const ONLY_WEAK: Meaning = { ...STRONG, strength: 'weak' };
const WEAK_PASSWORD: Meaning = { ...STRONG_PASSWORD, strength: 'weak' };
const CODE: Meaning = { ...STRONG, isCode: true };
const PIN: Meaning = { ...WEAK_PASSWORD, isCode: true };
const PASSCODE: Meaning = { ...STRONG_PASSWORD, isCode: true };

function meaningOf(all: readonly string[]): Meaning | null {
  let size = all.length;
  while (size > 1 && isAfterword(all[size - 1] ?? '')) size--;
  const [word = '', owner = ''] = [all[size - 1], all[size - 2]];
  if (all.some((one) => OPEN.has(one))) return null;
  const own = meaningOfWord(word, owner);
  const [owned, name] = own !== null ? [owner, word] : (inEnglish(word, owner) ?? [owner, word]);
  const meaning = own ?? meaningOfWord(name, owned);
  return meaning !== null && PAIRS.has(name) ? { ...meaning, isPair: true } : meaning;
}

function meaningOfWord(word: string, owner: string): Meaning | null {
  if (PASSWORDS.has(word) || (word === 'passe' && /^(?:de|palavra)$/.test(owner))) return STRONG_PASSWORD;
  if (word === 'passcode') return PASSCODE;
  if (SECRETS.has(word)) return word === 'token' && OPEN_TOKENS.has(owner) ? null : STRONG;
  if (KEYS.has(word)) return OPEN_KEYS.has(owner) ? null : KEY_OWNERS.has(owner) ? STRONG : ONLY_WEAK;
  if (word === 'id') return owner === 'session' || owner === 'sess' ? ONLY_WEAK : null;
  if (word === 'code' || word === 'codes') return CODE_OWNERS.has(owner) ? CODE : null;
  if ((word === 'pass' || word === 'pw') && PASS_OWNERS.has(owner)) return STRONG_PASSWORD;
  if (word === 'auth' && AUTH_OWNERS.has(owner)) return STRONG;
  if (word === 'pin') return PIN;
  if (WEAK_PASSWORDS.has(word)) return WEAK_PASSWORD;
  if (WEAK.has(word)) return OPEN_TOKENS.has(owner) ? null : ONLY_WEAK;
  if (/^[^a-z]/.test(word)) return STRONG_PASSWORD;
  if (GLUED.test(word)) return GLUED_PASSWORD.test(word) ? STRONG_PASSWORD : STRONG;
  return PASS_OWNERS.has(GLUED_PASS.exec(word)?.[1] ?? '') ? STRONG_PASSWORD : null;
}

function isAfterword(word: string): boolean {
  return AFTERWORDS.has(word) || /^\d+$/.test(word);
}
