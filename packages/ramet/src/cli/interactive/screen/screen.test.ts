import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualTerminal } from '../../../../test/fixtures/virtual-terminal.ts';
import { type SimulatedClock, simulatedClock } from '../../../testing/simulated-clock.ts';
import { type Block, lineBlocks } from '../markdown/blocks.ts';
import { createScreen, type LiveRows, type Screen } from './screen.ts';

function live(...texts: string[]): LiveRows {
  return {
    rows: texts.map((text) => ({ text, width: text.length })),
    cursorRow: 0,
    cursorColumn: texts[0]?.length ?? 0,
  };
}

const SETTLED_MS = 300;

function screenOn(
  columns: number,
  rows: number,
): { terminal: VirtualTerminal; screen: Screen; clock: SimulatedClock } {
  const terminal = new VirtualTerminal(columns, rows);
  const clock = simulatedClock();
  return {
    terminal,
    screen: createScreen((bytes) => terminal.write(bytes), { columns, rows }, clock),
    clock,
  };
}

/** A line that the terminal wraps. */
function whole(text: string): Block {
  return { rows: () => [{ text, width: text.length, isWhole: true }] };
}

/** What a terminal shows of these rows when they are simply written to it. */
function written(blocks: readonly Block[], columns: number): string {
  const terminal = new VirtualTerminal(columns, 1_000);
  for (const { text } of blocks.flatMap((block) => [...block.rows(columns - 1)]))
    terminal.write(`${text}\r\n`);
  return terminal.text;
}

describe('UI-1: output above, live rows below', () => {
  test('output is written above the live rows, and the cursor is in them', () => {
    const { terminal, screen } = screenOn(20, 10);
    for (const text of ['Hello there.\n', 'Next\n']) {
      screen.append(lineBlocks(text));
      screen.draw(live('> ', 'status'));
    }
    expect(terminal.text).toBe('Hello there.\nNext\n>\nstatus');
    expect(terminal.cursor).toEqual({ row: 2, column: 2 });
  });

  test('a frame that would change nothing is not written', () => {
    const frames: string[] = [];
    const screen = createScreen((bytes) => frames.push(bytes), { columns: 20, rows: 10 });
    for (let time = 0; time < 3; time++) screen.draw(live('> ', 'status'));
    expect(frames).toHaveLength(1);
    screen.draw({ ...live('> ', 'status'), cursorColumn: 1 });
    screen.draw(live('> ', 'other'));
    screen.append(lineBlocks('output\n'));
    screen.draw(live('> ', 'other'));
    expect(frames).toHaveLength(4);
    screen.redraw(live('> ', 'other'));
    expect(frames).toHaveLength(5);
  });

  test('fewer live rows leave nothing of the earlier ones', () => {
    const { terminal, screen } = screenOn(20, 10);
    screen.append(lineBlocks('output\n'));
    screen.draw(live('> one', 'two', 'three'));
    screen.draw(live('> o', 'status'));
    expect(terminal.text).toBe('output\n> o\nstatus');
  });

  test('closing writes what is pending and removes the live rows', () => {
    const { terminal, screen } = screenOn(20, 10);
    screen.draw(live('> x', 'status'));
    screen.append(lineBlocks('last line\n'));
    screen.close();
    expect(terminal.text).toBe('last line');
    expect(terminal.cursor).toEqual({ row: 1, column: 0 });
  });

  test('in a terminal that is narrower than it told, nothing of the live rows is left behind', () => {
    const terminal = new VirtualTerminal(20, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), { columns: 60, rows: 10 });
    const status = 'figures that fill a row of the wider terminal';
    for (const time of ['0 ms', '100 ms', '200 ms']) {
      const rows = [`* ${time} working`, '> ', status].map((text) => ({ text, width: text.length }));
      screen.draw({ rows, cursorRow: 1, cursorColumn: 2 });
    }
    expect(terminal.text.split('\n').slice(0, 2)).toEqual(['* 200 ms working', '>']);
  });

  test('words are not broken, and colours take no room', () => {
    const { terminal, screen } = screenOn(12, 10);
    screen.append(lineBlocks('a\t\u001b[31mbc\u001b[39m d\n  more than one line\n'));
    screen.draw(live('> '));
    expect(terminal.text).toBe('a       bc\nd\n  more than\n  one line\n>');
  });

  test('a line of code is left to the terminal to wrap, also if it fills its rows', () => {
    const { terminal, screen } = screenOn(10, 10);
    for (const length of [10, 20, 25]) {
      screen.append([whole('x'.repeat(length))]);
      screen.draw(live('> '));
    }
    const row = 'x'.repeat(10);
    expect(terminal.text).toBe([row, row, row, row, row, 'xxxxx', '>'].join('\n'));
  });

  test('what is drawn again is what was there, with a rest of a line at the top', () => {
    const { terminal, screen } = screenOn(10, 5);
    screen.append([whole('abcdefghij'.repeat(5)), ...lineBlocks('one\ntwo\n')]);
    screen.draw(live('> ', 'status'));
    const before = terminal.text;
    screen.redraw(live('> ', 'status'));
    expect(terminal.text).toBe(before);
    expect(terminal.cursor).toEqual({ row: 7, column: 2 });
  });

  test('what is drawn for the first time with another size is not lost', () => {
    const { terminal, screen } = screenOn(20, 6);
    screen.append(lineBlocks('first\n'));
    screen.draw(live('> '));
    const lines = Array.from({ length: 12 }, (_, line) => `line ${line}`);
    screen.append(lineBlocks(`${lines.join('\n')}\n`));
    screen.redraw(live('> '));
    expect(terminal.text.split('\n').slice(-13)).toEqual([...lines, '>']);
  });

  test('a change of the size is drawn when the size has settled, once; keys and output wait for it', async () => {
    const { terminal, screen, clock } = screenOn(20, 10);
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    screen.append(lineBlocks(`${lines.join('\n')}\n`));
    screen.draw(live('> '));
    const before = terminal.text;
    for (const rows of [9, 8, 7]) {
      terminal.rows = rows;
      screen.resized(live('> '), { columns: 20, rows });
      await clock.advance(SETTLED_MS - 50);
      screen.append(lineBlocks(`at ${rows}\n`));
      screen.draw(live('> typed'));
      expect(terminal.text).toBe(before);
    }
    await clock.advance(SETTLED_MS);
    const rows = terminal.text.split('\n');
    expect(rows.slice(-5)).toEqual(['line 29', 'at 9', 'at 8', 'at 7', '> typed']);
    expect(rows.filter((row) => row.startsWith('line'))).toEqual(lines);
    expect(clock.due()).toEqual([]);
  });

  test('a long answer that comes while the size changes is written whole', async () => {
    const { terminal, screen, clock } = screenOn(20, 10);
    screen.append(lineBlocks('before\n'));
    screen.draw(live('> '));
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at}`);
    terminal.rows = 8;
    screen.resized(live('> '), { columns: 20, rows: 8 });
    for (let at = 0; at < lines.length; at += 30) {
      screen.append(lineBlocks(`${lines.slice(at, at + 30).join('\n')}\n`));
      screen.draw(live('> '));
    }
    await clock.advance(SETTLED_MS);
    expect(terminal.text.split('\n')).toEqual(['before', ...lines, '>']);
  });

  test('a size that never settles does not hide what is said for ever', async () => {
    const { terminal, screen, clock } = screenOn(20, 10);
    screen.draw(live('> '));
    for (let time = 0; time < 210; time++) {
      screen.resized(live('> '), { columns: 20, rows: 10 - (time % 2) });
      if (time === 0) screen.append(lineBlocks('said\n'));
      await clock.advance(100);
      screen.draw(live('> '));
    }
    expect(terminal.text).toBe('said\n>');
  });

  test('what has the terminal meanwhile is not drawn over', async () => {
    const { terminal, screen, clock } = screenOn(20, 10);
    screen.draw(live('> '));
    screen.resized(live('> '), { columns: 20, rows: 8 });
    screen.rest();
    await clock.advance(SETTLED_MS * 2);
    expect(terminal.text).toBe('>');
    expect(screen.size).toEqual({ columns: 20, rows: 10 });
  });

  /** Told as tmux does: at once, but within 250 ms after the last time only at their end. */
  async function resizedWhileWriting(
    steps: readonly { lines: number; below: number; rows: number | null; thenMs: number }[],
  ): Promise<{ lines: readonly string[]; seen: readonly string[] }> {
    const { terminal, screen, clock } = screenOn(20, 10);
    // The screen is full, as it is in the middle of a long answer.
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    screen.append(lineBlocks(`${lines.join('\n')}\n`));
    screen.draw(live('> '));
    let [under, toldAt, isToBeTold] = [live('> '), Number.NEGATIVE_INFINITY, false];
    const tell = (): void => {
      [toldAt, isToBeTold] = [clock.now(), false];
      screen.resized(under, { columns: 20, rows: terminal.rows });
    };
    for (const { lines: more, below, rows, thenMs } of steps) {
      const fresh = Array.from({ length: more }, (_, at) => `line ${lines.length + at}`);
      lines.push(...fresh);
      if (more > 0) screen.append(lineBlocks(`${fresh.join('\n')}\n`));
      under = live(...['> ', 'a', 'b', 'c'].slice(0, below));
      screen.draw(under);
      terminal.rows = rows ?? terminal.rows;
      if (rows !== null && clock.now() - toldAt >= 250) tell();
      else if (rows !== null && !isToBeTold) {
        isToBeTold = true;
        void clock.sleep(toldAt + 250 - clock.now()).then(tell);
      }
      await clock.advance(thenMs);
    }
    await clock.advance(SETTLED_MS + 250);
    screen.close();
    return { lines, seen: terminal.text.split('\n').filter((line) => line.startsWith('line')) };
  }

  test('a terminal that tells its size as late as tmux loses no line', async () => {
    const step = fc.record({
      lines: fc.integer({ min: 0, max: 6 }),
      below: fc.integer({ min: 1, max: 4 }),
      rows: fc.constantFrom(null, 6, 9, 10, 14, 20),
      thenMs: fc.constantFrom(0, 10, 100, 240, 400),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { lines, seen } = await resizedWhileWriting(steps);
      expect(seen.filter((line, at) => seen.indexOf(line) === at)).toEqual(lines);
    });
    await fc.assert(property);
  });

  test('100 quick changes of the size while output arrives show next to nothing twice', async () => {
    const steps = Array.from({ length: 100 }, (_, at) => ({
      lines: 3,
      below: 1 + (at % 4),
      rows: 6 + ((at * 7) % 15),
      thenMs: 60 + ((at * 37) % 90),
    }));
    const { lines, seen } = await resizedWhileWriting(steps);
    expect(new Set(seen)).toEqual(new Set(lines));
    expect(seen.length - lines.length).toBeLessThanOrEqual(10);
  });

  test('what was drawn for a terminal that was larger by then is written again', async () => {
    const { terminal, screen, clock } = screenOn(20, 12);
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
    screen.append(lineBlocks(`${lines.join('\n')}\n`));
    screen.draw(live('> '));
    terminal.rows = 10;
    screen.resized(live('> '), { columns: 20, rows: 10 });
    await clock.advance(SETTLED_MS - 1);
    terminal.rows = 14;
    await clock.advance(1);
    screen.resized(live('> '), { columns: 20, rows: 14 });
    await clock.advance(SETTLED_MS);
    const seen = terminal.text.split('\n').filter((line) => line.startsWith('line'));
    expect(new Set(seen)).toEqual(new Set(lines));
  });

  test('output in any pieces looks as if it had been written at once, however often it is drawn again', () => {
    const block = fc.oneof(
      fc.stringMatching(/^[a-z ]{0,60}$/).map((text) => lineBlocks(`${text}\n`)),
      fc
        .constantFrom('', '日本日本日本日本', '😀 word', 'e\u0301', 'a\nb\n\nc')
        .map((text) => lineBlocks(`${text}\n`)),
      fc.stringMatching(/^[a-z]{1,60}$/).map((text) => [whole(text)]),
    );
    const rows = fc.array(fc.constantFrom('> ', '> abc', 'st'), { minLength: 1, maxLength: 4 });
    const property = fc.property(
      fc.integer({ min: 6, max: 40 }),
      fc.array(fc.tuple(block, rows, fc.boolean()), { maxLength: 20 }),
      (columns, steps) => {
        const { terminal, screen } = screenOn(columns, 10);
        for (const [blocks, below, again] of steps) {
          screen.append(blocks);
          screen.draw(live(...below));
          const before = terminal.text;
          if (again) screen.redraw(live(...below));
          expect(terminal.text).toBe(before);
        }
        screen.close();
        expect(terminal.text).toBe(
          written(
            steps.flatMap(([blocks]) => blocks),
            columns,
          ),
        );
      },
    );
    fc.assert(property);
  });
});

test('the terminal of tests takes controls that arrive in pieces, and none that it does not know', () => {
  const bytes =
    'one\r\n\u001b[2Ktwo\u001b[1A\u001b]8;;https://e.org\u001b\\x\u001b]8;;\u001b\\\u001b[22;2t\u001b]2;title\u0007\u001b[?25h';
  const whole = new VirtualTerminal(20, 5);
  whole.write(bytes);
  for (let cut = 1; cut < bytes.length; cut++) {
    const cutInTwo = new VirtualTerminal(20, 5);
    cutInTwo.write(bytes.slice(0, cut));
    cutInTwo.write(bytes.slice(cut));
    expect(cutInTwo.text).toBe(whole.text);
  }
  expect(() => whole.write('\u001b[2;3X')).toThrow('does not know');
});
