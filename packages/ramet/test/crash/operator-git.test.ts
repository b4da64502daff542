/** A git of the operator is killed, as when memory runs out or by a Ctrl-C that reaches all programs of a terminal. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { dyingGit } from '../fixtures/dying-git.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

describe('OP-2: a task whose worktree could not be made, because git was killed', () => {
  test('is tried again, and blocks nobody', async ({ user }) => {
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
    Object.assign(user.env, IDENTITY, dyingGit(bin, 'read-tree'));
    const end = await user.here(['operate', 'tasks.md', '--into', 'main', '--retries', '1']);
    expect(existsSync(join(bin, 'died'))).toBe(true);
    expect(end.stdout).toMatch(/T001 waiting: .*worktree/);
    expect(end).toMatchObject({ code: 0, stdout: expect.stringMatching(/T001 +done/) });
  });
});
