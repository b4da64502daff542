/**
 * Most delegations were there before the rule, which was made with them in view: they show that it still fits them. `good-long` was
 * written before its last change, `bad-late` after it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Delegation, judgeDelegation, namedFiles } from './judge-delegation.ts';

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/delegations');

function delegations(name: string): string[] {
  return readFileSync(join(FIXTURES, `${name}.txt`), 'utf8')
    .trim()
    .split('\n');
}

const missingIn = (delegation: Delegation, mustName: boolean): string | null =>
  judgeDelegation(delegation, mustName).missing;

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

  const shareOf = (part: readonly string[], whole: readonly string[]): string =>
    `${part.length} of ${whole.length} (${((part.length / whole.length) * 100).toFixed(1)}%)`;

  test('of good delegations at most 2% come back, and of those of 40 words and more none', () => {
    const long = delegations('good-long');
    // In research and verification nothing need be named.
    const others = delegations('good-long-other').filter(
      (prompt) => judgeDelegation({ prompt }, false).missing !== null,
    );
    expect([long.length, long.filter(comesBack), others]).toEqual([70, [], []]);
    const all = [...good, ...long, ...['good-usual', 'good-terse', 'good-fresh'].flatMap(delegations)];
    const back = all.filter(comesBack);
    console.log(`good delegations that come back: ${shareOf(back, all)}`);
    expect(back.length / all.length).toBeLessThanOrEqual(0.02);
    expect(held.filter(comesBack)).toEqual([]);
  });

  test('of bad ones those that fit any task come back; short ones that say a little more pass with a note', () => {
    const all = [...bad, ...['bad-fresh', 'bad-others', 'bad-long', 'bad-late'].flatMap(delegations)];
    const back = all.filter(comesBack);
    console.log(`bad delegations that come back: ${shareOf(back, all)}`);
    expect(back.length / all.length).toBeGreaterThanOrEqual(0.83);
    const isLong = (prompt: string): boolean => prompt.split(' ').length >= 20;
    expect(back.filter(isLong).length / all.filter(isLong).length).toBeGreaterThanOrEqual(0.9);
    const silent = all.filter((prompt) =>
      Object.values(judgeDelegation({ prompt }, true)).every((said) => said === null),
    );
    expect(silent.length / all.length).toBeLessThanOrEqual(0.03);
  });

  test('one that names no place passes with a note, where something has to be named', () => {
    const prompt = 'Hide the sidebar when the window is narrow.';
    expect(judgeDelegation({ prompt }, true).note).toContain('names no file, symbol or command');
    expect(judgeDelegation({ prompt }, false).note).toBeNull();
    expect(judgeDelegation({ prompt: `${prompt} src/sidebar.ts` }, true).note).toBeNull();
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
    const prompt = 'Find out how it works.';
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
