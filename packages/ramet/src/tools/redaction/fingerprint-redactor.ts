/**
 * The redactor of `redact.ts` for a process that must not hold the secrets it takes out (EXEC-2): of each value it has
 * the length and a salted digest, and a number by which a scan finds where a look is worth its while. For every text it
 * gives what the other one gives.
 */
import { createHash, randomBytes } from 'node:crypto';
import { SECRET_PATTERNS } from '../../schema/secret-patterns.ts';
import { maskHeadlessKeys, type Redactor, secretValues } from './redact.ts';

export interface SecretFingerprint {
  /** Of the variable, which replaces the value in the text. */
  name: string;
  length: number;
  rolling: number;
  digest: string;
}

export interface SecretFingerprints {
  salt: string;
  /** The longest first: of two of which one begins the other, the whole must go. */
  values: readonly SecretFingerprint[];
}

export function fingerprintSecrets(env: Readonly<Record<string, string | undefined>>): SecretFingerprints {
  const salt = randomBytes(16).toString('hex');
  const values = Array.from(secretValues(env), ([value, name]) => ({
    name,
    length: value.length,
    rolling: rollingOf(value),
    digest: digestOf(salt, value),
  }));
  return { salt, values: values.sort((a, b) => b.length - a.length) };
}

interface Found {
  at: number;
  end: number;
  name: string;
}

export function createFingerprintRedactor({ salt, values }: SecretFingerprints): Redactor {
  const groups = SECRET_PATTERNS.map(([, expression]) => `(${expression})`);
  return (text) => {
    const literals = findLiterals(text, salt, values);
    const patterns = new RegExp(groups.join('|'), 'g');
    const parts: string[] = [];
    let position = 0;
    for (;;) {
      const next = nextFound(patternFrom(patterns, text, position), literals, position);
      if (next === null) break;
      parts.push(text.slice(position, next.at), `[redacted: ${next.name}]`);
      position = next.end;
    }
    return maskHeadlessKeys(parts.length === 0 ? text : parts.join('') + text.slice(position));
  };
}

function patternFrom(patterns: RegExp, text: string, from: number): Found | null {
  patterns.lastIndex = from;
  const match = patterns.exec(text);
  if (match === null) return null;
  const group = match.slice(1).findIndex((captured) => captured !== undefined);
  const name = SECRET_PATTERNS[group]?.[0] ?? 'secret';
  return { at: match.index, end: match.index + match[0].length, name };
}

/** The first from `position` on; at the same place a pattern goes before a value, a longer value before a shorter. */
function nextFound(pattern: Found | null, literals: readonly Found[], position: number): Found | null {
  const literal = literals.find(({ at }) => at >= position) ?? null;
  if (pattern === null || literal === null) return pattern ?? literal;
  return literal.at < pattern.at ? literal : pattern;
}

/** Every place of every value, in order. */
function findLiterals(text: string, salt: string, values: readonly SecretFingerprint[]): Found[] {
  const found: Found[] = [];
  for (const length of new Set(values.map((value) => value.length))) {
    const wanted = new Map(values.filter((value) => value.length === length).map((v) => [v.digest, v.name]));
    const worthALook = new Set(values.filter((value) => value.length === length).map((v) => v.rolling));
    for (const at of placesOf(text, length, worthALook)) {
      const name = wanted.get(digestOf(salt, text.slice(at, at + length)));
      if (name !== undefined) found.push({ at, end: at + length, name });
    }
  }
  return found.sort((a, b) => a.at - b.at || b.end - a.end);
}

/** Where a stretch of that length has one of these numbers: Rabin and Karp's scan, one step a character. */
function* placesOf(text: string, length: number, numbers: ReadonlySet<number>): Generator<number> {
  if (text.length < length) return;
  let power = 1;
  for (let i = 1; i < length; i++) power = Math.imul(power, BASE);
  let rolling = rollingOf(text.slice(0, length));
  for (let at = 0; ; at++) {
    if (numbers.has(rolling)) yield at;
    if (at + length >= text.length) return;
    rolling = (rolling - Math.imul(text.charCodeAt(at), power)) | 0;
    rolling = (Math.imul(rolling, BASE) + text.charCodeAt(at + length)) | 0;
  }
}

const BASE = 0x01000193;

function rollingOf(text: string): number {
  let rolling = 0;
  for (let i = 0; i < text.length; i++) rolling = (Math.imul(rolling, BASE) + text.charCodeAt(i)) | 0;
  return rolling;
}

function digestOf(salt: string, value: string): string {
  return createHash('sha256').update(salt).update(value, 'utf16le').digest('hex');
}
