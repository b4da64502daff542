import { describe, expect, test } from 'vitest';
import { hasInvisible, visibleLine, visibleText } from './visible-text.ts';

describe('RES-3: characters that a reader does not see', () => {
  test.for<[string, string]>([
    ['build \u001b]0;; rm -rf ~/x;\u0007 # ok', 'build \\x1b]0;; rm -rf ~/x;\\x07 # ok'],
    ['a\u009bb', 'a\\x9bb'],
    ['a\u202eb\u2066c\u2069', 'a\\u202eb\\u2066c\\u2069'],
    ['a\u200bb\u00adc\ufeff', 'a\\u200bb\\xadc\\ufeff'],
    ['a\u00a0b\u3000c\u2028d', 'a\\xa0b\\u3000c\\u2028d'],
    ['a\u{e0041}b', 'a\\u{e0041}b'],
    ['a\ud800b', 'a\\ud800b'],
    ['a\u034fb\u17b4c\ufe0f', 'a\\u034fb\\u17b4c\\ufe0f'],
    ['a\rb', 'a\\x0db'],
  ])('%j is shown as %s', ([text, shown]) => {
    expect(visibleText(text)).toBe(shown);
    expect(hasInvisible(text)).toBe(true);
  });

  test('ordinary text is left as it is', () => {
    const text = 'npm test\n\tärger 漢字 ✔ "a b"';
    expect(visibleText(text)).toBe(text);
    expect(hasInvisible(text)).toBe(false);
    expect(visibleLine('a\n  b\u0007')).toBe('a b\\x07');
  });
});
