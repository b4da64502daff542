import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFingerprintRedactor, fingerprintSecrets } from './fingerprint-redactor.ts';
import { createRedactor } from './redact.ts';

const KEY = 'sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz';
const ENV = {
  ANTHROPIC_API_KEY: KEY,
  DEPLOY_TOKEN: 'hunter2-and-more',
  LONGER_TOKEN: 'hunter2-and-more-of-it',
  OTHER_SECRET: 'ümläut-s3cret',
  HOME: '/home/user',
};

describe('LOG-1: a process that does not know the secrets takes them out', () => {
  const here = createRedactor(ENV);
  const there = createFingerprintRedactor(fingerprintSecrets(ENV));

  test.each([
    ['nothing to take out', 'plain text'],
    ['a value', 'a=hunter2-and-more.'],
    ['the longer of two that begin alike', 'x hunter2-and-more-of-it x hunter2-and-more x'],
    ['a pattern inside, before and after values', `${KEY}hunter2-and-more ${KEY}`],
    ['a value beyond ASCII at the very end', 'and ümläut-s3cret'],
    ['a text shorter than any value', 'a'],
    ['an empty text', ''],
  ])('as the other one does: %s', (_, text) => {
    expect(there(text)).toBe(here(text));
  });

  test('for any text made of secrets, parts of them and other things', () => {
    const part = fc.oneof(
      fc.constantFrom(...Object.values(ENV), ...Object.values(ENV).map((value) => value.slice(0, 9))),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        expect(there(parts.join(''))).toBe(here(parts.join('')));
      }),
    );
  });

  test('and what it is given holds none of them', () => {
    const given = JSON.stringify(fingerprintSecrets(ENV));
    for (const value of [KEY, ENV.DEPLOY_TOKEN, ENV.OTHER_SECRET]) expect(given).not.toContain(value);
  });
});
