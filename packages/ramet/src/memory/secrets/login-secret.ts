/**
 * Secrets that no name gives away but what is done with them: a call that logs in, a sentence that says how to, the account of
 * an administrator with something behind it.
 */
import type { SecretPlace } from './known-prefixes.ts';
import { isPlaceholder } from './random-text.ts';
import { kindOfValue } from './value-kind.ts';

/** Functions whose arguments are a user and a password, or a key. */
const CALL =
  /(?:connect|log_?in|log_?on|sign_?in|authenticate|\bauth|credentials?(?:\.basic)?|sequelize|wifi\.begin|hmac|(?:bcrypt|argon2|scrypt|password_?hash\w{0,8})(?:\.|::|_)(?:compare|verify|hash)\w{0,8})\(([^()\n]{8,200})\)/gi;
const ARGUMENT = /"([^"\s\\]{6,64})"|'([^'\s\\]{6,64})'|`([^`\s\\]{6,64})`/g;

const VALUE = `["'\`]?([^\\s"'\`<>|,;]{6,64})`;
/** "sign in as root with X", "log in with admin / X", "mit ops und X". */
const ENTRY = new RegExp(
  `(?<![\\w-])(?:log(?:ged|s|ging)?[ -]?(?:in|on|into)|sign(?:ed|s|ing)?[ -]?in|ssh(?:[ -]in(?:to)?)?|einlogg\\w{1,5}|anmeld\\w{1,5}|connectez-vous|inloggen)(?![\\w-])[^\\n.!?]{0,50}?[ \\t](?:with|using|mit|avec|con|com|met|med)[ \\t]{1,4}(?:[\\w.@+-]{1,30}(?:[ \\t]?[/:][ \\t]?|[ \\t]{1,4}(?:and|und|et|y|e|en|och)[ \\t]{1,4}))?${VALUE}`,
  'gi',
);
const ACCOUNT = new RegExp(
  `(?<![\\w@./:\\\\$-])(?:admin|administrator|root|superuser|sysadmin|minioadmin)(?:[:/]| / )${VALUE}`,
  'gi',
);

export function loginSecrets(text: string): SecretPlace[] {
  return [
    ...callsIn(text),
    ...accountsIn(text, ENTRY, /log|sign|ssh|anmeld|connectez/i),
    ...accountsIn(text, ACCOUNT, /admin|root|superuser/i),
  ];
}

function callsIn(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  if (!/\([^()\n]{0,200}["'`]/.test(text)) return found;
  for (const { index, 1: list = '' } of text.matchAll(CALL))
    for (const [, one, other, third] of list.matchAll(ARGUMENT))
      if (isChosen(one ?? other ?? third ?? '', true)) found.push({ rule: 'password in a call', at: index });
  return found;
}

function accountsIn(text: string, expression: RegExp, first: RegExp): SecretPlace[] {
  const found: SecretPlace[] = [];
  if (!first.test(text)) return found;
  for (const { index, 0: all, 1: value = '' } of text.matchAll(expression))
    if (!/[:/]/.test(value) && isChosen(value.replace(/[.?)*_\]}]+$/, ''), false))
      found.push({ rule: 'password behind a name', at: index + all.length - value.length });
  return found;
}

/** The address of a host, and a setting, are none. */
function isChosen(value: string, isQuoted: boolean): boolean {
  const kind =
    isPlaceholder(value) || /^[\w.-]+:\d{2,5}$|^\w+=\w/.test(value) ? null : kindOfValue(value, isQuoted);
  return kind === 'chosen' || kind === 'drawn';
}
