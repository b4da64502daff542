/**
 * What keys look like, for everyone who takes them out of text. Each pattern is anchored by its prefix and by what may
 * not stand before it, so a run of characters is scanned once: linear, also on text made to hurt.
 */
const WORD = '[A-Za-z0-9_-]';
/** The prefix, unless a longer word ends in it. Looked at after the prefix matched: that is the fast order. */
const starting = (prefix: string): string => `${prefix}(?<!${WORD}${prefix})`;

const PEM_KIND = '(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----';
/**
 * Between the lines of a key: blanks, and what tools put before lines: their number, or a path and a number, signs of a
 * comparison or a quotation, blanks; and `$` or `^M$` at the end of one. In
 * JSON that is a string of other JSON a newline has several backslashes.
 */
const PEM_BREAK =
  '(?:(?:\\^M)?\\$?\\r?\\n(?:(?:[^\\n:]{1,200}[:-])? {0,6}\\d{1,9}[\\t:-])?(?:[ \\t]{0,80}(?:\\^I){0,8}(?:[<>|#*+-]{1,3}[ \\t]{0,80})?)|\\s|\\\\{1,15}[nr])';

/** Name to expression; the first that matches at a place wins. */
export const SECRET_PATTERNS: readonly (readonly [string, string])[] = [
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
  ['Ramet memory token', `${starting('ramet_memory_')}[a-z0-9]{10}_${WORD}{43}`],
  ['JSON web token', `${starting('eyJ')}${WORD}{10,}\\.eyJ${WORD}{10,}\\.${WORD}{10,}`],
  [
    'private key',
    `-----BEGIN ${PEM_KIND}(?:${PEM_BREAK}{0,4}[A-Za-z-]{3,20}: [^\\n]{1,100}(?=\\n)){0,4}` +
      `(?:${PEM_BREAK}{0,4}[A-Za-z0-9+/=]{16,}){2,}(?:${PEM_BREAK}{0,4}[A-Za-z0-9+/=]{1,15})?` +
      `(?:${PEM_BREAK}{0,4}-----END ${PEM_KIND})?`,
  ],
];
