/**
 * Secrets that only their name gives away: `PGPASSWORD=...`, `<token>...</token>`, "the api key is ...". Each name costs a
 * bounded look behind it, so the whole is linear.
 */
import { type AssignedValue, assignedValues, type Link } from './assigned-value.ts';
import { type CredentialName, credentialNames } from './credential-name.ts';
import type { SecretPlace } from './known-prefixes.ts';
import { surpriseOf } from './letter-pairs.ts';
import { isDrawn, isHexDrawn, isPlaceholder } from './random-text.ts';
import { ARTICLES, BINDERS } from './sentence-words.ts';
import { isNoise, isShortPassword, kindOfValue, type ValueKind } from './value-kind.ts';

export function namedSecrets(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const name of credentialNames(text)) {
    const at = givenTo(text, name) ?? saidBefore(text, name);
    if (at !== null && !isByChance(text, name)) found.push({ rule: 'secret by its name', at });
  }
  return found;
}

function givenTo(text: string, name: CredentialName): number | null {
  const isTold = name.isPassword && name.strength === 'strong';
  for (const given of assignedValues(text, { ...name, isTold }))
    if (isSecret(text, name, given)) return given.at;
  return null;
}

/** "hunter22x is the password", "use hunter22x as the password". */
const BEFORE = new RegExp(
  `([^\\s"'\`<>|,;]{6,64})["'\`*_]{0,3}[ \\t]{1,4}(?:${BINDERS})[ \\t]{1,4}(?:(?:${ARTICLES})[ \\t]{1,4})?(?:[\\w-]{1,20}[ \\t]{1,4}){0,2}$`,
  'i',
);
const BOUND = new RegExp(`[ \\t](?:${BINDERS})[ \\t]`, 'i');

function saidBefore(text: string, { at, isPassword, strength }: CredentialName): number | null {
  if (!isPassword || strength === 'weak') return null;
  const before = text.slice(Math.max(0, at - 140), at);
  if (!BOUND.test(before.slice(-70))) return null;
  const found = BEFORE.exec(before);
  const kind = kindOfValue(found?.[1]?.replace(/^[*_]+/, '') ?? '', false);
  return found === null || kind === null || RANK[kind] < RANK.chosen
    ? null
    : at - before.length + found.index;
}

const RANK: Readonly<Record<ValueKind, number>> = { drawn: 3, chosen: 2, numbered: 1, named: 0 };

function isSecret(text: string, name: CredentialName, given: AssignedValue): boolean {
  if (name.isCode && isJoined(text, name, given) && /^\d{4,10}$/.test(given.value)) return true;
  if (name.strength === 'weak' && !isDrawnFor(text, name, given)) return false;
  if (name.strength === 'weak') return true;
  const kind = kindOfValue(given.value, given.isQuoted);
  if (kind !== null && !isCode(given, kind) && RANK[kind] >= leastOf(text, name, given)) return true;
  return isWholeNoise(given) || isShortAssigned(text, name, given);
}

/** `PIN 8812`, but not `pin 1024` of a chip. */
function isJoined(text: string, { at, end }: CredentialName, { link }: AssignedValue): boolean {
  return link === 'beside' ? text.slice(at, end) === 'PIN' : link === 'assigned' || link === 'said';
}

/** A table, and a cell of words up to the name. */
const IN_CELL = /(?:^|\n)[ \t>]*(?:[-*+] )?\|(?:[^\n|]*\|)*[\w \t*_`-]*$/;

/** Alone behind the name of a password, up to the end of the line, or of its cell: in code something follows. */
function isShortAssigned(
  text: string,
  { at, end, isPassword }: CredentialName,
  given: AssignedValue,
): boolean {
  if (!isPassword || given.link !== 'assigned' || !isShortPassword(given.value)) return false;
  if (isAlone(given)) return true;
  return /^[*_]{0,2}[ \t]*\|/.test(given.rest) && IN_CELL.test(text.slice(Math.max(0, at - 200), end));
}

function isAlone({ rest }: AssignedValue): boolean {
  return /^[.]?[ \t]*(?:\r?\n|$)/.test(rest);
}

const LONGEST_WHOLE = 64;

/** With signs that end a value elsewhere. */
function isWholeNoise({ whole, value, link }: AssignedValue): boolean {
  return (
    whole !== value &&
    whole.length <= LONGEST_WHOLE &&
    link !== 'beside' &&
    isNoise(whole) &&
    !isPlaceholder(whole)
  );
}

/** In a line of encoded bytes. */
function isByChance(text: string, { at, end }: CredentialName): boolean {
  const word = /[A-Za-z0-9+/]*$/.exec(text.slice(Math.max(0, at - 40), end))?.[0] ?? '';
  return word.length >= 24 && surpriseOf(word) >= 6;
}

/** A session's id may be one that everybody may know. */
function isHexOnly(value: string): boolean {
  return isHexDrawn(value, 24) && !value.includes('-');
}

/** Names of things that everybody may know have values that chance has drawn, unless it is a password or an address has it. */
function isDrawnFor(text: string, { at, isPassword, isPair }: CredentialName, given: AssignedValue): boolean {
  const { link, isQuoted } = given;
  const isQuery = /[?&]$/.test(text.slice(Math.max(0, at - 1), at));
  // Behind the value of an address may be a place in the page.
  const value = isQuery ? given.value.replace(/#.*/, '') : given.value;
  if (link === 'assigned' && (isDrawn(value, 16) || isHexOnly(value))) return true;
  const kind = kindOfValue(value, isQuoted);
  if (kind === null || isCode(given, kind)) return false;
  if (kind === 'numbered' && isPassword && link === 'assigned' && isAlone(given)) return true;
  if (RANK[kind] < RANK.chosen) return false;
  if (isPassword && isDrawn(value, 12)) return true;
  if (isQuery || (isPassword && link === 'assigned')) return true;
  return isPair && (link === 'assigned' || given.hasUser);
}

/** A variable or a call. */
function isCode({ isQuoted, rest, link }: AssignedValue, kind: ValueKind): boolean {
  if (isQuoted || kind === 'drawn') return false;
  if (/^(?:[([]|\.[A-Za-z_])/.test(rest)) return true;
  return kind === 'numbered' && link === 'assigned' && /^[;,)]/.test(rest) && !/^;[ ]?[\w-]+=/.test(rest);
}

/** How much a value must look like a secret. */
function leastOf(
  text: string,
  { at, isPassword, isSpoken }: CredentialName,
  { link }: AssignedValue,
): number {
  const least: Readonly<Record<Link, number>> = {
    assigned: isPassword ? RANK.named : RANK.numbered,
    called: isPassword ? RANK.numbered : RANK.chosen,
    said: RANK.numbered,
    far: RANK.chosen,
    listed: isPassword ? RANK.numbered : RANK.chosen,
    beside: isPassword ? RANK.numbered : isSpoken ? RANK.drawn : RANK.chosen,
  };
  const isGiven = link === 'beside' && GIVES.test(text.slice(Math.max(0, at - 12), at));
  return isGiven ? RANK.numbered : least[link];
}

/** An option, and what gives values to variables. */
const GIVES = /(?:--|(?:^|[\s`])(?:ENV|ARG|SetEnv|setenv|setx|set|export|env) {1,4})$/i;
