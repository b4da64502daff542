import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { relevantParts } from './render-page.ts';

describe('RES-6: the parts of a long page', () => {
  const page = Array.from({ length: 1_000 }, (_, index) => `paragraph ${index} ${'x'.repeat(50)}`);
  page[700] = 'Marmots hibernate for six months.';

  test('are those that speak of what is looked for, after the beginning, in their order', () => {
    const shown = relevantParts(page.join('\n'), 'How long do marmots hibernate?', 6_000);
    expect(shown).toMatch(/^paragraph 0 [\s\S]*\[\.\.\. left out \.\.\.\][\s\S]*Marmots hibernate/);
    expect(shown.length).toBeLessThan(7_000);
  });

  test('are the first ones when nothing is', () => {
    expect(relevantParts(page.join('\n'), '?', 4_000)).toMatch(/^paragraph 0 [\s\S]*left out/);
  });

  test('of a short text are all of it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 3_000, unit: 'grapheme' }), fc.string(), (text, wanted) => {
        expect(relevantParts(text, wanted, 1_000_000)).toBe(text);
      }),
    );
  });
});
