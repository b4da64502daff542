/**
 * Most delegations were there before the rule, which was made with the bad ones in view: they show that it still fits them. How it
 * judges others, the fresh ones show. They were written when it was done, and judged once.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingIn, namedFiles } from './judge-delegation.ts';

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/delegations');

function delegations(name: string): string[] {
  return readFileSync(join(FIXTURES, `${name}.txt`), 'utf8')
    .trim()
    .split('\n');
}

const comesBack = (prompt: string): boolean => missingIn({ prompt }, true) !== null;

describe('COORD-2: delegations in the implementation phase', () => {
  // The plain ones name things of ten kinds of repositories without marks of code, most in a dozen words.
  const held = [...delegations('good-held'), ...delegations('good-plain-held')];
  const good = [...delegations('good-tuned'), ...delegations('good-plain-tuned'), ...held];
  const bad = ['bad-tuned', 'bad-held', 'bad-plain-tuned', 'bad-plain-held'].flatMap(delegations);

  test('the table has at least 300 good and 150 bad ones, each once', () => {
    expect(new Set(good).size).toBeGreaterThanOrEqual(300);
    expect(new Set(bad).size).toBeGreaterThanOrEqual(150);
    expect(new Set([...good, ...bad]).size).toBe(good.length + bad.length);
  });

  test('of the delegations that it was made with, at most 2% of good ones come back', () => {
    const [ofHeld, ofAll] = [held.filter(comesBack), good.filter(comesBack)];
    const caught = bad.filter(comesBack);
    const share = (part: readonly string[], whole: readonly string[]): string =>
      `${part.length} of ${whole.length} (${((part.length / whole.length) * 100).toFixed(1)}%)`;
    console.log(
      `good delegations that come back: ${share(ofAll, good)}, of the half not tuned on: ${share(ofHeld, held)}; bad ones: ${share(caught, bad)}`,
    );
    expect(ofHeld.length / held.length).toBeLessThanOrEqual(0.02);
    expect(ofAll.length / good.length).toBeLessThanOrEqual(0.02);
    expect(caught.length / bad.length).toBeGreaterThanOrEqual(0.95);
  });

  test('of fresh ones it judges no worse than when they were written: 11 of 50 good ones come back, and all bad ones', () => {
    const fresh = ['good-fresh', 'bad-fresh'].map((name) => delegations(name).filter(comesBack).length);
    expect(fresh[0]).toBeLessThanOrEqual(11);
    expect(fresh[1]).toBe(30);
  });

  test('of those that another author wrote, usual good ones pass; terse ones without a name may come back', () => {
    const others = ['good-usual', 'good-terse', 'bad-others'].map((name) => delegations(name));
    const [usual = 0, terse = 0, caught = 0] = others.map((all) => all.filter(comesBack).length);
    console.log(
      `usual good ones that come back: ${usual} of 50, terse ones: ${terse} of 50; bad ones: ${caught} of 30`,
    );
    expect(usual).toBe(0);
    expect(terse).toBeLessThanOrEqual(8);
    expect(caught).toBeGreaterThanOrEqual(28);
  });

  test.each(['Based on your findings, fix it.', 'As you found, the parser is wrong. Fix src/parser.ts.'])(
    'what is missing is said: %s',
    (prompt) => {
      expect(missingIn({ prompt }, true)).toMatch(
        /leaves the conclusion to the worker.*which file and symbol/,
      );
      // Also where nothing concrete is asked for: a fresh worker has found nothing.
      expect(missingIn({ prompt }, false)).not.toBeNull();
    },
  );

  test('research need not name anything, and what the call expects is concrete', () => {
    const prompt = 'Find out how the login works.';
    expect(missingIn({ prompt }, false)).toBeNull();
    expect(missingIn({ prompt }, true)).toMatch(/names nothing concrete: its words fit any task/);
    expect(missingIn({ prompt, expected: ['src/login.ts'] }, true)).toBeNull();
  });

  test('files are named once each, without what is none', () => {
    const text = 'In src/a.ts and ./lib/b.py (see src/a.ts:12) and README.md, and/or read/write.';
    expect(namedFiles(text)).toEqual(['src/a.ts', './lib/b.py', 'README.md']);
  });

  test('text of any length and kind is judged in little time', () => {
    const texts = ['a/'.repeat(50_000), '"'.repeat(100_000), `${'x'.repeat(100_000)}.`, '('.repeat(50_000)];
    const since = performance.now();
    for (const prompt of texts) missingIn({ prompt }, true);
    expect(performance.now() - since).toBeLessThan(2_000);
  });
});
