import { describe, expect, test } from 'vitest';
import { ComingAnswer } from './agent-here.ts';

describe('UI-3: the answer that an agent is writing', () => {
  test('is kept as far as it has come, and at most its end', () => {
    const answer = new ComingAnswer();
    for (const piece of ['Hello ', 'wor', 'ld']) answer.add(piece);
    expect(answer.text).toBe('Hello world');
    for (let count = 0; count < 100; count++) answer.add('x'.repeat(9_999) + String(count % 10));
    expect(answer.text.length).toBe(200_000);
    expect(answer.text).toMatch(/^x.*x9$/);
    answer.clear();
    expect(answer.text).toBe('');
  });
});
