/** Codes that let people in once, one or a list: `Recovery codes: 9f2k-77qx, ...`, `backup codes` and a list below. */
import { credentialNames } from './credential-name.ts';
import type { SecretPlace } from './known-prefixes.ts';

const QUALIFIER =
  "(?:[ \\t]{1,4}\\([^()\\n]{1,40}\\)|[ \\t]{1,4}(?:of|for|on|in|at)(?:[ \\t]{1,4}[\\w.@'-]{1,40}){1,4}?)?";
const LINK = '[ \\t*_]{0,4}(?:[:=]|are|is)?[ \\t*_]{0,4}';
const BREAK =
  '(?:\\r?\\n[ \\t>]{0,20}){0,2}(?:```\\w{0,10}\\r?\\n[ \\t]{0,8})?(?:(?:[-*+\\u2022]|\\d{1,2}[.)])[ \\t]{1,4})?';
/** Two groups or more, or digits alone. */
const CODE =
  '(\\d{4,5}[ -]\\d{4,5}|\\d{8,10}|(?=[a-z-]{0,12}\\d[a-z-]{0,12}\\d)[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,6})';
const LISTED = new RegExp(
  `${QUALIFIER}(?=[ \\t]{0,4}[:=\\n\\r*_]|[ \\t]{1,4}(?:are|is)\\b)${LINK}${BREAK}["'\`]?${CODE}(?![\\w-])`,
  'diy',
);

const A_YEAR = /^(?:19|20)\d\d[ -]?(?:\d{4}$|[01]\d-)/;

export function listedCodes(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  if (!/codes?(?![a-z])/i.test(text)) return found;
  for (const { end, isCode } of credentialNames(text)) {
    if (!isCode) continue;
    LISTED.lastIndex = end;
    const match = LISTED.exec(text);
    const code = match?.[1] ?? '';
    if (code !== '' && !A_YEAR.test(code))
      found.push({ rule: 'code that lets in', at: match?.indices?.[1]?.[0] ?? end });
  }
  return found;
}
