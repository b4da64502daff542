import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { madeTask, startedRun } from '../../../../test/fixtures/operator-run.ts';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { createSession } from '../../../journal/sessions.ts';
import { findPlace, operatorDirectory } from '../../place.ts';
import { lintTasks } from '../planning/lint-tasks.ts';
import { idsOfRun, newTasks } from './new-tasks.ts';

test('OP-2: a task that the run has by another title is not added, and that is told', async () => {
  const cwd = temporaryDirectory();
  const env = { RAMET_HOME: join(temporaryDirectory(), 'ramet') };
  const { project } = findPlace({ cwd, env });
  const journal = await createSession({ project, cwd });
  mkdirSync(operatorDirectory({ project, session: journal.session }), { recursive: true });
  journal.append(
    null,
    startedRun([madeTask('T001', { title: 'Write one' }), madeTask('T002', { title: 'Write two' })]),
  );
  await journal.close();
  const said: string[] = [];
  const at = { cwd, env, note: (line: string) => said.push(line) };
  writeFileSync(
    join(cwd, 'more.md'),
    '- [ ] T001 Write another\n- [ ] T002 Write two\n- [ ] T003 Write three\n',
  );
  const tasks = await newTasks(await lintTasks('more.md', at), { ...at, file: 'more.md', optional: false });
  expect(tasks.map(({ id }) => id)).toEqual(['T003']);
  expect(said).toEqual(['T001 is not added: the run has it as "Write one"; give the new one another id']);
  // A file of its own may build on what runs.
  writeFileSync(join(cwd, 'more.md'), '- [ ] T010 Write ten\n  - Depends on: T002\n');
  const alone = await lintTasks('more.md', at);
  expect(alone.problems.map(({ message }) => message)).toEqual([
    'T010 depends on T002: there is no task T002 in this file',
  ]);
  const list = await lintTasks('more.md', { ...at, elsewhere: idsOfRun('more.md', at) });
  expect(list.problems).toEqual([]);
  const [added] = await newTasks(list, { ...at, file: 'more.md', optional: false });
  expect(added).toMatchObject({ id: 'T010', waits: ['T002'] });
});
