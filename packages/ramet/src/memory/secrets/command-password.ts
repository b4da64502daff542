/** Passwords in the options of commands whose names say nothing: `curl -u name:X`, `mysql -pX`, `sshpass -p X`. */

import type { SecretPlace } from './known-prefixes.ts';
import { isPlaceholder } from './random-text.ts';
import { isShortPassword, kindOfValue } from './value-kind.ts';

/** The words of a command between its name and the option: bounded, and no further than the command. */
const WORDS = '[ \\t](?:[^\\n|;&]{0,200}[ \\t])??';
const VALUE = `(?:"([^"\\n]{6,64})"|'([^'\\n]{6,64})'|([^\\s"'\`|;<>()]{6,64}))`;
const NAME = `["']?[\\w.@+-]{1,64}`;

/** After one or two others. */
const WORD = `(?:"[^"\\n]{1,100}"|'[^'\\n]{1,100}'|[^\\s"'|;&<>]{1,100})`;
const LAST = `(?:[ \\t]{1,4}${WORD}){1,2}[ \\t]{1,4}`;

/** Programs, and how their option is written up to the password. */
const COMMANDS: readonly (readonly [programs: string, option: string])[] = [
  ['curl|wget|https?|xhs?', `(?:-[a-zA-Z]{0,8}[ua]|--(?:proxy-)?user|--auth)(?:[ \\t]{1,4}|=)?${NAME}:`],
  ['(?:mysql|mariadb)(?:dump|admin|import|show|check|-dump|-admin)?|7za?', '-p'],
  ['sshpass|mongo(?:sh|dump|restore)?', '-p[ \\t]{0,4}'],
  ['(?:docker|podman|nerdctl|buildah|skopeo|helm|oc|az|cf)[ \\t][^\\n|;&]{0,40}login', '-p[ \\t]{1,4}'],
  ['sqlplus|expdp|impdp|rman', '[\\w.$#-]{1,30}/'],
  ['redis-cli', '-a[ \\t]{1,4}'],
  ['ldap(?:search|modify|add|delete|whoami)', '-w[ \\t]{0,4}'],
  ['(?:un)?zip|sqlcmd|bcp', '-P[ \\t]{0,4}'],
  ['openssl', '-k[ \\t]{1,4}'],
  ['ssh-keygen', '-[NP][ \\t]{0,4}'],
  ['user(?:add|mod)', '(?:-p|--password)[ \\t=]{1,4}'],
  ['(?:gh|glab)[ \\t]{1,4}(?:secret|variable)', '(?:--body|-b)[ \\t=]{1,4}'],
  [
    'mc[ \\t]{1,4}(?:alias|config[ \\t]{1,4}host)',
    '(?:set|add)(?:[ \\t]{1,4}[^\\s"\']{1,100}){3}[ \\t]{1,4}',
  ],
  ['net[ \\t]{1,4}use', '\\\\\\\\[^\\s"\']{1,100}[ \\t]{1,4}'],
  ['smbclient|rpcclient', `(?:-U|--user)[ \\t=]{0,4}${NAME}%`],
  // The password is the last of its words.
  ['htpasswd', `-[a-zA-Z]{0,8}b[a-zA-Z]{0,8}${LAST}`],
  ['rabbitmqctl', `(?:add_user|change_password)${LAST}`],
  ['net', `user${LAST}`],
];

/** `echo X | docker login --password-stdin`. */
const PIPED = `(?<![\\w.-])(?:echo|printf)(?:[ \\t]{1,4}-[a-z]{1,4})?[ \\t]{1,4}(?:["']?%s(?:\\\\n)?["']?[ \\t]{1,4})?${VALUE}[ \\t]{0,4}\\|[^\\n|;&]{0,80}(?:-stdin\\b|sudo -S|chpasswd|passwd)`;
const GIVEN = `(?:-stdin|sudo -S|cryptsetup|passwd|secret)(?![\\w-])[^\\n|;&]{0,80}<<<[ \\t]{0,4}${VALUE}`;
const ECHOED = `-pass(?:word|phrase)?-command[ \\t=]{1,4}["']?(?:echo|printf)[ \\t]{1,4}${VALUE}`;
/** Windows writes options so; `/p:` alone is one of a build. */
const SLASHED = `[ \\t]/u(?:ser(?:name)?)?:[^\\n]{1,120}?[ \\t]/p(?:ass(?:word)?|wd)?:${VALUE}`;
const POWERSHELL = `ConvertTo-SecureString(?:[ \\t]{1,4}-(?:String|AsPlainText|Force)){0,3}[ \\t]{1,4}${VALUE}`;

const LOOKS = [
  ...COMMANDS.map(([programs, option]) => `(?<![\\w.-])(?:${programs})${WORDS}${option}${VALUE}`),
  ...[PIPED, GIVEN, ECHOED, SLASHED, POWERSHELL],
].map((look) => new RegExp(look, 'dg'));

/** Most texts name none of them. */
const ANY =
  /curl|wget|http|htpasswd|rabbitmqctl|net us|mysql|mariadb|7z|sshpass|mongo|login|sqlplus|expdp|impdp|rman|redis-cli|ldap|zip|sqlcmd|bcp|openssl|smbclient|rpcclient|stdin|sudo -S|passwd|ssh-keygen|user(?:add|mod)|gh secret|mc |cryptsetup|<<<|-command|\/u(?:ser)?:|SecureString/;

export function commandPasswords(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  if (!ANY.test(text)) return found;
  for (const look of LOOKS)
    for (const { indices, ...match } of text.matchAll(look)) {
      const group = [1, 2, 3].find((one) => match[one] !== undefined) ?? 0;
      const value = (match[group] ?? '').replace(/["'.,:]+$/, '');
      if (isPlaceholder(value) || !(isShortPassword(value) || kindOfValue(value, true) !== null)) continue;
      found.push({ rule: 'password in a command', at: indices?.[group]?.[0] ?? match.index });
    }
  return found;
}
