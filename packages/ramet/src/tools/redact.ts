/**
 * Takes secrets out of text once, at the tool boundary (LOG-1): what follows (conversation, wire, journal) holds the
 * same bytes. Precision before recall: a false hit damages a file the agent reads, so a pattern needs a prefix nobody
 * writes by accident, and an environment value must look like a secret in name and in value.
 *
 * One pass with one regular expression. Each pattern is anchored by its prefix and by what may not stand before it,
 * so a run of characters is scanned once: linear, also on text made to hurt.
 */
export type Redactor = (text: string) => string;

const WORD = '[A-Za-z0-9_-]';
/** The prefix, unless a longer word ends in it. Looked at after the prefix matched: that is the fast order. */
const starting = (prefix: string): string => `${prefix}(?<!${WORD}${prefix})`;

const PEM_KIND = '(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----';
const PEM_BREAK = '(?:\\s|\\\\[nr])';

/** Name to expression; the first that matches at a place wins. */
const PATTERNS: readonly (readonly [string, string])[] = [
  ['Anthropic key', `${starting('sk-ant-')}${WORD}{20,}`],
  [
    'OpenAI key',
    `${starting('sk-')}(?:(?:proj|svcacct|admin)-${WORD}{20,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})`,
  ],
  [
    'GitHub token',
    `${starting('gh')}[pousr]_[A-Za-z0-9]{36,255}|${starting('github_pat_')}[A-Za-z0-9_]{22,255}`,
  ],
  ['GitLab token', `${starting('glpat-')}${WORD}{20,255}`],
  ['AWS key', `${starting('A')}(?:KIA|SIA)[A-Z2-7]{16}(?![A-Za-z0-9])`],
  ['AWS secret', `aws_secret_access_key["']?\\s{0,4}[=:]\\s{0,4}["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])`],
  [
    'Slack token',
    `${starting('xox')}[abeoprs]-\\d[A-Za-z0-9-]{19,255}|${starting('xapp-')}\\d-[A-Za-z0-9-]{20,255}`,
  ],
  ['Slack webhook', 'hooks\\.slack\\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,40}'],
  ['Google key', `${starting('AIza')}${WORD}{35}(?!${WORD})|${starting('GOCSPX-')}${WORD}{28}`],
  ['Google token', `${starting('ya29')}\\.${WORD}{40,}`],
  ['npm token', `${starting('npm_')}[A-Za-z0-9]{36}(?!${WORD})`],
  ['Stripe key', `${starting('[sr]k_live_')}[A-Za-z0-9]{24,255}`],
  ['JSON web token', `${starting('eyJ')}${WORD}{10,}\\.eyJ${WORD}{10,}\\.${WORD}{10,}`],
  [
    'private key',
    `-----BEGIN ${PEM_KIND}(?:${PEM_BREAK}{0,4}[A-Za-z-]{3,20}: [^\\n]{1,100}\\n){0,4}` +
      `(?:${PEM_BREAK}{0,4}[A-Za-z0-9+/=]{16,}){2,}(?:${PEM_BREAK}{0,4}[A-Za-z0-9+/=]{1,15})?` +
      `(?:${PEM_BREAK}{0,4}-----END ${PEM_KIND})?`,
  ],
];

export function createRedactor(env: Readonly<Record<string, string | undefined>>): Redactor {
  const names = secretValues(env);
  // Longest first: of two values of which one begins the other, the whole must go.
  const values = [...names.keys()].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const literals = values.map((value) => RegExp.escape(value)).join('|');
  const groups = PATTERNS.map(([, expression]) => `(${expression})`);
  const everything = new RegExp((literals === '' ? groups : [...groups, literals]).join('|'), 'g');
  const nameOf = (match: string, captured: unknown[]): string => {
    const index = captured.findIndex((group, position) => position < PATTERNS.length && group !== undefined);
    return PATTERNS[index]?.[0] ?? names.get(match) ?? 'secret';
  };
  return (text) => text.replace(everything, (match, ...captured) => `[redacted: ${nameOf(match, captured)}]`);
}

const SECRET_NAME =
  /(?:^|_)(?:API)?(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|PAT|AUTH|CREDENTIALS?)\d*(?:_|$)/i;

/** The shell's own: where it is and was. */
const DIRECTORY_NAME = /^(?:OLD)?PWD$/;

/** Value to variable name. Of two variables with one value the first by name counts, so the text is the same each run. */
function secretValues(env: Readonly<Record<string, string | undefined>>): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of Object.keys(env).sort()) {
    const value = env[name];
    if (value === undefined || found.has(value) || !SECRET_NAME.test(name) || DIRECTORY_NAME.test(name))
      continue;
    if (value.length >= 8 && !isPlain(value)) found.set(value, name);
  }
  return found;
}

const WORDS = /^[A-Za-z]+(?:[ _.-][A-Za-z]+)*$/;
const NUMBER = /^[\d.,:_+-]+$/;
const PATH = /^(?:~|\.{1,2})?(?:\/[\w .@-]*)+$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^@\s]*$/;

/** Words, numbers, paths and addresses stand in ordinary text: a setting that happens to be called a key. */
function isPlain(value: string): boolean {
  return WORDS.test(value) || NUMBER.test(value) || PATH.test(value) || ADDRESS.test(value);
}
