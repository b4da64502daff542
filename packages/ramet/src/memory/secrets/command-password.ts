/** Passwords in the options of commands whose names say nothing: `curl -u name:X`, `mysql -pX`, `sshpass -p X`. */
import { isPassword } from './chosen-password.ts';
import type { SecretPlace } from './known-prefixes.ts';
import { isPlaceholder, isRandom } from './random-text.ts';

/** The words of a command between its name and the option: bounded, and no further than the command. */
const WORDS = '[ \\t](?:[^\\n|;&]{0,200}[ \\t])??';
const VALUE = `(?:"([^"\\n]{6,64})"|'([^'\\n]{6,64})'|([^\\s"'\`|;<>()]{6,64}))`;
const NAME = `["']?[\\w.@+-]{1,64}`;

/** Programs, and how their option is written up to the password. */
const COMMANDS: readonly (readonly [programs: string, option: string])[] = [
  ['curl|wget|https?|xhs?', `(?:-[a-zA-Z]{0,8}[ua]|--(?:proxy-)?user|--auth)(?:[ \\t]{1,4}|=)?${NAME}:`],
  ['(?:mysql|mariadb)(?:dump|admin|import|show|check|-dump|-admin)?|7za?', '-p'],
  ['sshpass|mongo(?:sh|dump|restore)?', '-p[ \\t]{0,4}'],
  ['(?:docker|podman|nerdctl|buildah|skopeo|helm|oc|az|cf)[ \\t][^\\n|;&]{0,40}login', '-p[ \\t]{1,4}'],
  ['redis-cli', '-a[ \\t]{1,4}'],
  ['ldap(?:search|modify|add|delete|whoami)', '-w[ \\t]{0,4}'],
  ['(?:un)?zip', '-P[ \\t]{0,4}'],
  ['smbclient|rpcclient', `(?:-U|--user)[ \\t=]{0,4}${NAME}%`],
];

const LOOKS = COMMANDS.map(
  ([programs, option]) => new RegExp(`(?<![\\w.-])(?:${programs})${WORDS}${option}${VALUE}`, 'dg'),
);

export function commandPasswords(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const look of LOOKS)
    for (const { indices, ...match } of text.matchAll(look)) {
      const group = [1, 2, 3].find((one) => match[one] !== undefined) ?? 0;
      const value = (match[group] ?? '').replace(/["'.,:]+$/, '');
      if (isPlaceholder(value) || !(isRandom(value, 12) || isPassword(value))) continue;
      found.push({ rule: 'password in a command', at: indices?.[group]?.[0] ?? match.index });
    }
  return found;
}
