import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  filesOn,
  operateHere,
  prepareRun,
  statusesOf,
  taskIn,
  taskWorker,
  writing,
} from '../fixtures/task-runs.ts';
import { test } from '../fixtures/user.ts';

describe.concurrent('OP-2: a run that is resumed', () => {
  test('keeps its rules and its report, takes another budget, and refuses what it cannot change', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 Write it\n- [ ] T2 Write a secret\n');
    await user.emulate({
      respond: (asked) =>
        taskIn(asked) === 'T2' && asked.turn === 0 ? writing('x/secret.txt', 'x') : taskWorker(asked),
    });
    const flags = ['--deny', 'Write(x/**) Edit(x/**)', '--report', 'r.md', '--max-budget-usd', '0.000001'];
    const first = await operateHere(user, 'tasks.md', ...flags);
    expect(first).toMatchObject({ code: 1, run: { cause: 'budget' } });
    expect(statusesOf(first.run)[1]).toMatch(/^T2 (?:ready|queued)$/);
    const refused = await user.here(['operate', '--resume', '--into', 'desk', '--policy', 'all']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be changed: into, policy;'),
    });
    expect(await user.here(['operate', '--resume', '--yes', '--lint'])).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('--lint, --yes cannot be given with --resume') },
    });
    const second = await operateHere(user, '--resume', '--max-budget-usd', '5', '--retries', '0');
    expect(statusesOf(second.run)).toEqual(['T1 done', 'T2 frozen no_changes']);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt']);
    expect(readFileSync(join(user.repository, 'r.md'), 'utf8')).toContain('1 of 2 tasks done');
  });

  test('a quorum that cannot be met is refused; one that is not met any more says that nothing landed', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n');
    await user.emulate({ respond: taskWorker });
    const never = await operateHere(user, 'tasks.md', '--policy', 'quorum:9');
    expect(never).toMatchObject({ code: 2 });
    expect(never.stderr).toContain('the policy quorum:9 can never be met: there are 2 open tasks');
  });
});
