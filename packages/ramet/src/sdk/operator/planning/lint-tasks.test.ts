import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { lintTasks } from './lint-tasks.ts';

test('OP-1: types and reviewers that a run would refuse are errors, and a model that is not listed is told', async () => {
  const cwd = temporaryDirectory();
  const lines = [
    'tasks:',
    '  - { id: a, title: A, type: NoSuchType }',
    '  - { id: b, title: B, review: nosuch }',
    '  - { id: c, title: C, review: general-purpose }',
    '  - { id: d, title: D, model: nosuchmodel }',
    '  - { id: e, title: E, type: Explore, review: code-review, model: opus }',
    '  - { id: f, title: F, type: NoSuchType, status: done }',
  ];
  writeFileSync(join(cwd, 'tasks.yaml'), lines.join('\n'));
  const { problems } = await lintTasks('tasks.yaml', { cwd, env: { RAMET_HOME: join(cwd, 'home') } });
  expect(problems.map(({ line, column, level, message }) => `${line}:${column} ${level} ${message}`)).toEqual(
    [
      expect.stringMatching(/^2:30 error a: there is no agent type "NoSuchType"/),
      expect.stringMatching(/^3:32 error b: there is no agent type "nosuch"/),
      expect.stringMatching(/^4:32 error c: agents of the type general-purpose may write/),
      expect.stringMatching(/^5:31 warning the model of d is "nosuchmodel"/),
    ],
  );
});
