import { describe, expect, test } from 'vitest';
import { claimedResult } from './claimed-results.ts';

const OPEN = [
  { id: 'k3v9x2ab.2', name: 'ada' },
  { id: 'k3v9x2ab.3', name: null },
];

describe('COORD-2: results that have not arrived', () => {
  test.each([
    'ada found the bug in src/a.ts.',
    'Good news. The tests are green: ada has confirmed it.',
    'k3v9x2ab.3 fixed the parser.',
    '- **ada**: verified, all tests passed',
    'The workers have found two causes.',
    'Both agents reported no problem.',
    'The cause was found by ada in src/a.ts.',
    'According to **ada**, the parser drops a token.',
    'ada (k3v9x2ab.2) has already fixed it.',
    'bob and ada found the cause.',
  ])('is a claim: %s', (text) => {
    expect(claimedResult(text, OPEN, false)).not.toBeNull();
  });

  test.each([
    'I started ada and k3v9x2ab.3. I will report when they have finished.',
    'ada has not reported yet.',
    'Once ada has found the cause, I decide.',
    'ada is looking at src/a.ts, k3v9x2ab.3 at the tests.',
    'Waiting for ada; bob found the cause.',
    'adam found it.',
    '> ada found it\nThat was the plan.',
    '```\nada found it\n```',
    'I found three files myself.',
    'bob found the bug in src/a.ts, and I started ada to fix it.',
    'I started ada and found three files myself.',
    'ada looks into what bob reported.',
    'Based on what the user said I gave ada the parser.',
  ])('is none: %s', (text) => {
    expect(claimedResult(text, OPEN, false)).toBeNull();
  });

  test('what "the workers" found may be what others have reported', () => {
    expect(claimedResult('The workers have found two causes.', OPEN, true)).toBeNull();
    expect(claimedResult('ada found it.', [], true)).toBeNull();
  });
});
