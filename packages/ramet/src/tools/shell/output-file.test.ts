import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { createRedactor } from '../redaction/redact.ts';
import { createOutputFile, keepOutputFile } from './output-file.ts';

const KEY = `-----BEGIN PRIVATE ${'KEY'}-----\n${`${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n`.repeat(20)}-----END PRIVATE ${'KEY'}-----\n`;
const PIECE = 1 << 20;

describe('LOG-1: what stays of a command’s output', () => {
  test.for([KEY.length - 1, KEY.length / 2, 5, 0])(
    'holds no secret that lies across two pieces, %i bytes of it in the second',
    async (after, { directory }) => {
      const file = createOutputFile(directory, ['out.txt']);
      const filler = 'z\n'.repeat(PIECE / 2).slice(0, PIECE - KEY.length + Math.floor(after));
      writeSync(file.descriptor, `${filler.slice(0, -1)}\n${KEY}the value abc123def456 and grün\n`);
      expect(await keepOutputFile(file, createRedactor({ MY_TOKEN: 'abc123def456' }))).toBe(true);
      const kept = readFileSync(file.path, 'utf8');
      expect(kept).not.toContain('MIIEvQ');
      expect(kept.slice(-80)).toContain('[redacted: private key]\nthe value [redacted: MY_TOKEN] and grün\n');
    },
  );

  test('is nothing at all when it cannot be cleaned', async ({ directory }) => {
    const file = createOutputFile(join(directory, 'out'), ['out.txt']);
    writeSync(file.descriptor, 'text\n');
    const broken = (): string => {
      throw new Error('broken');
    };
    expect(await keepOutputFile(file, broken)).toBe(false);
    expect(readdirSync(join(directory, 'out'))).toEqual([]);
  });
});
