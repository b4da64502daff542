import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const LIST = `tasks:
  - id: one
    title: Write one.txt
    files: [one.txt]
  - id: two
    title: "Write two.txt \u001b[2J"
    depends_on: [one]
`;

const GOAL = 'write two files';

/** Plans if it is asked for a plan; otherwise writes the file that its task names. */
function planner({ request, turn }: { request: { messages: unknown }; turn: number }): Answer {
  const sent = JSON.stringify(request.messages);
  if (sent.includes('<goal>')) return { text: `Here it is.\n\n\`\`\`yaml\n${LIST}\`\`\`\n` };
  const name = /Task \S+: Write (\w+\.txt)/.exec(sent)?.[1] ?? 'unknown.txt';
  if (turn > 0) return { text: 'Done.' };
  return { tool_use: [{ name: 'Write', input: { file_path: name, content: name } }] };
}

async function prepare(user: User): Promise<void> {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
  await user.emulate({ respond: planner });
}

describe.concurrent('OP-1, OP-7: ramet operate "goal"', () => {
  test('without a terminal it writes the file, shows what it would take, and says how to run it', async ({
    user,
  }) => {
    await prepare(user);
    const end = await user.here(['operate', GOAL]);
    expect(end).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('run it with: ramet operate write-two-files.tasks.yaml\n'),
    });
    expect(end.stdout).toMatch(/^2 tasks for write-two-files.tasks.yaml:\n/);
    expect(end.stdout).toMatch(/^two +Write two.txt \[2J +one +-$/m);
    expect(end.stdout).toContain('critical path: one → two (2 of 2 tasks)');
    expect(end.stdout).not.toContain('\u001b');
    expect(git(user.repository, 'branch', '--list', 'ramet/*')).toBe('');
    const wrong = await user.here(['operate', 'write two fils.md']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is not there') });
    expect(await user.here(['operate', 'write-two-files.tasks.yaml', '--yes'])).toMatchObject({ code: 2 });
  });

  test('--yes runs what was written', async ({ user }) => {
    await prepare(user);
    const args = ['operate', GOAL, '--yes', '--out', 'two.yaml', '--into', 'main'];
    const end = await user.ramet(args, { env: IDENTITY });
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 tasks done; $') });
    expect(git(user.repository, 'show', 'main:two.txt')).toBe('two.txt');
  });

  test('on a terminal it asks, and anything but yes runs nothing', async ({ user }) => {
    await prepare(user);
    await using terminal = startOnTerminal(user, ['operate', GOAL], { columns: 120, rows: 40 });
    await terminal.shows('Run these 2 tasks? [y/N]');
    terminal.type('n\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen).toContain('nothing was run');
    expect(readdirSync(user.repository)).toContain('write-two-files.tasks.yaml');
    expect(git(user.repository, 'branch', '--list', 'ramet/*')).toBe('');
  });
});
