import { describe, expect, test } from 'vitest';
import { MIXED_RUN, madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { displayWidth } from '../text/format.ts';
import { progressRows } from './run-progress.ts';
import { waitingFor } from './run-summary.ts';

const WIDE = { columns: 100, rows: 24 };

function texts(...given: Parameters<typeof progressRows>): string[] {
  return progressRows(...given).map(({ text }) => text);
}

describe('OP-2: the block that shows a run', () => {
  const live = { now: 61_000, agents: new Map([['s.4', { doing: 'Bash npm test', costUsd: 0.05 }]]) };

  test('has counts, spend against budget, the graph, a row for each task, and what needs a person', () => {
    expect(texts(madeRun(...MIXED_RUN), live, WIDE)).toEqual([
      '1 of 4 tasks done · 1 blocked, 1 failed, 1 queued · 1 min · tasks.md into main',
      'spent $0.8000 of $5.00 [██░░░░░░░░] 16% · cache 80%',
      '✓ T001 → ✗ T002  ! T003 → · T004',
      '✓ T001 Write the schema         done                 1.0 s  $0.2500',
      '✗ T002 Write the reader         failed: check        2.0 s  $0.5000',
      '! T003 Call the release script  blocked: permission  2.0 s  $0.0500',
      '· T004 Write the manual         after T002',
      '2 need you: T002: look at its branch, then try it again: ramet operate retry T002 --session s',
    ]);
  });

  test.each([79, 40, 20])('a command is whole on a screen of %i columns', (columns) => {
    const rows = texts(madeRun(...MIXED_RUN), live, { columns, rows: 40 });
    const at = rows.findIndex((row) => row.includes('need you'));
    const shown = rows.slice(at).join('').replaceAll(/\s/g, '');
    expect(shown).toContain('rametoperateretryT002');
  });

  test('tells what an agent does, and which try it is', () => {
    const state = madeRun(
      startedRun([madeTask('a')]),
      taskChange('a', 'running', { attempt: { number: 1, agent: 's.2' } }),
      taskChange('a', 'running', { attempt: { number: 1, state: 'failed', costUsd: 0.1 } }),
      taskChange('a', 'running', { attempt: { number: 2, agent: 's.4' } }),
    );
    expect(texts(state, live, WIDE).at(-1)).toBe('● a do a  running (try 2): Bash npm test  58.0 s  $0.1500');
  });

  test('tells that an agent waits for a limit instead of what it does', () => {
    const state = madeRun(
      startedRun([madeTask('a')]),
      taskChange('a', 'running', { attempt: { number: 1, agent: 's.4' } }),
      taskChange('a', 'running', { message: 'waiting: limit until 01:00 (in 59 min)', until: 3_660_900 }),
    );
    expect(texts(state, live, { columns: 120, rows: 24 }).at(-1)).toMatch(
      /^● a do a {2}waiting: limit until .*\d\d:\d\d \(in 1 h\) /,
    );
    const long = madeRun(
      startedRun([madeTask('a', { title: 'x'.repeat(90) })]),
      taskChange('a', 'running', { message: 'waiting: limit until 01:00 (in 1 d)', until: 90_000_000 }),
    );
    expect(texts(long, live, { columns: 80, rows: 24 }).at(-1)).toMatch(
      /… {2}waiting: limit until \w+ \d+ \d\d:\d\d$/,
    );
  });

  test('does not know a sum with an unknown part, and shows what is known of it', () => {
    const state = madeRun(...MIXED_RUN);
    const unknown = { now: 9_000, agents: new Map([['s.4', { doing: '', costUsd: null }]]) };
    expect(texts(state, unknown, WIDE)[1]).toContain('spent $0.7500+ of $5.00');
  });

  test.each([100, 40, 20, 9, 1])('no row is wider than a screen of %i columns', (columns) => {
    const state = madeRun(
      startedRun([madeTask('a', { title: '測試 '.repeat(40) }), madeTask('b'.repeat(90), { waits: ['a'] })]),
    );
    for (const text of texts(state, live, { columns, rows: 24 }))
      expect(displayWidth(text)).toBeLessThanOrEqual(Math.max(1, columns - 1));
  });

  test.each([1, 2, 5, 8, 24])(
    'it is lower than a screen of %i rows, and what needs a person stays',
    (rows) => {
      const tasks = Array.from({ length: 200 }, (_, index) => madeTask(`t${index}`));
      const state = madeRun(
        startedRun(tasks),
        taskChange('t150', 'blocked', { cause: 'gate' }),
        taskChange('t160', 'running', { attempt: { number: 1 } }),
      );
      const shown = texts(state, live, { columns: 80, rows });
      expect(shown.length).toBeLessThan(Math.max(2, rows));
      if (rows === 24) {
        expect(shown).toContainEqual(expect.stringMatching(/^! t150 +do t150 +blocked: gate$/));
        expect(shown).toContainEqual(expect.stringMatching(/^● t160/));
        expect(shown).toContainEqual('  and 182 queued');
      }
    },
  );

  test('control characters of titles and ids are shown, not sent', () => {
    const state = madeRun(
      startedRun([madeTask('a\u001b[2J', { title: 'x\u001b]0;owned\u0007\r\u202ey\nz' })]),
    );
    const [row] = texts(state, live, WIDE).slice(-1);
    expect(row).toBe(String.raw`· a\x1b[2J x\x1b]0;owned\x07\x0d\u202ey z  queued`);
  });

  test('says when nothing new starts, what it waits for, and what to do', () => {
    const events = [
      startedRun([madeTask('a'), madeTask('b')]),
      taskChange('a', 'running', { attempt: { number: 1 } }),
    ];
    const draining = madeRun(...events, {
      ...{ type: 'operator.changed', status: 'draining', cause: 'interrupted', message: null },
    });
    expect(texts(draining, live, WIDE).at(-1)).toBe(
      'stopping: nothing new starts; waits for a (interrupted); Ctrl-C again stops at once',
    );
    const tripped = madeRun(...events, {
      ...{ type: 'operator.changed', status: 'tripped', cause: 'breaker', message: '5 failed' },
    });
    expect(texts(tripped, live, WIDE).slice(-2)).toEqual([
      'tripped: nothing new starts; waits for a (breaker: 5 failed)',
      '  ramet operate resume --session s continues it',
    ]);
    expect(texts(draining, live, { columns: 60, rows: 24 }).slice(-2)).toEqual([
      'stopping: nothing new starts; waits for a (interrupted)',
      '  Ctrl-C again stops at once',
    ]);
    expect(waitingFor(madeRun(startedRun([madeTask('a')])))).toBe('waits for nothing');
    const landing = { type: 'operator.landed', state: 'intended', commit: 'c', before: null } as const;
    const run = madeRun(startedRun([madeTask('a')]), { ...landing, after: null, message: null });
    expect(waitingFor(run)).toBe('waits until the result is on main');
  });
});
