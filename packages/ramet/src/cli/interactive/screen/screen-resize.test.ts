import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualTerminal } from '../../../../test/fixtures/virtual-terminal.ts';
import { simulatedClock } from '../../../testing/simulated-clock.ts';
import { type Block, lineBlocks } from '../markdown/blocks.ts';
import { createScreen, type LiveRows, type ScreenSize } from './screen.ts';
import { createScreenQuestion } from './screen-question.ts';

interface Step {
  /** Written before the size changes: blocks of this many words; a negative number is a line that the terminal wraps. */
  readonly blocks: readonly number[];
  /** Live rows above the cursor, and below it. */
  readonly above: number;
  readonly below: number;
  readonly size: ScreenSize | null;
  readonly thenMs: number;
}

interface Habits {
  /** From a change of the size until it is told. */
  readonly toldAfterMs: number;
  /** From a question until its answer; null when it never comes. */
  readonly answersAfterMs: number | null;
}

interface Outcome {
  readonly words: readonly string[];
  /** What can be scrolled back to, as one row. */
  readonly seen: string;
  /** In sight at the end, and after a redraw. */
  readonly screens: readonly [string, string];
}

const START: ScreenSize = { columns: 20, rows: 10 };
const ROWS = ['* at work since 3 s', 'unfinished words ar', '> ', 'status of 16 ch.', 'b', 'c'];

function liveOf(above: number, below: number, columns: number): LiveRows {
  const rows = ROWS.slice(2 - above, 2 + below).map((text) => text.slice(0, columns - 1));
  return { rows: rows.map((text) => ({ text, width: text.length })), cursorRow: above, cursorColumn: 2 };
}

/** Output arrives while the terminal changes its size, which it tells late. */
async function resizedWhileWriting(steps: readonly Step[], habits: Habits): Promise<Outcome> {
  const terminal = new VirtualTerminal(START.columns, START.rows);
  terminal.isResizedUntold = true;
  const clock = simulatedClock();
  const question = createScreenQuestion((bytes) => terminal.write(bytes), clock);
  const { answersAfterMs, toldAfterMs } = habits;
  if (answersAfterMs !== null)
    terminal.answer = (bytes) => void clock.sleep(answersAfterMs).then(() => question.typedOf(bytes));
  const screen = createScreen((bytes) => terminal.write(bytes), START, clock, question.ask);
  const words: string[] = [];
  let told = START;
  let under = liveOf(0, 1, told.columns);
  const blocksOf = (count: number): readonly Block[] => {
    const fresh = Array.from({ length: Math.abs(count) }, (_, at) => `<${words.length + at}>`);
    words.push(...fresh);
    const text = fresh.join(' ');
    if (count > 0) return lineBlocks(`${text}\n`);
    return [{ rows: () => [{ text, width: text.length, isWhole: true }] }];
  };
  const say = (counts: readonly number[]): void => {
    screen.append(counts.flatMap(blocksOf));
    screen.draw(under);
  };
  say(Array.from({ length: 30 }, () => 2));
  for (const { blocks, above, below, size, thenMs } of steps) {
    under = liveOf(above, below, told.columns);
    say(blocks);
    if (size !== null) {
      terminal.rows = size.rows;
      if (terminal.columns !== size.columns) terminal.columns = size.columns;
      void clock.sleep(toldAfterMs).then(() => {
        told = { columns: terminal.columns, rows: terminal.rows };
        under = liveOf(above, below, told.columns);
        screen.resized(under, told);
      });
    }
    await clock.advance(thenMs);
  }
  await clock.advance(8_000);
  const inSight = (): string => terminal.text.split('\n').slice(-terminal.rows).join('\n');
  const settled = inSight();
  screen.redraw(under);
  const screens = [settled, inSight()] as const;
  screen.close();
  return { words, seen: terminal.text.replaceAll('\n', ''), screens };
}

function missingOf({ words, seen }: Outcome): string[] {
  return words.filter((word) => !seen.includes(word));
}

function extraOf({ words, seen }: Outcome): number {
  return (seen.match(/<\d+>/g)?.length ?? 0) - words.length;
}

const CHANGES: readonly Step[] = Array.from({ length: 60 }, (_, at) => ({
  blocks: [3, 12, -9],
  above: at % 3,
  below: 1 + (at % 4),
  size: { columns: 20 + ((at * 5) % 17), rows: 6 + ((at * 7) % 15) },
  thenMs: 100 + ((at * 137) % 600),
}));

describe('UI-1: the size changes while output arrives', () => {
  test('a terminal that tells its size late, pulls rows back and says where its cursor is loses nothing', async () => {
    const size = fc.record({
      columns: fc.integer({ min: 5, max: 60 }),
      rows: fc.integer({ min: 6, max: 30 }),
    });
    const step: fc.Arbitrary<Step> = fc.record({
      blocks: fc.array(fc.constantFrom(1, 2, 3, 12, 40, -2, -9), { maxLength: 4 }),
      above: fc.integer({ min: 0, max: 2 }),
      below: fc.integer({ min: 1, max: 4 }),
      size: fc.option(size),
      thenMs: fc.constantFrom(0, 10, 100, 240, 310, 400),
    });
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.constantFrom(0, 100, 250, 700),
      fc.constantFrom(0, 20, 200, 400, null),
      async (steps, toldAfterMs, answersAfterMs) => {
        const outcome = await resizedWhileWriting(steps, { toldAfterMs, answersAfterMs });
        expect(missingOf(outcome)).toEqual([]);
        // What stands there twice is not known to the screen.
        if (answersAfterMs !== null && extraOf(outcome) === 0)
          expect(outcome.screens[0]).toBe(outcome.screens[1]);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  const step = (blocks: number[], size: [columns: number, rows: number] | null, thenMs: number): Step => ({
    ...{ blocks, above: 0, below: 1, thenMs },
    size: size === null ? null : { columns: size[0], rows: size[1] },
  });

  // Each was drawn for a narrow terminal that was wider by then, so that rows above were written over.
  test.for<[string, Habits, Step[]]>([
    [
      'what was written over no longer stands above the drawing',
      { toldAfterMs: 250, answersAfterMs: 200 },
      [step([], [8, 6], 710), step([], [41, 6], 0)],
    ],
    [
      'the upper part of a block was written over',
      { toldAfterMs: 100, answersAfterMs: 20 },
      [step([12], [5, 6], 400), step([], [10, 9], 0)],
    ],
    [
      'the lower part of a block is in two parts itself',
      { toldAfterMs: 100, answersAfterMs: 20 },
      [step([40], [5, 13], 400), step([], [25, 11], 0)],
    ],
  ])('%s: nothing is lost, and all in sight is drawn again', async ([, habits, steps]) => {
    const outcome = await resizedWhileWriting(steps, habits);
    expect(missingOf(outcome)).toEqual([]);
    expect(outcome.screens[0]).toBe(outcome.screens[1]);
  });

  test.for([0, 250, 700])('60 changes told %i ms late show nothing twice', async (toldAfterMs) => {
    const outcome = await resizedWhileWriting(CHANGES, { toldAfterMs, answersAfterMs: 5 });
    expect(missingOf(outcome)).toEqual([]);
    expect(extraOf(outcome)).toBe(0);
  });

  test('a terminal that never says its size keeps what stands there', async () => {
    const outcome = await resizedWhileWriting(CHANGES, { toldAfterMs: 0, answersAfterMs: null });
    expect(missingOf(outcome)).toEqual([]);
    expect(extraOf(outcome)).toBe(0);
  });
});
