/**
 * The secret guard of memory (TEAM-6): what a text holds that must not be kept or sent. Says the rule and the line, never
 * the secret. Recommended rules of secretlint, the keys that Ramet takes out of what agents read, more known prefixes, and
 * chance for what has no form of its own. Loaded late: nobody needs it at a start.
 *
 * Invariants
 * 1. Nothing in a text or its path switches a rule off or makes one open a file.
 * 2. Time grows with the length of the text and no faster, also for text made to hurt.
 */
import { SECRET_PATTERNS } from '../../schema/secret-patterns.ts';
import { addressSecrets } from './address-secret.ts';
import { commandPasswords } from './command-password.ts';
import { drawnWords } from './drawn-words.ts';
import { knownPrefixes, type SecretPlace } from './known-prefixes.ts';
import { libraryFindings } from './library-rules.ts';
import { listedCodes } from './listed-codes.ts';
import { loginSecrets } from './login-secret.ts';
import { namedSecrets } from './named-secret.ts';
import { decodedSigns, decodedWords, joinedWords, straightQuotes } from './plain-spelling.ts';
import { tableSecrets } from './table-secret.ts';

export interface SecretFinding {
  /** What kind of secret: `GitHub token`, `private key`, `secret by its name`. */
  rule: string;
  /** From 1. */
  line: number;
}

/** One for each line that has a secret, in order; a rule that knows its form rather than one that knows chance. */
export function secretsIn(text: string): SecretFinding[] {
  // What only spells or hides signs may cut a secret in two. Without it lines have the same numbers.
  const straight = straightQuotes(text);
  const plain = decodedSigns(straight.replace(UNSEEN, ''));
  const joined = joinedWords(plain);
  const found = new Map<number, SecretFinding>();
  const look = (texts: readonly string[], finders: readonly Finder[]): void => {
    for (const finding of [...new Set(texts)].flatMap((one) => findingsIn(one, finders)))
      if (!found.has(finding.line)) found.set(finding.line, finding);
  };
  look([text, plain, joined], BY_FORM);
  look([straight, plain], BY_NAME);
  look([text, plain], BY_CHANCE);
  look([joined], [encodedSecrets]);
  return [...found.values()].sort((a, b) => a.line - b.line);
}

/** The rule by which a key, or the name of a file, is a secret; null if it is none. Endings of names are left out. */
export function secretInKey(key: string): string | null {
  const parts = key.split('/').map((part) => part.replace(/\.[A-Za-z]{1,8}$/, ''));
  // The parts of one that is spread over folders are random only by chance: its form counts.
  const spread = findingsIn(decodedSigns(parts.join('')), BY_FORM);
  return [...spread, ...secretsIn([key, ...parts].join('\n'))][0]?.rule ?? null;
}

const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;

type Finder = (text: string) => SecretPlace[];
const BY_FORM: readonly Finder[] = [ownPatterns, knownPrefixes, libraryFindings];
const BY_NAME: readonly Finder[] = [
  addressSecrets,
  commandPasswords,
  loginSecrets,
  namedSecrets,
  listedCodes,
  tableSecrets,
];
const BY_CHANCE: readonly Finder[] = [drawnWords];

function findingsIn(text: string, finders: readonly Finder[]): SecretFinding[] {
  const places = finders.flatMap((find) => find(text)).sort((a, b) => a.at - b.at);
  const found = new Map<number, SecretFinding>();
  let line = 1;
  let position = 0;
  for (const { rule, at } of places) {
    for (
      let next = text.indexOf('\n', position);
      next !== -1 && next < at;
      next = text.indexOf('\n', position)
    ) {
      line++;
      position = next + 1;
    }
    if (!found.has(line)) found.set(line, { rule, line });
  }
  return [...found.values()];
}

/** For a message: `line 3 (GitHub token), line 9 (private key)`. */
export function secretsText(findings: readonly SecretFinding[]): string {
  const shown = findings.slice(0, 5).map(({ rule, line }) => `line ${line} (${rule})`);
  const more = findings.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const OWN = new RegExp(SECRET_PATTERNS.map(([, expression]) => `(${expression})`).join('|'), 'g');

function ownPatterns(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const match of text.matchAll(OWN)) {
    const group = match.slice(1).findIndex((captured) => captured !== undefined);
    // As the documents of AWS print it.
    if (!match[0].endsWith('EXAMPLE'))
      found.push({ rule: SECRET_PATTERNS[group]?.[0] ?? 'known secret', at: match.index });
  }
  return found;
}

/** In base64, as Kubernetes and mails keep them, or in hexadecimal digits. */
function encodedSecrets(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const { at, text: decoded } of decodedWords(text)) {
    const [first] = [...BY_FORM, ...BY_NAME].flatMap((find) => find(decoded));
    if (first !== undefined) found.push({ rule: first.rule, at });
  }
  return found;
}
