/**
 * Secrets that only their name gives away: `password: ...`, `DB_TOKEN=...`, "the api key is ...". The nearer the name,
 * the less the value must look like chance. Each name costs a bounded look to both sides, so the whole is linear.
 */
import { CODE, isPassword } from './chosen-password.ts';
import type { SecretPlace } from './known-prefixes.ts';
import { isHexOrUuid, isMixedRandom, isPlaceholder, isRandom } from './random-text.ts';

const WORD =
  /pass|pwd|secret|token|credential|bearer|key|auth|(?<![a-z])sid(?![a-z])|sess(?:ion)?id|pat(?![a-z])/gi;

/** Names end in what they are of: `token_url` is no token. */
const STRONG =
  /(?:^|_)(?:(?:user|db|database|root|admin|my|new|old|app)?pass(?:word|wd|phrase|code)s?|pwd|secrets?|tokens?|credentials?|bearer|(?:api|access|secret|private|account|auth|signing|encryption|master|shared|session|service|subscription|license|storage|deploy|write|admin|server|client)_?keys?)(?:_(?:base|value|string|raw|b64|base64|prod|production|staging|dev|live|main|primary|secondary|default)|_?\d{1,2})*$/;
const WEAK =
  /(?:^|_)(?:keys?|pass|pat|auth|authorization|sessionid|phpsessid|jsessionid)(?:_?\d{1,2})?$|^sid$/;
/** Meant to be seen, or worth nothing to others. */
const OPEN = /(?:^|_)(?:public|pub|publishable|site|anon|hash|hashed|digest|csrf|xsrf)(?:_|$)/;

const BEFORE = 48;
const NAME_PART = /[A-Za-z0-9_-]/;
const FIRST_WORD = /(?:api|access|secret|private|auth) $/i;
const NAME_END = /[A-Za-z0-9_-]{0,24}/y;

/** `=`, `:`, `=>`, `:=`, `|` in a table, and quotes around the name. */
const CONNECTED =
  /(?:\\?["'`\])*]){0,3}\s{0,8}(?::=|=>|->|[:=|])\s{0,8}(?:(?:Bearer|Basic|Token)\s{1,4}|[(*_]{1,2})?/y;
/** `--password X`, `login me password X`, `Bearer X`. */
const SPACED = /[ \t]{1,4}/y;
const QUOTED = /\\?(["'`])([^"'`\s\\]{8,400})\\?\1/y;
const BARE = /[^\s"'`,;<>|\\]{8,400}/y;

export function namedSecrets(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  let past = 0;
  for (const { index, 0: word } of text.matchAll(WORD)) {
    if (index < past) continue;
    const name = nameAround(text, index, index + word.length);
    past = name.end;
    const strength = strengthOf(name.words);
    if (strength === null) continue;
    const at =
      valueAfter(text, name, strength) ?? randomNear(text, name.end, strength) ?? passwordSaid(text, name);
    if (at !== null) found.push({ rule: 'secret by its name', at });
  }
  return found;
}

interface Name {
  /** In small letters with `_` between. */
  words: string;
  end: number;
}

/** The whole name that a word is part of. */
function nameAround(text: string, from: number, to: number): Name {
  let start = from;
  while (from - start < BEFORE && NAME_PART.test(text[start - 1] ?? ' ')) start--;
  if (start === from) start -= FIRST_WORD.exec(text.slice(Math.max(0, from - 8), from))?.[0].length ?? 0;
  NAME_END.lastIndex = to;
  const end = to + (NAME_END.exec(text)?.[0].length ?? 0);
  const words = text
    .slice(start, end)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[ -]+/g, '_')
    .toLowerCase();
  return { words, end };
}

type Strength = 'strong' | 'weak';

function strengthOf(words: string): Strength | null {
  if (OPEN.test(words)) return null;
  if (STRONG.test(words)) return 'strong';
  return WEAK.test(words) ? 'weak' : null;
}

function valueAfter(text: string, { words, end }: Name, strength: Strength): number | null {
  const joined = lengthAt(CONNECTED, text, end);
  const start = end + (joined ?? lengthAt(SPACED, text, end) ?? 0);
  if (start === end) return null;
  QUOTED.lastIndex = start;
  const quoted = QUOTED.exec(text);
  if (quoted !== null && joined !== null) return isSecretValue(quoted[2] ?? '', strength) ? start + 1 : null;
  BARE.lastIndex = start;
  const [bare = ''] = BARE.exec(text) ?? [];
  const value = bare.replace(/[.:!?*_)]+$/, '');
  if (isPlaceholder(value) || NAME_AGAIN.test(value)) return null;
  if (isRandom(value, strength === 'strong' ? 12 : 24)) return start;
  if ((words === 'bearer' || TWO_WORDS.test(words)) && isLongHex(value)) return start;
  if (joined === null || strength === 'weak' || !endsLine(text, start + bare.length)) return null;
  return isLongHex(value) || (!CODE.test(value) && isPassword(value)) ? start : null;
}

/** They mean one thing, so that nothing need join them to a value: `auth token 4b82...`. */
const TWO_WORDS = /(?:^|_)(?:(?:api|auth|access|secret)_?token|(?:api|access|secret|auth)_?key)$/;

function lengthAt(expression: RegExp, text: string, at: number): number | null {
  expression.lastIndex = at;
  return expression.exec(text)?.[0].length ?? null;
}

/** Settings files have nothing after a value without quotes, or a comment. */
function endsLine(text: string, at: number): boolean {
  return /^["'`,;|]{0,2}[ \t]{0,8}(?:\r?\n|$|#|\/\/|\|)/.test(text.slice(at, at + 20));
}

/** `SyntaxKind.DotDotDotToken`: a value that is a name again. */
const NAME_AGAIN = /(?:token|key|password|secret|credential)s?$/i;

function isSecretValue(value: string, strength: Strength): boolean {
  if (isPlaceholder(value) || NAME_AGAIN.test(value)) return false;
  if (strength === 'weak') return isMixedRandom(value, 24);
  return isLongHex(value) || isRandom(value, 12) || isPassword(value);
}

function isLongHex(value: string): boolean {
  return value.length >= 16 && isHexOrUuid(value) && /\d/.test(value) && /[a-f]/i.test(value);
}

const NEAR = 90;
const LONG_LINE = 600;
const NEAR_WORD = /[A-Za-z0-9+/_=~.!@%^*-]{12,200}/g;
const DIGEST =
  /(?:sha\d{1,3}|md5|blake\w{0,3}|h1|integrity|base64|finger ?print|commit|revision|digest|hash|checksum|\bid|#)[-:=,\s"'`]{0,3}(?:is )?[`"']?$/i;
/** "The token of the build is `...`". */
const SAYS_SO = /(?:\b(?:is|was|are|be)|[:=|])\s{0,2}[`"'*]{0,2}$/;

/** A random word shortly after the name, on the same line: prose and tables. */
function randomNear(text: string, end: number, strength: Strength): number | null {
  if (strength === 'weak') return null;
  const around = text.slice(Math.max(0, end - LONG_LINE), end);
  const after = text.slice(end, end + LONG_LINE);
  const stop = after.indexOf('\n');
  const length = stop === -1 ? after.length : stop;
  if (around.length - around.lastIndexOf('\n') + length > LONG_LINE) return null;
  const near = after.slice(0, Math.min(length, NEAR + 200));
  for (const { index, 0: word } of near.matchAll(NEAR_WORD)) {
    if (index > NEAR) return null;
    const before = near.slice(0, index);
    if (DIGEST.test(before) || /sha\d|:\/\//.test(word) || word.split('/').length > 4 || isPlaceholder(word))
      continue;
    const value = word.replace(/[.=!]+$/, '');
    const isSaid = SAYS_SO.test(before);
    if (isRandom(value, isSaid ? 12 : 16) || (isSaid && isLongHex(value))) return end + index;
  }
  return null;
}

const PASSWORD = /(?:^|_)(?:pass(?:word|wd|phrase|code)|pwd)$/;
/** "my password is X", "my password is: X", "the password for the build is now X". */
const SAID =
  /(?:[ \t]{1,4}(?:for|of|on|to|in|at)(?:[ \t]{1,4}[\w.@-]{1,40}){1,4}?)?[ \t]{1,4}(?:is|was)(?:[ \t]{1,4}(?:now|still|set to))?:?[ \t]{1,4}[`"'*_]{0,3}([^\s"'`]{8,64})/y;
/** How passwords are kept and where, in words that look like one. */
const ABOUT_PASSWORDS = /sha-?\d|pbkdf|crypt|argon|hmac|aes|rsa|base-?\d|utf-?\d|^v?\d+\.\d/i;

function passwordSaid(text: string, { words, end }: Name): number | null {
  if (!PASSWORD.test(words)) return null;
  SAID.lastIndex = end;
  const [all = '', said = ''] = SAID.exec(text) ?? [];
  const value = said.replace(/[.,:;!?*_)]+$/, '');
  if (isPlaceholder(value) || ABOUT_PASSWORDS.test(value) || CODE.test(value)) return null;
  return isPassword(value) ? end + all.length - said.length : null;
}
