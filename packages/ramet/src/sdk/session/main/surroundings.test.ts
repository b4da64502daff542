import { expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../../test/fixtures/temporary.ts';
import { createRedactor } from '../../../tools/redaction/redact.ts';
import { findPlace } from '../../place.ts';
import { readSurroundings } from './surroundings.ts';

test('LOG-1: secrets in project instructions and what they import do not reach the conversation', async () => {
  const key = `sk-ant-${'a1'.repeat(20)}`;
  const cwd = temporaryRepository({ 'AGENTS.md': `rules, and ${key}\n@.env`, '.env': `KEY=${key}\n` });
  const place = findPlace({ cwd, env: { HOME: temporaryDirectory() } });
  const { instructions } = await readSurroundings(
    place,
    { PATH: process.env.PATH ?? '' },
    createRedactor({}),
  );
  expect(instructions).toContain('rules, and [redacted: Anthropic key]');
  expect(instructions).not.toContain(key);
});
