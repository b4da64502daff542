import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './redact.ts';

const plain = createRedactor({});

/** Built from parts, so that no scanner takes this file for a leak. */
const token = (prefix: string, length: number, filler = 'aB3dE6gH9'): string =>
  prefix + filler.repeat(Math.ceil(length / filler.length)).slice(0, length);
const PEM = (kind: string, body: string): string =>
  `-----BEGIN ${kind}PRIVATE ${'KEY'}-----\n${body}-----END ${kind}PRIVATE ${'KEY'}-----`;
const BODY = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n`.repeat(3);
const JWT = `${token('eyJ', 20)}.${token('eyJ', 40)}.${token('', 43)}`;

describe('LOG-1: patterns of keys', () => {
  test.for([
    ['Anthropic key', token('sk-ant-', 90)],
    ['OpenAI key', token('sk-proj-', 60)],
    ['OpenAI key', `${token('sk-', 20)}T3BlbkFJ${token('', 20)}`],
    ['GitHub token', token('ghp_', 36)],
    ['GitHub token', token('github_pat_', 82)],
    ['GitLab token', token('glpat-', 20)],
    ['AWS key', token('AKIA', 16, 'ABCDEFG2')],
    ['Slack token', token('xoxb-1', 50)],
    ['Google key', token('AIza', 35)],
    ['npm token', token('npm_', 36)],
    ['Stripe key', token('sk_live_', 24)],
    ['JSON web token', JWT],
    ['private key', PEM('', BODY)],
    ['private key', PEM('RSA ', `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n${BODY}`)],
    ['private key', PEM('', BODY).replaceAll('\n', '\\n')],
  ])('a %s is taken out and named', ([name, secret]) => {
    expect(plain(`before ${secret} after`)).toBe(`before [redacted: ${name}] after`);
    expect(plain(`"${secret}",`)).toBe(`"[redacted: ${name}]",`);
  });

  test('an AWS secret goes where its name says so', () => {
    expect(plain(`aws_secret_access_key = ${token('', 40)}\n`)).toBe('[redacted: AWS secret]\n');
  });

  test.for([
    [
      'as Read numbers its lines',
      (line: string, index: number) => `${String(index + 1).padStart(6)}\t${line}`,
    ],
    [
      'as Grep shows its lines',
      (line: string, index: number) => `etc/key.pem${index === 0 ? ':1:' : `-${index + 1}-`}${line}`,
    ],
    ['in a list of lines', (line: string, index: number) => `${index + 1}:${line}`],
    ['indented as in YAML', (line: string) => `          ${line}`],
    ['as cat -A shows it', (line: string) => `${line}$`],
    ['as cat -A shows it with a tab and other ends', (line: string) => `^I${line}^M$`],
    ['as one side of diff', (line: string) => `> ${line}`],
    ['as the other', (line: string) => `< ${line}`],
    ['added', (line: string) => `+${line}`],
    ['removed', (line: string) => `-${line}`],
    ['quoted, numbered, in a comment', (line: string, index: number) => `     ${index}\t # ${line}`],
  ] as const)('a private key goes %s', ([, shown]) => {
    const key = PEM('RSA ', `Proc-Type: 4,ENCRYPTED\n${BODY}`);
    const text = plain(key.split('\n').map(shown).join('\n'));
    expect(text).toContain('[redacted: private key]');
    expect(text).not.toContain('MIIE');
  });

  test.for([
    ['as it is', (line: string) => line],
    ['indented', (line: string) => `      ${line}`],
    ['as cat -A shows it', (line: string) => `${line}$`],
    ['as diff shows it', (line: string) => `> ${line}`],
    ['as Grep shows it', (line: string, index: number) => `etc/key.pem-${index}-${line}`],
  ] as const)('a private key without its first line goes %s, and no line above it', ([, shown]) => {
    const key = PEM('OPENSSH ', `${BODY}QUJDRA==\n`).split('\n').slice(1).map(shown).join('\n');
    const text = plain(`a line\n\n${key}\nz`);
    expect(text).toContain('a line\n\n[redacted: private key]\n');
    expect(text).not.toMatch(/MIIE|QUJD/);
    expect(plain(`one\nword\n-----END PRIVATE ${'KEY'}-----`)).toContain('one\nword\n');
  });

  test('a private key that is cut off goes too', () => {
    expect(plain(`x\n-----BEGIN PRIVATE ${'KEY'}-----\n${BODY}`)).toBe('x\n[redacted: private key]\n');
  });

  test.for([
    'task-ant-colony-optimisation-with-many-words',
    'sk-ant-short',
    'risk-proj-management-and-more-of-the-same',
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    'd670460b4b4aece5915caf5c68d12f560a9fe3e4',
    'ghp_short and ghx_aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9',
    'AKIAlowercase1234567 and XAKIAABCDEFG2ABCDEFG2',
    'xoxo-love-and-kisses-from-everyone-here',
    `if (text.startsWith('-----BEGIN PRIVATE ${'KEY'}-----')) return parse(text);`,
    `-----BEGIN PRIVATE ${'KEY'}-----\n...\n-----END PRIVATE ${'KEY'}-----`,
    '-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----',
    `${token('eyJ', 20)}.not-a-token`,
    'Authorization: Bearer $TOKEN',
    'npm_config_registry=https://registry.example.com npm_package_name',
    'const key = await crypto.subtle.generateKey(algorithm, true, ["sign"]);',
  ])('stays as it is: %s', (text) => {
    expect(plain(text)).toBe(text);
  });
});

describe('LOG-1: values of the environment', () => {
  test('go by the name of their variable, wherever they stand', () => {
    const redact = createRedactor({ MY_API_KEY: 'abc123def456', DB_PASSWORD: 'p4ss.w(rd)$' });
    expect(redact('curl -H abc123def456 p4ss.w(rd)$@host')).toBe(
      'curl -H [redacted: MY_API_KEY] [redacted: DB_PASSWORD]@host',
    );
  });

  test('go whole when one begins the other', () => {
    const redact = createRedactor({ A_TOKEN: 'abc123def', B_TOKEN: 'abc123def456' });
    expect(redact('abc123def456 abc123def')).toBe('[redacted: B_TOKEN] [redacted: A_TOKEN]');
  });

  test.for([
    ['a short value', { API_KEY: 'abc123' }],
    ['a plain word', { SECRET_NAME: 'production' }],
    ['words', { KEY_ID: 'my-key-name' }],
    ['a number', { TOKEN_LIMIT: '200000000' }],
    ['a path', { SSH_KEY: '/home/me/.ssh/id_ed25519' }],
    ['an address', { TOKEN_URL: 'https://auth.example.com/token1' }],
    ['a name that only contains KEY', { MONKEY_TYPE: 'abc123def456', KEYBOARD: 'us-intl-2024' }],
    ['nothing', { API_KEY: undefined, TOKEN: '' }],
  ] as const)('stay when they are %s', ([, env]) => {
    const text = `${Object.values(env).join(' ')} in ordinary text`;
    expect(createRedactor(env)(text)).toBe(text);
  });
});

describe('redaction as a function', () => {
  test('is the same for the same input, and redacting twice changes nothing more', () => {
    const redact = createRedactor({ X_TOKEN: 'abc123def456' });
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('abc123def456', token('ghp_', 36), JWT, PEM('', BODY), '-----BEGIN ', 'eyJ', 'sk-'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const once = redact(pieces.join(' '));
        expect(redact(pieces.join(' '))).toBe(once);
        expect(redact(once)).toBe(once);
        expect(once).not.toContain('abc123def456');
      }),
    );
  });

  test('leaves the working directory alone, whatever it is called', () => {
    const directory = '/home/me/ré po (copy)+1';
    const redact = createRedactor({ PWD: directory, OLDPWD: `${directory}/b`, DB_PWD: 'hunter2-hunter2!' });
    expect(redact(`${directory} ${directory}/b hunter2-hunter2!`)).toBe(
      `${directory} ${directory}/b [redacted: DB_PWD]`,
    );
  });

  test.for([
    ['eyJ', 'eyJ'],
    ['sk-ant-', 'sk-ant-'],
    ['-----BEGIN ', `-----BEGIN RSA PRIVATE ${'KEY'}-----\n`],
    ['half a token', `${token('eyJ', 30)}.`],
    ['base64', `-----BEGIN PRIVATE ${'KEY'}-----\n${'A'.repeat(64)}\n`],
    ['one long word', 'a'],
  ] as const)('ends on a megabyte made of %s', ([, unit]) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    expect(plain(text).length).toBeLessThanOrEqual(text.length);
  });
});

describe('SEC-1: passwords in addresses', () => {
  test('of a proxy are taken out, with the name before them and alone', () => {
    const redact = createRedactor({
      HTTPS_PROXY: 'http://me:s3cret%21word@proxy.invalid:8080',
      http_proxy: 'you:pw1@p:1',
    });
    expect(redact('HTTPS_PROXY=http://me:s3cret%21word@proxy.invalid:8080')).toBe(
      'HTTPS_PROXY=http://[redacted: HTTPS_PROXY]@proxy.invalid:8080',
    );
    expect(redact('s3cret!word or s3cret%21word')).toBe('[redacted: HTTPS_PROXY] or [redacted: HTTPS_PROXY]');
    expect(redact('you:pw1@p:1')).toBe('[redacted: http_proxy]@p:1');
  });

  test('an address without one stays', () => {
    const redact = createRedactor({ HTTPS_PROXY: 'http://proxy.invalid:8080', URL: 'https://host/a@b:c' });
    expect(redact('http://proxy.invalid:8080 https://host/a@b:c')).toBe(
      'http://proxy.invalid:8080 https://host/a@b:c',
    );
  });
});
