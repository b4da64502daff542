/**
 * Takes secrets out of text once, at the tool boundary (LOG-1): what follows (conversation, wire, journal) holds the
 * same bytes. Precision before recall: a false hit damages a file the agent reads, so a pattern needs a prefix nobody
 * writes by accident, and an environment value must look like a secret in name and in value.
 * One pass with one regular expression.
 */
import { SECRET_PATTERNS } from '../../schema/secret-patterns.ts';

/**
 * Private keys without their first line, as `tail -n +2` shows them: known by their last. Looked for from there
 * upwards, so text without such a line costs one search.
 */
const LAST = /-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/;

/** What tools put before a line, the line, and what they put behind it. */
const PART =
  /^(?:[^\n:]{1,200}[:-])?[ \t\d:]{0,90}(?:\^I){0,8}[<>|#*+-]{0,3}[ \t]{0,80}[A-Za-z0-9+/=]{1,80}(?:\^M)?\$?\r?$/;

const LONG = /[A-Za-z0-9+/]{40,}={0,2}(?:\^M)?\$?\r?$/;

export type Redactor = (text: string) => string;

export function createRedactor(env: Readonly<Record<string, string | undefined>>): Redactor {
  const names = secretValues(env);
  // Longest first: of two values of which one begins the other, the whole must go.
  const values = [...names.keys()].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const literals = values.map((value) => RegExp.escape(value)).join('|');
  const groups = SECRET_PATTERNS.map(([, expression]) => `(${expression})`);
  const everything = new RegExp((literals === '' ? groups : [...groups, literals]).join('|'), 'g');
  const nameOf = (match: string, captured: unknown[]): string => {
    const index = captured.findIndex(
      (group, position) => position < SECRET_PATTERNS.length && group !== undefined,
    );
    return SECRET_PATTERNS[index]?.[0] ?? names.get(match) ?? 'secret';
  };
  return (text) =>
    maskHeadlessKeys(
      text.replace(everything, (match, ...captured) => `[redacted: ${nameOf(match, captured)}]`),
    );
}

const SECRET_NAME =
  /(?:^|_)(?:API)?(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|PAT|AUTH|CREDENTIALS?)\d*(?:_|$)/i;

/** The shell's own: where it is and was. */
const DIRECTORY_NAME = /^(?:OLD)?PWD$/;

/**
 * Value to variable name. Of two variables with one value the first by name counts, so the text is the same each run.
 */
export function secretValues(env: Readonly<Record<string, string | undefined>>): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of Object.keys(env).sort()) {
    const value = env[name];
    if (value === undefined || found.has(value) || !SECRET_NAME.test(name) || DIRECTORY_NAME.test(name))
      continue;
    if (value.length >= 8 && !isPlain(value)) found.set(value, name);
  }
  for (const name of Object.keys(env).sort()) {
    for (const part of credentialsIn(env[name] ?? '')) if (!found.has(part)) found.set(part, name);
  }
  return found;
}

/** Name and password in an address, as proxies have them: both together, and the password where it is no plain word. */
function credentialsIn(value: string): string[] {
  const [, pair, password = ''] =
    /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#\s:@]*:([^/?#\s]+))@[^@\s]+$/i.exec(value) ?? [];
  if (pair === undefined || pair.length < 6) return [];
  const alone = [password, decoded(password)].filter((text) => text.length >= 8 && !isPlain(text));
  return [pair, ...new Set(alone)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const WORDS = /^[A-Za-z]+(?:[ _.-][A-Za-z]+)*$/;
const NUMBER = /^[\d.,:_+-]+$/;
const PATH = /^(?:~|\.{1,2})?(?:\/[\w .@-]*)+$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^@\s]*$/;

/** Words, numbers, paths and addresses occur in ordinary text: such a setting only happens to be called a key. */
function isPlain(value: string): boolean {
  return WORDS.test(value) || NUMBER.test(value) || PATH.test(value) || ADDRESS.test(value);
}

export function maskHeadlessKeys(text: string): string {
  if (!LAST.test(text)) return text;
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    if (LAST.test(line)) maskAbove(kept);
    kept.push(line);
  }
  return kept.join('\n');
}

function maskAbove(lines: string[]): void {
  let from = lines.length;
  while (from > 0 && PART.test(lines[from - 1] ?? '')) from--;
  // A word or two above it is text about keys.
  const at = lines.findIndex((line, index) => index >= from && LONG.test(line));
  if (at !== -1) lines.splice(at, lines.length - at, '[redacted: private key]');
}
