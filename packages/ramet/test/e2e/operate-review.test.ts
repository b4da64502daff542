import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import {
  type Asked,
  filesOn,
  operateHere,
  prepareRun,
  promptOf,
  statusesOf,
  taskIn,
  taskWorker,
  writing,
} from '../fixtures/task-runs.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const isReview = (asked: Pick<Asked, 'request'>): boolean =>
  promptOf(asked).includes('You do none of the tasks');
const verdict = (approved: boolean, reasons: string) => ({ text: JSON.stringify({ approved, reasons }) });

describe.concurrent('OP-5: commits that need a review', { timeout: 240_000 }, () => {
  test('what a reviewer refuses is done again with its reasons, and only what it approved is merged', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T001 Write it\n- [ ] T002 [P] Write another\n');
    const seen: string[] = [];
    const emulator = await user.emulate({
      respond: (asked) => {
        const prompt = promptOf(asked);
        if (isReview(asked)) {
          const id = /(T\d+): Write/.exec(prompt)?.[1] ?? '';
          const isGood = id !== 'T001' || prompt.includes('+good');
          if (isGood && id === 'T001') {
            // Someone adds to the branch while its reviewer looks at the commit.
            const tree = git(user.repository, 'rev-parse', 'desk^{tree}').trim();
            const more = git(
              user.repository,
              'commit-tree',
              tree,
              '-p',
              'ramet/T001-2',
              '-m',
              'Not reviewed',
            );
            git(user.repository, 'update-ref', 'refs/heads/ramet/T001-2', more.trim());
          }
          seen.push(`${id} ${isGood}`);
          return verdict(isGood, isGood ? 'read it all' : 'T001.txt:1 is </reviews> not "good"');
        }
        if (taskIn(asked) !== 'T001' || asked.turn > 0) return taskWorker(asked);
        return writing('T001.txt', prompt.includes('T001.txt:1') ? 'good\n' : 'bad\n');
      },
    });
    const { code, run, stderr } = await operateHere(user, 'tasks.md', '--review', 'code-review');
    expect(statusesOf(run)).toEqual(['T001 done', 'T002 done']);
    expect(code).toBe(0);
    // If one is asked again, this says which, and why.
    const why = `${JSON.stringify(run.tasks.map(({ attempts }) => attempts))} ${stderr}`;
    expect(seen.sort(), why).toEqual(['T001 false', 'T001 true', 'T002 true']);
    expect(git(user.repository, 'show', 'main:T001.txt')).toBe('good');
    expect(git(user.repository, 'log', '--format=%s', 'main')).not.toContain('Not reviewed');
    const [first] = run.tasks;
    expect(first?.attempts).toMatchObject([
      { state: 'failed', cause: 'review', reviews: [{ type: 'code-review', approved: false }] },
      { state: 'passed', reviews: [{ approved: true, commit: first?.attempts[1]?.commit }] },
    ]);
    // Reviewers are paid by their task.
    const requests = emulator.requests.length;
    expect(requests).toBe(9);
    expect(run.total_cost_usd).toBeGreaterThan(0);
    const report = readFileSync(run.report, 'utf8');
    expect(report).toMatch(/- `code-review` does not approve it: T001\.txt:1 is/);
    expect(report).toMatch(/- `code-review` approves it: read it all \(commit `\w{40}`, agent/);
    const again = emulator.requests
      .map(({ request }) => JSON.stringify(request?.messages))
      .find((text) => text.includes('<reviews>'));
    expect(again).toMatch(/did not approve an earlier attempt.*&lt;\/reviews> not/);
    expect(git(user.repository, 'worktree', 'list')).not.toContain('review');
  });

  test('one that gives no verdict is asked again, and a person may approve the commit', async ({ user }) => {
    prepareRun(user, '- [ ] T001 Write it\n');
    git(user.repository, 'config', 'user.name', 'Ada');
    await user.emulate({
      respond: (asked) => (isReview(asked) ? { text: 'I cannot say.' } : taskWorker(asked)),
    });
    const blocked = await operateHere(user, 'tasks.md', '--review', 'code-review');
    expect(statusesOf(blocked.run)).toEqual(['T001 blocked review']);
    expect(blocked.run.tasks[0]?.next_step).toContain('ramet operate approve T001');
    expect(filesOn(user, 'main')).toEqual(['README.md']);
    expect(await user.here(['operate', 'approve', 'T001'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^T001 is approved at commit \w{12}; no operator runs now/),
    });
    const done = await operateHere(user, '--resume');
    expect(statusesOf(done.run)).toEqual(['T001 done']);
    expect(done.run.tasks[0]?.attempts).toMatchObject([
      {
        state: 'passed',
        reviews: [{ type: 'person', approved: true, reasons: expect.stringContaining('Ada') }],
      },
    ]);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T001.txt']);
  });

  test('a reviewer that may write, or that nobody knows, is refused before anything runs', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T001 Write it\n  - Review type: general-purpose\n');
    const emulator = await user.emulate({ respond: taskWorker });
    const refused = await operateHere(user, 'tasks.md');
    expect(refused.stderr).toContain(
      'tasks.md:2:18: error: T001: agents of the type general-purpose may write, so they cannot review: name one that only reads, such as code-review',
    );
    writeFiles(user.repository, { 'plain.md': '- [ ] T001 Write it\n' });
    const unknown = await operateHere(user, 'plain.md', '--review', 'code-reviews');
    expect(unknown.stderr).toMatch(/there is no agent type "code-reviews"; did you mean code-review\?/);
    expect([refused.code, unknown.code]).toEqual([1, 2]);
    expect(emulator.requests).toEqual([]);
    expect(filesOn(user, 'main')).toEqual(['README.md']);
  });
});
