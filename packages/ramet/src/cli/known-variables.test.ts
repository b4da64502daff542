import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KNOWN_VARIABLES, unknownVariables } from './io.ts';
import { nearWord } from './near-word.ts';

describe('UI-1: variables that begin with RAMET_', () => {
  test('are known when the sources name them', () => {
    const source = join(import.meta.dirname, '..');
    const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'));
    const named = files.flatMap(
      (file) => readFileSync(join(source, file), 'utf8').match(/\bRAMET_[A-Z_]*[A-Z]\b/g) ?? [],
    );
    // A family, of which the list has the members.
    const missing = new Set(
      named.filter((name) => name !== 'RAMET_MODEL' && !KNOWN_VARIABLES.includes(name)),
    );
    expect([...missing]).toEqual([]);
  });

  test('are in the README where they name models', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../../README.md'), 'utf8');
    const models = KNOWN_VARIABLES.filter((name) => name.startsWith('RAMET_MODEL_'));
    expect(models.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });

  test('are reported when they mean nothing, with what may have been meant', async () => {
    expect(unknownVariables({ RAMET_HOEM: '/x', RAMET_HOME: '/y', OTHER: 'z' })).toEqual([
      'the variable RAMET_HOEM means nothing to Ramet: did you mean RAMET_HOME?',
    ]);
    expect(unknownVariables({ RAMET_FROBNICATE: '1' })).toEqual([
      'the variable RAMET_FROBNICATE means nothing to Ramet',
    ]);
    expect(unknownVariables({ RAMET_MODEL_OPUS: 'm' })).toEqual([]);
  });
});

test.for([
  ['shwo', 'show'],
  ['pss', 'ps'],
  ['doctr', 'doctor'],
  ['hello', null],
  ['xy', null],
  ['fix the tests', null],
])('UI-1: %s may mean %s', ([word, meant]) => {
  expect(nearWord(word ?? '', ['ps', 'show', 'doctor', 'stop', 'cost'])).toBe(meant);
});
