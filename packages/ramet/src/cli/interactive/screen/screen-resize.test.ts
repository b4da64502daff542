import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualTerminal } from '../../../../test/fixtures/virtual-terminal.ts';
import { simulatedClock } from '../../../testing/simulated-clock.ts';
import { lineBlocks } from '../markdown/blocks.ts';
import { createScreen, type LiveRows, type ScreenSize } from './screen.ts';
import { createScreenQuestion } from './screen-question.ts';

interface Step {
  /** Written before the size changes. */
  readonly lines: number;
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
  readonly lines: readonly string[];
  readonly seen: readonly string[];
  /** In sight at the end, and after a redraw. */
  readonly screens: readonly [string, string];
}

const START: ScreenSize = { columns: 20, rows: 10 };

function liveOf(below: number): LiveRows {
  const rows = ['> ', 'status of 16 ch.', 'b', 'c'].slice(0, below);
  return { rows: rows.map((text) => ({ text, width: text.length })), cursorRow: 0, cursorColumn: 2 };
}

/** Output arrives while the terminal changes its size, which it tells late. */
async function resizedWhileWriting(steps: readonly Step[], habits: Habits): Promise<Outcome> {
  const terminal = new VirtualTerminal(START.columns, START.rows);
  const clock = simulatedClock();
  const question = createScreenQuestion((bytes) => terminal.write(bytes), clock);
  const { answersAfterMs, toldAfterMs } = habits;
  if (answersAfterMs !== null)
    terminal.answer = (bytes) => void clock.sleep(answersAfterMs).then(() => question.typedOf(bytes));
  const screen = createScreen((bytes) => terminal.write(bytes), START, clock, question.ask);
  const lines: string[] = [];
  let under = liveOf(1);
  const say = (count: number): void => {
    const fresh = Array.from({ length: count }, (_, at) => `line ${lines.length + at} of it`);
    lines.push(...fresh);
    if (count > 0) screen.append(lineBlocks(`${fresh.join('\n')}\n`));
    screen.draw(under);
  };
  say(30);
  for (const { lines: more, below, size, thenMs } of steps) {
    under = liveOf(below);
    say(more);
    if (size !== null) {
      terminal.rows = size.rows;
      if (terminal.columns !== size.columns) terminal.columns = size.columns;
      void clock.sleep(toldAfterMs).then(() => {
        const { columns, rows } = terminal;
        screen.redraw(under, { columns, rows });
      });
    }
    await clock.advance(thenMs);
  }
  await clock.advance(5_000);
  const inSight = (): string => terminal.text.split('\n').slice(-terminal.rows).join('\n');
  const settled = inSight();
  const { columns, rows } = terminal;
  screen.redraw(under, { columns, rows });
  const screens = [settled, inSight()] as const;
  screen.close();
  const seen = terminal.text.split('\n').flatMap((row) => /line \d+/.exec(row)?.[0] ?? []);
  return { lines: lines.map((line) => line.replace(' of it', '')), seen, screens };
}

function missingOf({ lines, seen }: Outcome): string[] {
  return lines.filter((line) => !seen.includes(line));
}

const CHANGES: readonly Step[] = Array.from({ length: 60 }, (_, at) => ({
  lines: 3,
  below: 1 + (at % 4),
  size: { columns: 20 + ((at * 5) % 17), rows: 6 + ((at * 7) % 15) },
  thenMs: 100 + ((at * 137) % 600),
}));

describe('UI-1: the size changes while output arrives', () => {
  test('a terminal that tells its size late, pulls rows back and says where its cursor is loses no line', async () => {
    const size = fc.record({
      columns: fc.constantFrom(12, 18, 20, 30),
      rows: fc.constantFrom(6, 9, 10, 14, 20),
    });
    const step: fc.Arbitrary<Step> = fc.record({
      lines: fc.integer({ min: 0, max: 6 }),
      below: fc.integer({ min: 1, max: 4 }),
      size: fc.option(size),
      thenMs: fc.constantFrom(0, 10, 100, 240, 310, 400),
    });
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.constantFrom(0, 250, 700),
      fc.constantFrom(0, 20, 200),
      async (steps, toldAfterMs, answersAfterMs) => {
        const outcome = await resizedWhileWriting(steps, { toldAfterMs, answersAfterMs });
        expect(missingOf(outcome)).toEqual([]);
        expect(outcome.screens[0]).toBe(outcome.screens[1]);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  test.for([250, 700])('60 changes told %i ms late show next to nothing twice', async (toldAfterMs) => {
    const outcome = await resizedWhileWriting(CHANGES, { toldAfterMs, answersAfterMs: 5 });
    expect(missingOf(outcome)).toEqual([]);
    expect(outcome.seen.length - outcome.lines.length).toBeLessThanOrEqual(10);
  });

  test('a terminal that never says its size is drawn at the size it told', async () => {
    const outcome = await resizedWhileWriting(CHANGES, { toldAfterMs: 0, answersAfterMs: null });
    expect(missingOf(outcome)).toEqual([]);
    expect(outcome.screens[0]).toBe(outcome.screens[1]);
  });
});
