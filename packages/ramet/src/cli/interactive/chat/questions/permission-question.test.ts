import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { PermissionQuestion } from '../../../../permission/broker.ts';
import type { Key } from '../../editor/key-parser.ts';
import { textStyle } from '../../screen/text-style.ts';
import {
  answerHint,
  answerOf,
  answerText,
  denied,
  furtherLines,
  isMeantForThis,
  questionText,
  questionTitle,
} from './permission-question.ts';
import { QuestionDesk } from './question-desk.ts';

const question: PermissionQuestion = {
  agent: 'x.1',
  agentName: null,
  parent: null,
  cwd: '/srv',
  tool: 'Bash',
  summary: 'npm test\nrm -rf \u202e/tmp\u001b[2K',
  reason: 'it runs a program',
  suggestedRules: ['Bash(npm test:*)'],
  command: 'npm test',
  input: { command: 'npm test' },
};
const text = (typed: string): Key => ({ type: 'text', text: typed });
const signal = new AbortController().signal;
const SHAPE = { columns: 80, rows: 24, style: textStyle(false) };

describe('RES-3: a question about permission', () => {
  test('shows all of what would happen, and nothing that hides a part of it', () => {
    expect(questionText(question, SHAPE).text).toBe(
      '? Bash asks for permission\n    npm test\n    rm -rf \\u202e/tmp\\x1b[2K\n  it runs a program\n  "always" allows Bash(npm test:*)\n',
    );
  });

  test('says which agent asks when it is not the main one, with nothing that hides a part of its name', () => {
    const ofChild = { ...question, agent: 'x.2', agentName: 'fix \u001b[2Ktests', parent: 'x.1' };
    const [title] = questionText(ofChild, SHAPE).text.split('\n');
    expect(title).toBe('? agent "fix \\x1b[2Ktests" asks for permission: Bash');
  });

  test('shows what a title sequence of a terminal would swallow', () => {
    const summary = 'npm test \u001b]0;; rm -rf ~/x;\u0007 # all checks';
    expect(questionText({ ...question, summary }, SHAPE).text).toContain(
      '    npm test \\x1b]0;; rm -rf ~/x;\\x07 # all checks\n',
    );
  });

  test('shows a plan line by line, between its words', () => {
    const plan = { ...question, tool: 'TeamPlan', command: undefined, isText: true };
    const long = `2. Test ${'each of them '.repeat(9)}`.trim();
    const { text } = questionText({ ...plan, summary: `1. Write b.txt.\n${long}\u001b[2K` }, SHAPE);
    expect(text).toMatch(/^ {4}1\. Write b\.txt\.\n {4}2\. Test each of them .*\n {6}\w/m);
    expect(text).not.toMatch(/…|\\n/);
    expect(text).not.toContain('\u001b[2K');
  });

  test('shows the diff of an edit', () => {
    const change = { path: 'a.ts', before: 'a', after: 'b', everywhere: false };
    const edit = { ...question, tool: 'Edit', summary: 'a.ts', details: { change } };
    expect(questionText(edit, SHAPE).text).toContain('    - a\n    + b\n');
  });

  test('shows a long one page by page, and every line of it once', () => {
    const summary = Array.from({ length: 100 }, (_, index) => `echo ${index}`).join('\n');
    let { text: all, rest } = questionText({ ...question, summary }, SHAPE);
    expect(all.split('\n').length).toBeLessThan(24);
    expect(all).toContain('(85 more lines: Space; all of them: Ctrl-O)');
    while (rest.length > 0) {
      const page = furtherLines(rest, SHAPE, false);
      expect(page.rest.length).toBeLessThan(rest.length);
      expect(page.text.split('\n').length).toBeLessThan(24);
      rest = page.rest;
      all += page.text;
    }
    expect(all.match(/echo \d+/g)).toEqual(summary.split('\n'));
    const first = questionText({ ...question, summary }, SHAPE);
    expect(furtherLines(first.rest, SHAPE, true)).toMatchObject({ rest: [] });
  });

  test.for([
    ['of one line', `touch a; echo ${'x '.repeat(40_000)}; touch END`],
    ['of many lines', `cat > x <<E\n${'line\n'.repeat(9_000)}E\ntouch END`],
  ])('a command %s is shown to its end, however long', ([, summary = '']) => {
    const { rest } = questionText({ ...question, summary }, SHAPE);
    expect(furtherLines(rest, SHAPE, true).text).toMatch(/touch END\n/);
    expect(answerHint(question, 'open', { rest: rest.length, columns: 80 })).toMatch(/^\d{3,4} more lines/);
  });

  test.for([80, 40])('rules of a command with many parts leave it in sight, %i columns wide', (columns) => {
    const parts = Array.from({ length: 60 }, (_, at) => `touch file-number-${at}-with-a-long-name.txt`);
    const suggestedRules = parts.map((part) => `Bash(${part})`);
    const shape = { ...SHAPE, columns };
    const { text, rest } = questionText({ ...question, summary: parts.join(' && '), suggestedRules }, shape);
    const rows = text.split('\n').slice(0, -1);
    expect(rows.length + 3).toBeLessThan(24);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(columns);
    expect(rows[1]).toContain('touch file-number-0');
    expect(rows.slice(-2)[0]).toContain('"always" allows Bash(touch');
    expect(rows.at(-1)).toBe('  and 57 more: a shows all');
    expect(rest.length).toBeGreaterThan(0);
  });

  test.for([
    [80, 24],
    [40, 10],
  ])(
    'reasons of a command with many parts leave it in sight, %i columns by %i rows',
    ([columns = 0, rows = 0]) => {
      const parts = Array.from({ length: 60 }, (_, at) => `touch k${at}.txt`);
      const many = {
        ...{
          ...question,
          summary: parts.join('\n'),
          reason: parts.map((part) => `it runs ${part}`).join('; '),
        },
        suggestedRules: parts.map((part) => `Bash(${part})`),
      };
      const shown = questionText(many, { ...SHAPE, columns, rows })
        .text.split('\n')
        .slice(0, -1);
      const height = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
      expect(height + 3).toBeLessThan(rows + 1);
      expect(shown[1]).toContain('touch k0.txt');
      expect(shown.join('\n')).toContain('it runs touch k0.txt');
    },
  );

  test('what a tool of a server gets is shown to its end', () => {
    const sql = `SELECT ${'column, '.repeat(200)}x FROM t; DROP TABLE customers`;
    const asked = {
      ...question,
      command: undefined,
      tool: 'mcp__db__query',
      summary: JSON.stringify({ sql }),
    };
    const { text, rest } = questionText(asked, SHAPE);
    expect([text, ...rest].join('').replace(/\s*…|\n {4}/g, '')).toContain('DROP TABLE customers');
  });

  test('of one very long line is paged from its beginning', () => {
    const summary = `rm -rf x; echo ${'x'.repeat(2_000)} TAIL`;
    const shape = { ...SHAPE, columns: 40, rows: 10 };
    let { text, rest } = questionText({ ...question, summary }, shape);
    expect(text).toContain('    rm -rf x; echo xx');
    expect(text).toMatch(/\(\d+ more: Space, Ctrl-O\)/);
    expect(text.split('\n').length).toBeLessThan(10);
    expect(text).not.toContain('TAIL');
    let all = text;
    for (; rest.length > 0; all += text) ({ text, rest } = furtherLines(rest, shape, false));
    const rows = all.split('\n').flatMap((line) => /^(?: {4}| {3}…)(?!\()(.*)$/.exec(line)?.[1] ?? []);
    expect(rows.join('')).toBe(summary);
  });

  test('line breaks and tabs of a path are written out, in every place that shows it', () => {
    const summary = '/srv/notes.md\n    1 + harmless\n  "always" allows Edit(notes.md)\n\tx.sh';
    const path = { ...question, command: undefined, tool: 'Write', summary, parent: 'x.1', agentName: 'kid' };
    const wide = { ...SHAPE, columns: 200 };
    const shown = '/srv/notes.md\\n    1 + harmless\\n  "always" allows Edit(notes.md)\\n\\tx.sh';
    expect(questionText(path, wide).text.split('\n')[1]).toBe(`    ${shown}`);
    expect(questionTitle(path)).toContain('notes.md\\n 1 + harmless\\n');
    expect(questionText({ ...path, command: summary }, wide).text).toContain('\n        1 + harmless\n');
  });

  test('a no has the reason that was given, for the model and on the screen', () => {
    expect(denied('use tabs')).toEqual({ kind: 'denied', reason: 'the user said no: use tabs' });
    expect([answerText(denied('use tabs')), answerText(denied())]).toEqual(['denied: use tabs', 'denied']);
  });

  test.for<[Key, unknown]>([
    [text('y'), { kind: 'once' }],
    [text('Y'), { kind: 'once' }],
    [text('a'), { kind: 'always', rules: ['Bash(npm test:*)'] }],
    [text('n'), { kind: 'denied', reason: 'the user said no.' }],
    [
      { type: 'press', name: 'escape' },
      { kind: 'denied', reason: 'the user said no.' },
    ],
    [text('yes'), null],
    [{ type: 'press', name: 'enter' }, null],
    [{ type: 'paste', text: 'y' }, null],
  ])('%j is answered with %j', ([key, answer]) => {
    expect(answerOf(key, question)).toEqual(answer);
  });

  test('"always" is not offered when no rule should allow it', () => {
    const once = { ...question, suggestedRules: [] };
    expect(answerHint(once, 'open', { rest: 0, columns: 80 })).not.toContain('always');
    expect(answerOf(text('a'), once)).toBe(null);
  });

  test('fits 40 columns by 10 rows: its title, a part of it, and the keys', () => {
    const summary = Array.from({ length: 100 }, (_, index) => `echo ${index}`).join('\n');
    const low = { ...SHAPE, columns: 39, rows: 10 };
    const { text, rest } = questionText({ ...question, summary }, low);
    const rows = text.split('\n').slice(0, -1);
    // Three rows are for what is being done, the keys and the figures.
    expect(rows.length).toBeLessThanOrEqual(7);
    expect(rows[0]).toBe('? Bash asks for permission');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(39);
    for (const count of [0, rest.length, 12_345]) {
      const hint = answerHint(question, 'open', { rest: count, columns: 39 });
      expect(hint).toMatch(/y once/);
      expect(hint.length).toBeLessThanOrEqual(37);
      expect(hint.includes('Space')).toBe(count > 0);
    }
    expect(answerHint(question, 'writing', { rest: 0, columns: 39 }).length).toBeLessThanOrEqual(37);
  });

  test('a key right after a question went away by itself is not taken for the next one', () => {
    expect(isMeantForThis(100)).toBe(false);
    expect(isMeantForThis(1_000)).toBe(true);
  });

  test('questions are answered one after the other', async () => {
    const seen: (string | undefined)[] = [];
    const desk = new QuestionDesk(() => seen.push(desk.current?.summary));
    const answers = [
      desk.ask({ ...question, summary: 'first' }, signal),
      desk.ask({ ...question, summary: 'second' }, signal),
    ];
    desk.answer({ kind: 'once' });
    desk.answer({ kind: 'denied', reason: 'no' });
    expect(await Promise.all(answers)).toEqual([{ kind: 'once' }, { kind: 'denied', reason: 'no' }]);
    expect(seen).toEqual(['first', 'second', undefined]);
  });

  test('ten questions wait in order, and one that is stopped takes only itself away', async () => {
    const seen: (string | undefined)[] = [];
    const withdrawals: boolean[] = [];
    const desk = new QuestionDesk((withdrawn) => {
      seen.push(desk.current?.summary);
      withdrawals.push(withdrawn);
    });
    const names = Array.from({ length: 10 }, (_, index) => `question ${index}`);
    const stops = names.map(() => new AbortController());
    const answers = names.map((summary, index) =>
      desk.ask({ ...question, summary }, stops[index]?.signal ?? signal).catch(() => 'stopped'),
    );
    stops[4]?.abort();
    stops[0]?.abort();
    while (desk.current !== null) desk.answer({ kind: 'denied', reason: desk.current.summary });
    const left = names.filter((_, index) => index !== 0 && index !== 4);
    expect(await Promise.all(answers)).toEqual(
      names.map((reason) => (left.includes(reason) ? { kind: 'denied', reason } : 'stopped')),
    );
    expect(seen).toEqual(['question 0', ...left, undefined]);
    expect(withdrawals).toEqual([false, true, ...left.map(() => false)]);
    expect(stops.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  test('a question goes away when its turn is stopped', async () => {
    const controller = new AbortController();
    const desk = new QuestionDesk(() => {});
    const answer = desk.ask(question, controller.signal);
    controller.abort();
    await expect(answer).rejects.toThrow('interrupted');
    await expect(desk.ask(question, controller.signal)).rejects.toThrow('interrupted');
    expect(desk.current).toBe(null);
  });
});
