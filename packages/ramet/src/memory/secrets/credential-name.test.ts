import { expect, test } from 'vitest';
import { credentialNames } from './credential-name.ts';

const strengthOf = (text: string): string =>
  [...credentialNames(text)].map(({ strength, at, end }) => `${text.slice(at, end)} ${strength}`).join(', ');

test.each([
  ['PGPASSWORD', 'PGPASSWORD strong'],
  ['connect.sid', 'connect.sid strong'],
  ['MYSQL_PWD', 'MYSQL_PWD strong'],
  ['SSHPASS', 'SSHPASS strong'],
  ['springDatasourcePassword', 'springDatasourcePassword strong'],
  ['DB_PASSWORD_STAGING', 'DB_PASSWORD_STAGING strong'],
  ['accessToken2', 'accessToken2 strong'],
  ['the api key', 'key strong'],
  ['-Dapi.key', 'api.key strong'],
  ['key', 'key weak'],
  ['session id', 'session id weak'],
  ['tokens', 'tokens weak'],
])('%j is a name for a credential: %s', (text, found) => {
  expect(strengthOf(text)).toBe(found);
});

test.each([
  ...[
    'token_url',
    'passwordHash',
    'public key',
    'csrf_token',
    'nextPageToken',
    'tokenizer',
    'author',
    'monkey',
  ],
  ...[
    'bypass',
    'compass',
    'keyboard',
    'passport',
    'cache key',
    'secretKeyRef',
    'max_token_count',
    'zip code',
  ],
])('%j is none', (text) => {
  expect(strengthOf(text)).toBe('');
});
