import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BASE62, seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { surpriseOf } from './letter-pairs.ts';
import { isDrawn } from './random-text.ts';

const SETTINGS = join(import.meta.dirname, '../../settings');

test('words that chance has drawn surprise more than the names of this code, from twelve characters on', () => {
  const code = readdirSync(SETTINGS).flatMap((name) =>
    name.endsWith('.ts') ? [readFileSync(join(SETTINGS, name), 'utf8')] : [],
  );
  const names = new Set(code.flatMap((text) => text.match(/[A-Za-z0-9_]{12,60}/g) ?? []));
  const random = seededRandom(3);
  const drawn = Array.from({ length: 500 }, () => random.text(BASE62, 12));
  expect(names.size).toBeGreaterThan(100);
  expect([...names].filter((name) => isDrawn(name, 12))).toEqual([]);
  expect(drawn.filter((word) => isDrawn(word, 12)).length).toBeGreaterThan(480);
  expect(surpriseOf('requestAnimationFrame')).toBeLessThan(surpriseOf('7gQx2LmPz9rTv4KbNw8sJ'));
});

test('a word of one character or none surprises nobody', () => {
  expect([surpriseOf(''), surpriseOf('x')]).toEqual([0, 0]);
});
