import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, isRunning } from '../fixtures/command.ts';
import { requestsTaken, test, toolResults } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

const todos = [
  { content: 'read the parser', status: 'completed' },
  { content: 'fix leap days', status: 'in_progress', activeForm: 'Fixing leap days' },
  { content: 'write a test', status: 'pending' },
];

describe.concurrent('RES-6: background tasks', () => {
  test('are followed and stopped, and end with the command', async ({ user }) => {
    const background = { command: 'echo up; exec sleep 300', run_in_background: true };
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: background }] },
      { tool_use: [{ name: 'Bash', input: { command: 'echo x; exit 2', run_in_background: true } }] },
      { tool_use: [{ name: 'TaskOutput', input: { task_id: 'bash-2', block: true } }] },
      {
        tool_use: [
          { name: 'TaskStop', input: { task_id: 'bash-1' } },
          { name: 'TaskOutput', input: { task_id: 'bash-1' } },
          { name: 'TaskOutput', input: { task_id: 'bash-7' } },
        ],
      },
      { text: 'ok' },
    );
    expect(await user.ramet(['-p', 'x', ...BYPASS])).toMatchObject({ code: 0, stderr: '' });
    expect(
      toolResults(emulator)
        .slice(2)
        .map(({ text }) => text),
    ).toEqual([
      'bash-2 ended with exit code 2.\nx',
      'bash-1 was stopped.',
      expect.stringMatching(/^bash-1 was stopped\.\n/),
      'There is no background task "bash-7" of yours; they are bash-1, bash-2.',
    ]);
    expect((await user.here(['logs'])).stdout).toMatch(
      /background task bash-1 ended: SIGTERM, stopped by TaskStop/,
    );
  });

  test('of a killed process are interrupted to the resumed agent, with what they printed', async ({
    user,
  }) => {
    const command = 'echo $$ > pid; echo before the crash; exec sleep 300';
    let killed = false;
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        [
          { tool_use: [{ name: 'Bash', input: { command, run_in_background: true } }] },
          { tool_use: [{ name: 'TaskOutput', input: { task_id: 'bash-1' } }] },
          { text: 'ok' },
        ][turn],
      fault: ({ turn }) => (turn === 1 && !killed ? { kind: 'stall', at: 'headers' } : undefined),
    });
    const running = user.start(['-p', 'x', ...BYPASS]);
    await requestsTaken(emulator, 2);
    const file = join(user.repository, 'pid');
    const pid = await eventually(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
    killed = true;
    running.kill('SIGKILL');
    await running.ended;
    await user.here(['-p', 'go on', '--continue', ...BYPASS]);
    // The resumed session ends what the killed one left, and the system may have collected it.
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    expect(toolResults(emulator).at(-1)?.text).toMatch(/^bash-1 was interrupted: .*\nbefore the crash$/);
  });
});

describe.concurrent('RES-6: TodoWrite', () => {
  test('needs no permission, and show prints what is open', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'TodoWrite', input: { todos } }] },
      { text: 'ok' },
    );
    await user.here(['-p', 'x', '--permission-mode', 'plan']);
    expect(toolResults(emulator)).toEqual([
      { text: 'Todos: 1 pending, 1 in progress, 1 completed.', isError: false },
    ]);
    expect((await user.here(['show'])).stdout).toContain(
      '\nopen todos:\n  > fix leap days\n  - write a test\n',
    );
    const [agent] = JSON.parse((await user.here(['show', '--json'])).stdout).agents;
    expect(agent.todos).toEqual(
      todos.map(({ activeForm, ...todo }) =>
        activeForm === undefined ? todo : { ...todo, active_form: activeForm },
      ),
    );
  });
});

describe.concurrent('SEC-1: WebFetch', () => {
  test('needs permission, and with it still reaches nothing on this machine', async ({ user }) => {
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn % 2 === 0
          ? { tool_use: [{ name: 'WebFetch', input: { url: `${emulator.url}/v1/models` } }] }
          : { text: 'ok' },
    });
    await user.here(['-p', 'x', '--permission-mode', 'dontAsk']);
    expect(toolResults(emulator).at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining('not permitted'),
    });
    await user.here(['-p', 'x', ...BYPASS]);
    expect(toolResults(emulator).at(-1)).toEqual({
      text: 'Not fetched: 127.0.0.1 is loopback: only the public Internet is fetched.',
      isError: true,
    });
  });
});
