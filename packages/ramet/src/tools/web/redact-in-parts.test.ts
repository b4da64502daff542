import { describe, expect, test } from 'vitest';
import { createRedactor } from '../redaction/redact.ts';
import { redactInParts } from './fetch-page.ts';

const redact = createRedactor({});
const KEY = `-----BEGIN PRIVATE ${'KEY'}-----\n${`${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n`.repeat(20)}-----END PRIVATE ${'KEY'}-----\n`;

describe('SEC-1: secrets are taken out of a long text part by part', () => {
  test.each([249_000, 249_500, 249_990, 250_000, 499_000])(
    'a key at %i is found as in one piece',
    async (at) => {
      const text = `${'a line of text\n'.repeat(at / 15)}${KEY}${'more text\n'.repeat(60_000)}`;
      const parts = await redactInParts(text, redact);
      expect(parts).toBe(redact(text));
      expect(parts).not.toContain('MIIE');
    },
  );

  test('a text without line ends stays whole', async () => {
    const text = 'x'.repeat(600_000);
    expect(await redactInParts(text, redact)).toBe(text);
    expect(await redactInParts('', redact)).toBe('');
  });
});
