import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { runSync } from '../fixtures/run-sync.ts';
import {
  filesOn,
  operateHere,
  prepareRun,
  statusesOf,
  taskIn,
  taskWorker,
  writing,
} from '../fixtures/task-runs.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

/** A git that waits in one worktree from when a file is there until another one is. */
function slowGit(
  { root }: User,
  { worktree, from, until }: { worktree: string; from: string; until: string },
): { PATH: string } {
  const git = runSync('sh', ['-c', 'command -v git']).trim();
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const wait = `[ ! -e '${from}' ] || until [ -e '${until}' ]; do sleep 0.02; done`;
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\ncase "$PWD $*" in *${worktree}*) ${wait} ;; esac\nexec '${git}' "$@"\n`,
    { mode: 0o755 },
  );
  return { PATH: `${bin}:${process.env.PATH}` };
}

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

  test('takes the work of an agent that has ended before the run looks for it, with its worktree still to be given back', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n');
    const [ended, go] = [join(user.root, 'ended'), join(user.root, 'go')];
    const asked = new Set<string | null>();
    const killed = Promise.withResolvers<void>();
    let isKilled = false;
    await user.emulate({
      respond: async (view) => {
        const task = taskIn(view);
        if (view.turn === 0) return taskWorker(view);
        if (!isKilled) {
          asked.add(task);
          await killed.promise;
          return { text: 'Nobody hears it.' };
        }
        if (task === 'T1') writeFileSync(ended, '');
        // By then the run has long looked for both.
        else if (view.turn < 12) return { tool_use: [{ name: 'Glob', input: { pattern: '*' } }] };
        else writeFileSync(go, '');
        return { text: 'Done.' };
      },
    });
    const first = user.start(['operate', 'tasks.md', '--into', 'main']);
    await eventually(() => asked.size === 2);
    first.kill('SIGKILL');
    await first.ended;
    isKilled = true;
    killed.resolve();
    Object.assign(user.env, slowGit(user, { worktree: 'T1-1', from: ended, until: go }));
    const { code, run } = await operateHere(user, '--resume');
    expect({ code, tries: run.tasks.map(({ attempts }) => attempts.length) }).toEqual({
      code: 0,
      tries: [1, 1],
    });
  });

  test('a quorum that so few tasks can never meet is refused before anything runs', async ({ user }) => {
    prepareRun(user, '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n');
    await user.emulate({ respond: taskWorker });
    const never = await operateHere(user, 'tasks.md', '--policy', 'quorum:9');
    expect(never).toMatchObject({ code: 2 });
    expect(never.stderr).toContain('the policy quorum:9 can never be met: there are 2 open tasks');
    const alone = await operateHere(user, 'tasks.md', '--attempts', '3');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('give --policy first with it')]);
  });
});

describe.concurrent('OP-4: a target that others change while a run is under way', () => {
  test('one that is gone fails the landing alone: the run ends as any other, and lands when it is resumed', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 Write it\n');
    await user.emulate({
      respond: (asked) => {
        if (asked.turn === 0) git(user.repository, 'branch', '-D', 'main');
        return taskWorker(asked);
      },
    });
    const gone = await operateHere(user, 'tasks.md');
    expect(gone).toMatchObject({ code: 1, run: { status: 'ended', landing: { state: 'failed' } } });
    expect(gone.run.landing?.message).toMatch(
      /^the branch main is gone: make it again, with the result:\n {2}git branch main \w+$/,
    );
    expect(gone.stderr).toContain('resume it with: ramet operate --resume');
    git(user.repository, 'branch', 'main', 'desk');
    expect(await operateHere(user, '--resume')).toMatchObject({
      code: 0,
      run: { landing: { state: 'moved' } },
    });
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt']);
  });

  test('one that a person sets back gets what is done since, and not what was removed', async ({ user }) => {
    prepareRun(user, '- [ ] T1 Write it\n- [ ] T2 Write it\n');
    let isBack = false;
    let turn = 0;
    await user.emulate({
      respond: (asked) => {
        if (taskIn(asked) !== 'T2') return taskWorker(asked);
        if (!isBack && !filesOn(user, 'main').includes('T1.txt'))
          return { tool_use: [{ name: 'Glob', input: { pattern: '*' } }] };
        if (!isBack) git(user.repository, 'update-ref', 'refs/heads/main', 'desk');
        isBack = true;
        return taskWorker({ ...asked, turn: turn++ });
      },
    });
    const end = await operateHere(user, 'tasks.md');
    expect(end).toMatchObject({ code: 1, run: { landing: { state: 'moved' } } });
    expect(statusesOf(end.run)).toEqual(['T1 frozen removed', 'T2 done']);
    expect(end.run.landing?.message).toMatch(/^main no longer has \w{10}, which it had before/);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T2.txt']);
    expect(git(user.repository, 'log', '--format=%s', 'main')).not.toContain('T1');
  });
});
