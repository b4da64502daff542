import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cleanFiles } from '../../../test/fixtures/clean-files.ts';
import { plantedSecrets } from '../../../test/fixtures/planted-secrets.ts';
import { BASE36, BASE62, HEX, seededRandom, URL64 } from '../../../test/fixtures/seeded-random.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { openMemoryDatabase } from '../server/key-store.ts';
import { TeamTokens } from '../server/team-tokens.ts';
import { secretInKey, secretsIn, secretsText } from './secret-guard.ts';

/** Not the seed that the rules were tuned on; `npm run bench -- secrets` judges ten times as many. */
const SEED = 4_711;

describe('TEAM-6: the secret guard', () => {
  test('finds planted secrets of 50 kinds at their line: at least 97 of 100', ({ annotate }) => {
    const planted = plantedSecrets(SEED, 5);
    expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(50);
    const missed = planted.filter(({ text, line }) => !secretsIn(text).some((found) => found.line === line));
    const recall = 1 - missed.length / planted.length;
    void annotate(`recall ${recall} of ${planted.length}`);
    expect(recall, missed.map(({ kind }) => kind).join(', ')).toBeGreaterThanOrEqual(0.97);
  });

  test('names at most one clean file in 200, of those full of digests and keys that are public', () => {
    const clean = cleanFiles(SEED, 200);
    const named = clean.filter(({ text }) => secretsIn(text).length > 0);
    expect(named.map(({ kind }) => kind).length).toBeLessThanOrEqual(1);
  });

  test('never repeats a secret in what it says', () => {
    for (const { text, secret } of plantedSecrets(SEED, 1)) {
      const said = secretsText(secretsIn(text));
      expect(said).not.toContain(secret.slice(0, 12));
    }
  });

  test('knows the tokens of team memory, in whatever sentence and as a key', () => {
    using db = openMemoryDatabase(temporaryDirectory());
    const tokens = new TeamTokens(db);
    for (let number = 0; number < 24; number++) {
      const { token } = tokens.create({ team: 'crew', note: '', now: number });
      for (const text of [token, `Use ${token} for the memory server.`, `(${token})`])
        expect(secretsIn(`# Sync\n${text}\n`)).toEqual([{ line: 2, rule: 'Ramet memory token' }]);
      expect(secretInKey(`x/${token}.md`)).toBe('Ramet memory token');
    }
  });

  test('finds a token of a service that nobody knows behind words that name it', () => {
    const random = seededRandom(SEED);
    const names = ['acme_live_', 'internal-deploy-', 'corp_', 'my_own_service_'];
    const made = Array.from({ length: 200 }, () => random.pick(names) + random.text(BASE62, 44));
    expect(made.filter((token) => secretsIn(`Use ${token} for it.`).length === 0)).toEqual([]);
    expect(made.filter((token) => secretsIn(`- ${token}`).length === 0)).toEqual([]);
  });

  test('finds secrets in JSON inside of JSON, however often', () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const password = seededRandom(SEED).text(BASE62, 12);
    for (const secret of [{ private_key: privateKey }, { password }]) {
      let text = JSON.stringify({ type: 'service_account', ...secret });
      for (const _ of [1, 2, 3, 4]) {
        expect(secretsIn(text)).toMatchObject([{ line: 1 }]);
        text = JSON.stringify({ env: { SA: text } });
      }
    }
  });

  test('finds in base64 and in hexadecimal digits what it finds by its name', () => {
    const random = seededRandom(SEED);
    const uuid = [8, 4, 4, 4, 12].map((length) => random.text(HEX, length)).join('-');
    const plain = [
      ...[`password: ${random.text(BASE62, 12)}`, `DB_PASSWORD=${random.text(BASE62, 12)}`],
      ...[`HEROKU_API_KEY=${uuid}`, `machine x.example.net login ops password ${random.text(BASE62, 12)}`],
    ];
    for (const text of plain)
      for (const coding of ['hex', 'base64'] as const)
        expect([text, secretsIn(`cfg: ${Buffer.from(text).toString(coding)}`).length]).toEqual([text, 1]);
  });

  test('is not switched off by a comment in the text', () => {
    const [token] = plantedSecrets(SEED, 1).filter(({ kind }) => kind === 'shopify');
    const text = `<!-- secretlint-disable -->\n${token?.secret}\n<!-- secretlint-enable -->\n`;
    expect(secretsIn(text)).toMatchObject([{ line: 2 }]);
  });

  test('lists one finding for each line, and at most five in a message', () => {
    const random = seededRandom(SEED);
    const lines = Array.from(
      { length: 7 },
      () => `API_KEY=${random.text(HEX, 40)} # ghp_${random.text(BASE62, 36)}`,
    );
    const found = secretsIn(`# keys\n${lines.join('\n')}\n`);
    expect(found.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(secretsText(found)).toMatch(/^line 2 \([^)]+\), .*line 6 \([^)]+\) and 2 more$/);
  });

  const chosen = (random = seededRandom(8)): string => `${random.text(BASE62, 9)}7Qx`;
  test.each<[string, () => string]>([
    [
      'signed cookie',
      () => `connect.sid=s%3A${seededRandom(1).text(URL64, 32)}.${seededRandom(2).text(BASE62, 43)}`,
    ],
    [
      'signed cookie',
      () => `s:${seededRandom(1).text(URL64, 32)}.${seededRandom(2).text(BASE62, 40)}%2Fx%2B`,
    ],
    ['secret by its name', () => `sid=${seededRandom(3).text(BASE62, 32)}`],
    ['secret by its name', () => `Cookie: theme=dark; sid=${seededRandom(3).text(BASE62, 32)}; lang=en`],
    ['secret by its name', () => `PHPSESSID=${seededRandom(3).text(BASE36, 26)}`],
    ['secret by its name', () => `sessionid=${seededRandom(3).text(BASE36, 32)}`],
    ['password in a command', () => `curl -u admin:${chosen()} https://api.internal.net`],
    ['password in a command', () => `curl -sS --user 'admin:${chosen()}' -X POST https://api.internal.net`],
    ['password in a command', () => `mysql -u root -p${chosen()} main < dump.sql`],
    ['password in a command', () => `mysqldump -h db -uroot -p'${chosen()}' main`],
    ['password in a command', () => `sshpass -p ${chosen()} ssh deploy@web-1`],
    ['password in a command', () => `sshpass -p'Tr0ub4dor&3x' scp a web-1:`],
    ['password in a command', () => `docker login -u ci -p ${chosen()} registry.internal.net`],
    ['password in a command', () => `redis-cli -h cache -a ${chosen()} ping`],
    ['secret by its name', () => 'my password is Tr0ub4dor&3x'],
    ['secret by its name', () => 'The password for the staging db is now `Tr0ub4dor&3x`, ask Kim.'],
    ['secret by its name', () => `twilio auth token ${seededRandom(5).text(HEX, 32)}`],
    ['secret by its name', () => `Use api key ${seededRandom(5).text(HEX, 40)} for staging.`],
  ])('finds a %s that nothing joins to its name: %#', (rule, line) => {
    expect(secretsIn(`- fine\n${line()}\n`)).toEqual([{ rule, line: 2 }]);
  });

  test.each([
    'curl -u admin:admin https://localhost:9200',
    'curl -u "$USER:$PASS" https://x; curl -u user:password https://x; curl -u alice: https://x',
    'curl -u <user>:<password> https://x and curl -u $NAME:$SECRET_9 https://x',
    'git push -u origin feature/A1b2-c3',
    'mysql -u root -p main; mysql -u root -p3306; mysql -p"$PASS" -P 3307',
    'docker run -p 8080:80 web2; ssh -p 2222 web-1; sshpass -p "$PASS" ssh web-1; sshpass -e ssh a1B2',
    'mkdir -p src/Api2/v3 && tar -cpf a.tar b1C2d3e4',
    'The password is stored as PBKDF2-HMAC-SHA512, the token is HMAC-SHA256.',
    'The password is case-sensitive; the password for Kim is in 1Password.',
    'The password is config.Auth2.password3 and the pass was v2.3.1-beta.4',
    'my password is ******** and yours is <PASSWORD_2>',
    'The cancellation token 4b825dc642cb6eb9a060e54bf8d69288fbee4904 was seen.',
    "{ session_id: 'sesn_011CZkZAtmR3yMPDzynEDxu7' }",
    'session_id: 7f3c2a10-9d4e-4b6a-8c1d-2e5f60718293',
    'resume session k3v9x2ab with sid=ab12',
  ])('says nothing about %j, which is like one', (line) => {
    expect(secretsIn(line)).toEqual([]);
  });

  test.each([
    'password: ********',
    'API_KEY=<your key>',
    'export TOKEN=$(pass show build)',
    'const token = lexer.nextToken();',
    'password: z.string().min(8),',
    'max_tokens: 4096',
    'apiKey: process.env.API_KEY2,',
    'The password for staging is in the vault; ask Kim.',
    'token_url: https://login.example.org/oauth2/v2/token',
    'postgres://user:password@localhost:5432/main',
    'aws_access_key_id = AKIAIOSFODNN7EXAMPLE',
    'passwordHash: string;',
    'commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    '',
  ])('says nothing about %j', (line) => {
    expect(secretsIn(line)).toEqual([]);
  });

  test.each(['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u034f', '\u3164', '\ufe0f'])(
    'finds a token that %j cuts in pieces, and one that follows it',
    (sign) => {
      const secret = `ghp_${seededRandom(4).text(BASE62, 36)}`;
      const cut = `${secret.slice(0, 9)}${sign}${secret.slice(9, 20)}${sign}${sign}${secret.slice(20)}`;
      expect(secretsIn(`fine\nuse ${cut}\nx${sign}${secret}\n`)).toMatchObject([
        { rule: 'GitHub token', line: 2 },
        { line: 3 },
      ]);
      expect(secretsIn(`a ${sign} family \u{1f468}\u200d\u{1f469} of words`)).toEqual([]);
    },
  );

  test.each(['\\_', '%5F', '%5f'])('finds a token that has %j for a sign of its own', (sign) => {
    const secret = `ghp_${seededRandom(4).text(BASE62, 36)}`.replace('_', sign);
    expect(secretsIn(`fine\nuse ${secret} here\n`)).toEqual([{ rule: 'GitHub token', line: 2 }]);
    expect(secretsIn(`a name\\_with 20%5F of signs \\- and \\.`)).toEqual([]);
    expect(secretInKey(`notes/${secret}.md`)).toBe('GitHub token');
  });

  const code = (sign: string): string => sign.charCodeAt(0).toString(16);
  const each = (change: (sign: string) => string) => (secret: string) => Array.from(secret, change).join('');
  test.each<[string, (secret: string) => string]>([
    ['%67%68', each((sign) => `%${code(sign)}`)],
    ['\\x67\\x68', each((sign) => `\\x${code(sign)}`)],
    ['\\u0067', each((sign) => `\\u00${code(sign)}`)],
    ['&#103;', each((sign) => `&#${sign.charCodeAt(0)};`)],
    ['&lowbar;', (secret) => secret.replace('_', '&lowbar;')],
    ['letters of double width', each((sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))],
    ['accents', (secret) => secret.replace(/[a-z]/g, '$&\u0301')],
    ['bold letters inside', (secret) => `${secret.slice(0, 9)}**${secret.slice(9, 14)}**${secret.slice(14)}`],
    ['an element inside', (secret) => `${secret.slice(0, 9)}<b>${secret.slice(9)}</b>`],
    ['two strings', (secret) => `"${secret.slice(0, 9)}" + "${secret.slice(9)}"`],
    ['base64', (secret) => Buffer.from(`x: ${secret}`).toString('base64')],
    ['digits', (secret) => Buffer.from(secret).toString('hex')],
  ])('finds a token that is written with %s, at its line', (_, spell) => {
    const secret = `ghp_${seededRandom(4).text(BASE62, 36)}`;
    expect(secretsIn(`# fine\n\nuse ${spell(secret)} here\n`)).toMatchObject([{ line: 3 }]);
    const words = secretsIn(`# fine\n\nuse ${spell('the_words_of_a_long_name_for_something')} here\n`);
    expect(words.filter(({ rule }) => rule !== 'random text')).toEqual([]);
  });

  test('finds a token that is spread over the folders of a key', () => {
    const secret = `ghp_${seededRandom(4).text(BASE62, 36)}`;
    expect(secretInKey(`${secret.slice(0, 20)}/${secret.slice(20)}.md`)).toBe('GitHub token');
  });

  test('looks at keys part by part, and leaves ordinary ones alone', () => {
    const word = seededRandom(6).text(BASE62, 40);
    for (const key of [`${word}.md`, `a/${word}/b.md`, `sk-ant-api03-${word}${word}AA.md`])
      expect([key, secretInKey(key)]).toEqual([key, expect.any(String)]);
    for (const key of [
      ...['MEMORY.md', 'agents/code-reviewer/MEMORY.md', 'sessions/k3v9x2ab.md', 'api-keys.md'],
      ...['local/work-6cc12396/MEMORY.md', 'tokens/how-they-work.md', 'release-2026-11-17.md'],
    ])
      expect([key, secretInKey(key)]).toEqual([key, null]);
  });

  test.each(['\0', '\ud800', '\ufeff', 'key:', 'password=', `token: ${'"'.repeat(100)}`])(
    'reads %j without failing',
    (text) => {
      expect(() => secretsIn(text)).not.toThrow();
    },
  );

  /** Each is what one of the expressions likes to look at again and again. */
  const HOSTILE = {
    'one word': () => 'a'.repeat(LENGTH),
    'random letters': () => seededRandom(1).text(BASE62, LENGTH),
    'names without values': () => 'password: '.repeat(LENGTH / 10),
    'names in one line': () => 'token=x '.repeat(LENGTH / 8),
    'joined names': () => 'api_key_secret_token_'.repeat(LENGTH / 21),
    addresses: () => '://a:b'.repeat(LENGTH / 6),
    commands: () => 'curl -u a:b -pmysql '.repeat(LENGTH / 20),
    'a command of many words': () => `mysql ${'-u a -p x '.repeat(LENGTH / 10)}`,
    'passwords that are said': () => 'password for a is '.repeat(LENGTH / 18),
    'beginnings of tokens': () => 'ghs_1_xoxb-SG.eyJsk-ant-hvs.'.repeat(LENGTH / 28),
    'beginnings of private keys': () => '-----BEGIN PRIVATE KEY-----\n'.repeat(LENGTH / 28),
    'a private key without an end': () => `-----BEGIN PRIVATE KEY-----\n${'MIIE '.repeat(LENGTH / 5)}`,
    'tokens with points': () => `ghs_1_${'a_1_ghs_'.repeat(100)}.`.repeat(LENGTH / 807),
    'codes and joints': () => '%67\\x68&#95;"+"a*b<c '.repeat(LENGTH / 22),
    'one word of digits': () => '6a'.repeat(LENGTH / 2),
    'names in another language': () => 'Das Passwort f\u00fcr den Server vom Kim '.repeat(LENGTH / 37),
    'names of what is behind them': () => 'code de la cle de l acces '.repeat(LENGTH / 26),
    'a value that changes': () => 'password from a to password, it, '.repeat(LENGTH / 33),
    'calls and logins': () => `connect('aaaaaaa',log in with admin:`.repeat(LENGTH / 36),
    'rows of SQL': () => `password) values ('a', 'b', `.repeat(LENGTH / 28),
    'ends of private keys': () => '-----END PRIVATE KEY-----\n'.repeat(LENGTH / 26),
    'encoded bytes in one line': () => seededRandom(2).bytes(LENGTH).toString('base64'),
    'code in one line': () => 'var a=b.getToken(c,{key:d1,password:!0});e.connect("f",g)'.repeat(LENGTH / 57),
    blanks: () => 'token'.padEnd(LENGTH),
    'cells of passwords': () => '| password | hunter2x '.repeat(LENGTH / 22),
    'tables of passwords': () => '| a | password |\n|---|---|\n'.repeat(LENGTH / 27),
    'a long row': () => `a | password\n---|---\n${'x | '.repeat(LENGTH / 4)}`,
    'lists of values': () => 'user,password\n'.repeat(LENGTH / 14),
    'names of values': () => 'user,'.repeat(LENGTH / 5),
    'backup codes': () => 'backup codes for a of b (c):\n- '.repeat(LENGTH / 31),
    networks: () => 'WIFI:S:a;T:b;'.repeat(LENGTH / 13),
    'commands of many words': () => 'htpasswd -b a '.repeat(LENGTH / 14),
    'empty lines': () => 'token\n'.repeat(LENGTH / 6),
  } as const;
  const LENGTH = 256 * 1024;

  test.each(Object.entries(HOSTILE))('takes linear time for %s', (_name, make) => {
    const text = make();
    const half = text.slice(0, text.length / 2);
    secretsIn(half);
    const cpu = (work: string): number => {
      const before = process.cpuUsage();
      secretsIn(work);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const smaller = Math.min(cpu(half), cpu(half));
    const whole = Math.min(cpu(text), cpu(text));
    // Twice the text takes four times as long where it is quadratic; 50 ms for what a busy machine adds.
    expect(whole).toBeLessThan(3 * smaller + 50_000);
    expect(whole).toBeLessThan(2_000_000);
  });
});
