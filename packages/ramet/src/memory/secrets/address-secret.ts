/** Secrets in addresses: `scheme://user:password@host`, a token in the place of a user, the path of a webhook. */
import type { SecretPlace } from './known-prefixes.ts';
import { isDrawn, isHexDrawn, isPlaceholder } from './random-text.ts';
import { isMadeUp, isNoise, kindOfValue } from './value-kind.ts';

const PASSWORD = /:\/\/[^\s/:@"'`<>]{0,100}:([^\s/@"'`<>]{4,200})@[^\s/@"'`<>]/g;
const COMMON_PASSWORD =
  /^(?:pass(?:word|wd)?|pwd|secret|token|user(?:name)?|key|root|admin|postgres|guest|test|hunter2|port|x-oauth-basic|\d{1,5})$/i;
/** Not where the part before the sign is a public key. */
const USER = /(?<!enode|enrtree):\/\/([A-Za-z0-9_-]{20,200})@(?!\S{0,60}sentry)[^\s/@"'`<>]/g;
/** `ops:...@web-1`, with no scheme before it. */
const ACCOUNT =
  /(?<![\w/:.@-])[A-Za-z][\w.-]{0,30}[:/]([^\s:/@"'`<>]{6,64})@(?!sha\d|(?:media|supports|font-face|keyframes|page|import|layer|container|-[a-z])(?![\w.]))[A-Za-z][\w.-]{1,60}/g;
/** A line of ~/.pgpass. */
const PGPASS =
  /(?<![\w.*:-])[A-Za-z*][\w.-]{0,60}:(?:\d{2,5}|port|\*):[A-Za-z*_][\w.-]{0,40}:[A-Za-z*_][\w.-]{0,40}:([^\s:]{6,64})/g;
/** `admin / ...`. */
const PAIR = /(?<![\w.@/-])[A-Za-z][\w.@-]{1,30} \/ ([^\s"'`]{10,64})/g;
const SIGNED = /[?&][\w-]{0,20}(?:signature|sign|sig)=([A-Za-z0-9%+/_-]{32,200})/gi;
/** As a code to scan says how to join a network; its password may be words. */
const NETWORK = /\bWIFI:(?:[A-Z]{1,4}:(?:\\.|[^;\\\n]){0,100};){0,6}P:"?((?:\\.|[^;"\\\n]){6,100})"?;/gi;
const WEBHOOK = /https?:\/\/[^\s"'`<>]{0,200}hook[^\s"'`<>]{0,200}\/([A-Za-z0-9_-]{14,200})/gi;

export function addressSecrets(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  const look = (expression: RegExp, rule: string, isSecret: (value: string) => boolean): void => {
    for (const { index, 1: value = '' } of text.matchAll(expression))
      if (!isPlaceholder(value) && isSecret(value)) found.push({ rule, at: index });
  };
  if (text.includes('@')) {
    look(PASSWORD, 'password in an address', isPassword);
    look(USER, 'password in an address', (value) => isHexDrawn(value, 20) || isDrawn(value, 20));
    look(ACCOUNT, 'password in an address', isChosen);
  }
  if (/:(?:\d{2,5}|port|\*):/.test(text)) look(PGPASS, 'password of a database', isChosen);
  if (text.includes(' / '))
    look(PAIR, 'password behind a name', (value) => /\d|[^\w-]\w/.test(value) && isNoise(value));
  if (/wifi:/i.test(text)) look(NETWORK, 'password of a network', (value) => !isMadeUp(value));
  if (/sig/i.test(text))
    look(SIGNED, 'signed address', (value) => isHexDrawn(value, 32) || isDrawn(value, 32));
  if (/hook/i.test(text))
    look(WEBHOOK, 'address of a webhook', (value) => isHexDrawn(value, 24) || isDrawn(value, 16));
  return found;
}

function isPassword(value: string): boolean {
  return !COMMON_PASSWORD.test(value) && !/^[$%{[(:]|[\\?*|]/.test(value);
}

function isChosen(value: string): boolean {
  const kind = kindOfValue(value, false);
  return kind === 'chosen' || kind === 'drawn';
}
