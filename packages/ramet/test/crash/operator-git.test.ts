/** A git of the operator is killed, as when memory runs out or by a Ctrl-C that reaches all programs of a terminal. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { dyingGit } from '../fixtures/dying-git.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

describe.concurrent('OP-2: a git of the operator that is killed', () => {
  test.for([
    // Its worktree could not be made: the task is tried again, and blocks nobody.
    ['read-tree', 2],
    // Its work could not be committed: the work is not done again.
    ['user.useConfigOnly=true commit-tree', 1],
  ] as const)('%s: the task is done after %d tries', async ([command, tries], { user }) => {
    mkdirSync(user.rametHome, { recursive: true });
    const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
    writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
    git(user.repository, 'switch', '--quiet', '--create', 'desk');
    writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T001 Write it\n');
    const bin = join(user.root, 'bin');
    mkdirSync(bin);
    await user.emulate({
      respond: ({ turn }) =>
        turn > 0
          ? { text: 'Done.' }
          : { tool_use: [{ name: 'Write', input: { file_path: 'a', content: 'a' } }] },
    });
    Object.assign(user.env, IDENTITY, dyingGit(bin, command));
    const end = await user.here(['operate', 'tasks.md', '--into', 'main', '--retries', '1']);
    expect(existsSync(join(bin, 'died'))).toBe(true);
    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(new RegExp(`^T001 +done +\\w+ +1 +${tries} `, 'm'));
  });
});

describe.concurrent('OP-2: a git of an agent that is killed', () => {
  test.for(['in-process', 'process'])(
    'locks its worktree for a moment only, %s',
    async (executor, { user }) => {
      mkdirSync(user.rametHome, { recursive: true });
      const settings = { agents: { executor }, sandbox: { readOnly: 'off', worktree: 'off' } };
      writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
      git(user.repository, 'switch', '--quiet', '--create', 'desk');
      writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T001 Write it\n');
      const bin = join(user.root, 'bin');
      mkdirSync(bin);
      const commands = [
        'echo a > a && git add a && git commit --quiet -m first',
        'git commit --quiet -m again',
      ];
      await user.emulate({
        respond: ({ turn }) => {
          const command = commands[turn];
          if (command === undefined) return { text: 'Done.' };
          return { tool_use: [{ name: 'Bash', input: { command, description: 'commit' } }] };
        },
      });
      Object.assign(user.env, IDENTITY, dyingGit(bin, 'commit', 'locked'));
      const end = await user.here(['operate', 'tasks.md', '--into', 'main', ...BYPASS]);
      expect(existsSync(join(bin, 'died'))).toBe(true);
      expect(end.code).toBe(0);
      expect(git(user.repository, 'log', '--format=%s', 'main')).toContain('again\n');
    },
  );
});

const BYPASS = ['--permission-mode', 'bypassPermissions'];
