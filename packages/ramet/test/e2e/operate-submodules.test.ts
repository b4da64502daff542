/** Work that names commits of submodules: it lands only if others can check it out. */
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { type Asked, operateHere, prepareRun, statusesOf, taskIn } from '../fixtures/task-runs.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const FILE = ['-c', 'protocol.file.allow=always'];

/** The submodules `T1` and `T2`, of one repository beside. */
function addSubmodule(user: User): string {
  const upstream = join(user.root, 'upstream');
  git(user.root, 'init', '--quiet', '--bare', '--initial-branch=main', upstream);
  git(user.repository, 'push', '--quiet', upstream, 'main');
  for (const name of ['T1', 'T2'])
    git(user.repository, ...FILE, 'submodule', '--quiet', 'add', upstream, name);
  git(user.repository, 'commit', '--quiet', '--message=submodule');
  return upstream;
}

const bash = (command: string): Answer => ({ tool_use: [{ name: 'Bash', input: { command } }] });
const PERSON = '-c user.name=a -c user.email=a@x';

/** T1 commits in its submodule; T2 does, and pushes that. */
function worker(asked: Asked): Answer {
  if (asked.turn > 0) return { text: 'Done.' };
  const id = taskIn(asked);
  const push = id === 'T2' ? '&& git -C T2 push --quiet origin HEAD:refs/heads/shared' : '';
  return bash(
    `git ${FILE.join(' ')} submodule update --quiet --init ${id} && echo ${id} > ${id}/new.txt && git -C ${id} add . && git -C ${id} ${PERSON} commit -qm ${id} ${push}`,
  );
}

describe.concurrent('OP-4, WORK-5: commits of submodules', () => {
  test.for(['worktree', 'clone', 'none'])(
    '%s: one that nobody else has keeps the work from landing until a person has pushed it',
    async (isolation, { user }) => {
      const upstream = addSubmodule(user);
      const before = git(user.repository, 'rev-parse', 'main:T1').trim();
      prepareRun(user, '- [ ] T1 [P] Change the submodule\n- [ ] T2 [P] Change it and push\n');
      await user.emulate({ respond: worker });
      const options = ['--isolation', isolation, '--permission-mode', 'bypassPermissions'];
      const { run, code, stderr } = await operateHere(user, 'tasks.md', ...options);
      expect(statusesOf(run), stderr).toEqual(['T1 frozen submodule', 'T2 done']);
      expect(code).toBe(1);
      const [first, second] = run.tasks;
      expect(first?.attempts).toHaveLength(1);
      expect(first?.message).toMatch(/^it names a commit of a submodule that only \S+ has/);
      const shared = git(upstream, 'rev-parse', 'shared').trim();
      expect(git(user.repository, 'rev-parse', 'main:T2').trim()).toBe(shared);
      expect(git(user.repository, 'rev-parse', 'main:T1').trim()).toBe(before);
      expect(second?.attempts).toHaveLength(1);
      const [push = '', resume] = [...(first?.next_step ?? '').matchAll(/^ {2}(.+)$/gm)].map(
        ([, command]) => command,
      );
      expect(resume).toBe(`ramet operate --resume ${run.session_id}`);
      runSync('sh', ['-c', push], { cwd: user.repository, env: user.env });
      const end = await operateHere(user, '--resume', run.session_id);
      const pushed = git(upstream, 'rev-parse', 'ramet-T1-1').trim();
      expect(end.run.tasks[0]?.attempts, end.stderr).toHaveLength(1);
      expect(statusesOf(end.run), end.stderr).toEqual(['T1 done', 'T2 done']);
      expect(git(user.repository, 'rev-parse', 'main:T1').trim()).toBe(pushed);
    },
  );
});
