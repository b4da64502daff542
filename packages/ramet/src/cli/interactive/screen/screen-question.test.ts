import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simulatedClock } from '../../../testing/simulated-clock.ts';
import { ANSWER_MS, createScreenQuestion } from './screen-question.ts';

const ANSWERS = '\u001b[7;3R\u001b[24;80R';
const SEEN = { cursorRow: 6, size: { columns: 80, rows: 24 } };

function asking() {
  const clock = simulatedClock();
  const written: string[] = [];
  return { clock, written, question: createScreenQuestion((bytes) => written.push(bytes), clock) };
}

describe('UI-1: the terminal is asked for its size and its cursor', () => {
  test('an answer in any pieces, among keys or inside a paste, is taken out whole', async () => {
    const typed = fc.constantFrom(
      '',
      'abc',
      '\u001b[A',
      '\u001b',
      '\u001bb',
      '\u001b[200~a\rb\u001b[201~',
      '日本',
    );
    const property = fc.asyncProperty(
      fc.array(typed, { minLength: 3, maxLength: 3 }),
      fc.array(fc.nat(40), { maxLength: 6 }),
      async ([before = '', between = '', after = ''], cuts) => {
        const { question } = asking();
        const seen = question.ask();
        await Promise.resolve();
        const bytes = `${before}\u001b[7;3R${between}\u001b[24;80R${after}`;
        const ends = [...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const read = ends.map((end, at) => question.typedOf(bytes.slice(ends[at - 1] ?? 0, end)));
        expect(read.join('') + question.release()).toBe(before + between + after);
        expect(await seen).toEqual(SEEN);
      },
    );
    await fc.assert(property);
  });

  test('nothing is taken out and nothing held back when nothing was asked', () => {
    const { question } = asking();
    expect(question.typedOf(`${ANSWERS}\u001b`)).toBe(`${ANSWERS}\u001b`);
    expect(question.isHolding).toBe(false);
  });

  test('an Escape that is no answer is given back', async () => {
    const { question } = asking();
    void question.ask();
    await Promise.resolve();
    expect(question.typedOf('a\u001b')).toBe('a');
    expect(question.isHolding).toBe(true);
    expect(question.release()).toBe('\u001b');
    expect(question.isHolding).toBe(false);
  });

  test('a terminal that does not answer is asked once, and again when it has answered late', async () => {
    const { question, clock, written } = asking();
    const first = question.ask();
    await clock.advance(0);
    await clock.whenSleeping();
    await clock.advance(ANSWER_MS);
    expect(await first).toBeNull();
    expect(await question.ask()).toBeNull();
    expect(written).toHaveLength(1);
    expect(question.typedOf(`x${ANSWERS}`)).toBe('x');
    const second = question.ask();
    await clock.whenSleeping();
    question.typedOf(ANSWERS);
    expect(await second).toEqual(SEEN);
    expect(written).toHaveLength(2);
    expect(clock.due()).toEqual([]);
  });
});
