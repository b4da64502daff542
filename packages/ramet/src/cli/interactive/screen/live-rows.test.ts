import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QUIET_STATE } from '../../../../test/fixtures/quiet-state.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import { editorOf } from '../editor/line-editor.ts';
import { type LiveState, liveRows, statusText } from './live-rows.ts';
import { textStyle } from './text-style.ts';

const style = textStyle(false);
const WORDS = ['x'.repeat(30), '日本語', 'e\u0301a', '👩‍👩‍👧', 'שלום', 'word', '\t'];
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(' '));
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one);
const item = fc.record({ label: text });
/** Also what no terminal can have. */
const side = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(24, 40, 80, 200, 10_000));

const anyState: fc.Arbitrary<LiveState> = fc.record({
  editor: text.map(editorOf),
  activity: maybe(fc.record({ text, forMs: fc.nat() })),
  todos: fc.array(fc.record({ content: text, status: fc.constantFrom('pending', 'in_progress') })),
  agents: fc.constant([]),
  queued: fc.array(text),
  question: maybe(text),
  rule: maybe(text),
  answers: maybe(text),
  field: maybe(fc.record({ prompt: fc.constant('no, because: '), editor: text.map(editorOf) })),
  menu: maybe(
    fc.record({
      title: maybe(text),
      items: fc.array(item, { maxLength: 30 }),
      place: fc.constant(0),
      none: text,
    }),
  ),
  status: text,
  statusLines: maybe(fc.record({ lines: fc.array(text), padding: fc.nat(20), colours: fc.boolean() })),
});

describe('UI-1: the rows below the output', () => {
  test('have the permission mode in sight on a narrow screen, whatever else is cut', () => {
    const tally = { responses: 12, usage: { ...NO_USAGE, input_tokens: 123_456 }, costUsd: 12.5 };
    const facts = { model: 'claude-sonnet-5-with-a-long-name', permissionMode: 'acceptEdits', context: null };
    const live = liveRows(
      { ...QUIET_STATE, status: statusText({ ...facts, tally }) },
      { columns: 20, rows: 24 },
      style,
    );
    expect(live.rows.at(-1)?.text).toMatch(/^acceptEdits\b/);
    // On a wide one all of it is there, in this order.
    expect(statusText({ ...facts, tally })).toBe(
      'acceptEdits · claude-sonnet-5-with-a-long-name · $12.50 · 123.5k tokens · 12 turns · cache 0%',
    );
    const session = { coordinator: { phase: 'synthesis' } };
    expect(statusText({ ...facts, tally, session })).toMatch(/^acceptEdits · synthesis · claude/);
  });

  test('are narrower and lower than the screen, whatever size a terminal says it has', () => {
    fc.assert(
      fc.property(anyState, side, side, (state, columns, rows) => {
        const live = liveRows(state, { columns, rows }, style);
        expect(live.rows.length).toBeGreaterThan(0);
        expect(live.rows.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        for (const { width } of live.rows) expect(width).toBeLessThanOrEqual(Math.max(1, columns - 1));
        expect(live.rows[live.cursorRow]).toBeDefined();
        expect(live.cursorColumn).toBeLessThanOrEqual(columns);
      }),
    );
  });

  test('BG-4: show a suggestion above the input between turns, and nothing of it when something else is shown', () => {
    const size = { columns: 20, rows: 24 };
    const texts = (state: Partial<LiveState>): string[] =>
      liveRows({ ...QUIET_STATE, suggestion: 'Tab: Run all the tests.', ...state }, size, style).rows.map(
        (row) => row.text,
      );
    expect(texts({}).slice(0, 2)).toEqual(['Tab: Run all the t…', '> ']);
    const activity = { text: 'working', forMs: 0 };
    for (const other of [texts({ activity }), texts({ answers: 'y once' })])
      expect(other.join()).not.toContain('Tab:');
  });

  test('are few while a question is open: what it is about stands above them', () => {
    const todos = Array.from({ length: 8 }, (_, at) => ({
      content: `item ${at}`,
      status: 'pending' as const,
    }));
    const size = { columns: 80, rows: 24 };
    expect(liveRows({ ...QUIET_STATE, todos }, size, style).rows).toHaveLength(10);
    const asked = liveRows({ ...QUIET_STATE, todos, answers: 'y once' }, size, style);
    expect(asked.rows.map((row) => row.text)).toEqual([
      '☐ item 0 (0 of 8 done)',
      '? y once',
      'claude-sonnet-5 · $0.00',
    ]);
  });

  test('show all of the rule that an always would save, and why one is refused', () => {
    const rule = `always: Edit(//srv/${'a/'.repeat(40)}b.ts)`;
    const shown = liveRows(
      { ...QUIET_STATE, rule, answers: 'Enter: session' },
      { columns: 40, rows: 10 },
      style,
    );
    const rows = shown.rows.map((row) => row.text);
    expect(rows.slice(0, -2).join('').replaceAll(' ', '')).toBe(rule.replaceAll(' ', ''));
    expect(rows.at(-2)).toBe('? Enter: session');
    const answers =
      'Bash(rm && x) can never match: joined commands are judged one by one; write one rule for each';
    const refused = liveRows({ ...QUIET_STATE, answers, field: null }, { columns: 40, rows: 10 }, style);
    expect(refused.rows.map((row) => row.text).join(' ')).toContain('write one rule for each');
  });

  test('the line of figures ends between two of them, and is cut only where one alone is too wide', () => {
    const status = 'default · claude-sonnet-5 · context 12% · $0.0146 · 4.0k tokens · cache 97%';
    const last = (columns: number): string | undefined =>
      liveRows({ ...QUIET_STATE, status }, { columns, rows: 24 }, style).rows.at(-1)?.text;
    expect(last(100)).toBe(status);
    expect(last(70)).toBe('default · claude-sonnet-5 · context 12% · $0.0146 · 4.0k tokens');
    expect(last(6)).toBe('defa…');
  });
});
