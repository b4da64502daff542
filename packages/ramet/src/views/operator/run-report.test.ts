import { describe, expect, test } from 'vitest';
import { MIXED_RUN, madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { leftOf } from '../../operator/run/decisions.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { runObject } from './run-object.ts';
import { runReport } from './run-report.ts';
import { runNotes } from './run-table.ts';

const FACTS = {
  ...{ session: 'k3v9x2ab', now: 61_000, outputOf: () => null, hasBranch: () => true },
  members: new Map<string, number | null>(),
};

describe('OP-4: report.md', () => {
  test('tells everything about a run with failures', () => {
    const output = '\u001b[31mlots\nnot ok 1 ````';
    const report = runReport(madeRun(...MIXED_RUN), {
      ...FACTS,
      outputOf: (file) => (file === '/logs/T002.txt' ? output : null),
    });
    for (const part of [
      '# tasks.md: 1 of 4 tasks done\n',
      '| session | `k3v9x2ab` |',
      '| tasks | 1 done, 1 blocked, 1 failed, 1 queued |',
      '| target | main is unchanged |',
      '| cost | $0.7500 of $5.00 |',
      '| prompt cache | 80% of the input was read from it (2.1k tokens in all) |',
      '| T002 | Write the reader | failed: check | - | 0 | 1 | 2.0 s | $0.5000 | 80% |',
      '- **T002** Write the reader (failed: check)\n\n  look at its branch, then try it again\n\n  ```\n  ramet operate retry T002 --session s\n  ```\n',
      '\n\n  ```\n  ramet operate answer q1 denied --session s\n  ```\n\n  or\n\n  ```\n  ramet operate answer q1 once --session s\n  ```\n',
      'Not done: T004. To run what is left:\n\n```\nramet operate --resume s\n```',
      '- merged as: `abcdef1234567890`',
      '- files: `src/schema.ts`, `src/a|b.ts`',
      '- conflicts: `src/reader.ts`; given to the policy 2 times',
      '- try 1: failed: check: exit code 1 (agent `s.3`, 2.0 s, 1.1k tokens, $0.5000)',
      'Check `npm test`: failed, exit code 1. All it printed is in `/logs/T002.txt`.',
      'It ended with:\n\n`````\n\\x1b[31mlots\nnot ok 1 ````\n`````\n',
    ])
      expect(report).toContain(part);
    expect(report).not.toContain('\u001b');
  });

  test('names the branch of an attempt only while it is there, and its commit always', () => {
    const [there, gone] = [true, false].map((isThere) =>
      runReport(madeRun(...MIXED_RUN), { ...FACTS, hasBranch: () => isThere }),
    );
    expect(there).toContain('branch `ramet/T001`, commit `c0ffee1111111111`');
    expect(gone).toContain('commit `c0ffee1111111111`');
    expect(gone).not.toContain('ramet/T001');
  });

  test('OP-4: names the agents that have resolved a conflict and what they cost, and so do the table and the JSON', () => {
    const resolvedBy = [{ agent: 'abcdefgh.1', session: 'abcdefgh', costUsd: 0.25 }];
    const conflict = { files: ['a|b.ts'], rounds: 1, resolvedBy };
    const state = madeRun(startedRun([madeTask('a')]), taskChange('a', 'done', { conflict }));
    expect(runReport(state, FACTS)).toContain(
      "- conflicts: `a|b.ts`; given to the policy once; resolved by agent `abcdefgh.1` ($0.2500 of the task's cost, `ramet show abcdefgh`)",
    );
    expect(runNotes(state, 0, true)).toContain(
      'a: agent abcdefgh.1 resolved its conflict in a|b.ts for $0.2500: ramet show abcdefgh',
    );
    expect(runObject(state, { session: null, report: null, now: 0 }).tasks).toMatchObject([
      {
        conflict: {
          ...{ files: ['a|b.ts'], rounds: 1 },
          resolved_by: [{ agent_id: 'abcdefgh.1', session_id: 'abcdefgh', total_cost_usd: 0.25 }],
        },
      },
    ]);
  });

  test('OP-8: members cost what the journal says, and what they spent without a task is told apart', () => {
    const by = { isolation: 'team', agent: 's.2', notes: ['done by ada'] } as const;
    const state = madeRun(
      startedRun([madeTask('a')], { isolation: 'team' }),
      taskChange('a', 'done', {
        attempt: {
          number: 1,
          state: 'passed',
          ...by,
          costUsd: 0.5,
          idle: { costUsd: 0.25, usage: NO_USAGE },
        },
      }),
    );
    const members = new Map([
      ['bob', 0.25],
      ['ada', 0.5],
    ]);
    const report = runReport(state, { ...FACTS, members });
    expect(report).toContain('| ada | 1 | $0.5000 |\n| bob | 0 | $0.2500 |\n');
    expect(report).toContain(
      '| cost | $0.7500 of $5.00, of it $0.2500 of members while they held no task |\n',
    );
    expect(runObject(state, { session: 's', report: null, now: 1 })).toMatchObject({
      total_cost_usd: 0.75,
      tasks: [{ attempts: [{ total_cost_usd: 0.5 }] }],
    });
    expect(leftOf(state)).toBe(4.25);
  });

  test('says that nothing is to be done when all is done', () => {
    const report = runReport(madeRun(startedRun([madeTask('a')]), taskChange('a', 'done')), FACTS);
    expect(report).toContain('# tasks.md: 1 of 1 tasks done');
    expect(report).toContain('## What needs a person\n\nNothing.');
  });

  test('a result that did not land needs a person: commands in blocks, and what is said about them between', () => {
    const why = `it conflicts in ${'a/long/path.ts, '.repeat(60)}so take the result with:`;
    const message = `${why}\n  git merge 1234567890ab\nor with:\n  ramet merge --continue\ngit keeps your changes`;
    const landed = { type: 'operator.landed', state: 'failed', commit: '1234567890ab', message } as const;
    const run = madeRun(startedRun([madeTask('a')]), taskChange('a', 'done'), {
      ...{ ...landed, before: null, after: null },
    });
    const report = runReport(run, FACTS);
    expect(report).not.toContain('Nothing.');
    expect(report).toContain(
      '- **The result** is `1234567890ab` and is not on main\n\n  it conflicts in a/long',
    );
    const block = (command: string): string => `\n\n  \`\`\`\n  ${command}\n  \`\`\`\n\n`;
    expect(report).toContain(
      `so take the result with:${block('git merge 1234567890ab')}  or with:${block('ramet merge --continue')}  git keeps your changes\n`,
    );
    expect(runNotes(run, 3_000, true)).toEqual(
      expect.arrayContaining(['  git merge 1234567890ab', 'or with:', '  ramet merge --continue']),
    );
  });

  test('a result that did not land and comes without a command is landed by a resumed run', () => {
    const landed = { type: 'operator.landed', state: 'failed', commit: '1234567890ab' } as const;
    const run = madeRun(
      startedRun([madeTask('a')]),
      taskChange('a', 'done'),
      { ...landed, ...{ before: null, after: null, message: 'main moves all the time' } },
      { type: 'operator.changed', status: 'ended', cause: null, message: null },
    );
    const lines = ['main moves all the time', 'to try to land it again:', '  ramet operate --resume s'];
    expect(runNotes(run, 3_000, false)).toEqual(expect.arrayContaining(lines));
    expect(runReport(run, FACTS)).toContain('again:\n\n  ```\n  ramet operate --resume s\n  ```\n');
  });

  test('nothing that others wrote becomes Markdown, HTML or a control character', () => {
    const title = 'x | y <img src=x> [link](http://a) `code` **b** \u001b[2J\n# heading';
    const events = [
      startedRun([madeTask('a|b', { title })]),
      taskChange('a|b', 'failed', { message: title }),
    ];
    const report = runReport(madeRun(...events), FACTS);
    expect(report).not.toMatch(/[^\\]<img|[^\\]\[link\]|^# heading/m);
    expect(report).not.toContain('\u001b');
    const row = report.split('\n').find((line) => line.startsWith('| a\\|b'));
    expect(row?.match(/(?<!\\)\|/g)).toHaveLength(10);
  });
});
