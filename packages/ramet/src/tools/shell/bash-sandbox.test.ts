import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, type TestContext } from 'vitest';
import { workingSandbox } from '../../../test/fixtures/sandbox.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { type TestAgent, testAgent } from '../../../test/fixtures/tool-context.ts';
import { createCommandSandbox } from '../../sandbox/command-sandbox.ts';
import { bashTool } from './bash.ts';
import { taskOutputTool } from './task-output.ts';

const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };

/** An agent whose commands run in a sandbox; without one the test is skipped. */
async function heldAgent(directory: string, skip: TestContext['skip']): Promise<TestAgent> {
  await workingSandbox(skip);
  const sandbox = createCommandSandbox('required', env);
  return testAgent(directory, {
    env,
    shell: (command) => sandbox.shell(command, directory),
  });
}

/** Whether a program with this word among its arguments runs. */
function runs(word: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}

describe('TYPE-2: Bash inside a sandbox', () => {
  test('shows output in its order, the exit code and nothing else', async ({ directory, skip }) => {
    const agent = await heldAgent(directory, skip);
    expect(await agent.run(bashTool, { command: 'echo one; echo two >&2; pwd' })).toEqual({
      content: `one\ntwo\n${directory}`,
    });
    expect(await agent.run(bashTool, { command: 'echo no; exit 3' })).toEqual({
      content: 'no\nExit code 3.',
      isError: true,
    });
  });

  test('writes nothing', async ({ directory, skip }) => {
    const agent = await heldAgent(directory, skip);
    expect(await agent.text(bashTool, { command: 'touch new' })).toContain('Read-only file system');
    expect(existsSync(join(directory, 'new'))).toBe(false);
  });

  test('a timeout leaves no process, not even one in a session of its own', async ({ directory, skip }) => {
    const agent = await heldAgent(directory, skip);
    const command = "trap '' TERM; setsid sleep 98761 & sleep 98762";
    expect(await agent.text(bashTool, { command, timeout: 1_000 })).toContain('Timed out after 1000 ms');
    while (runs('98761') || runs('98762')) await sleep(10);
  });

  test('what the shell leaves behind ends with it', async ({ directory, skip }) => {
    const agent = await heldAgent(directory, skip);
    expect(await agent.run(bashTool, { command: 'sleep 98763 & echo left' })).toEqual({ content: 'left' });
    while (runs('98763')) await sleep(10);
  });

  test('a background command is followed, and ends with the agent', async ({ directory, skip }) => {
    const agent = await heldAgent(directory, skip);
    const started = await agent.text(bashTool, {
      command: 'echo begun; sleep 98764',
      run_in_background: true,
    });
    const task_id = /Started (\S+)/.exec(started)?.[1] ?? '';
    for (;;) {
      const shown = await agent.text(taskOutputTool, { task_id, block: false });
      if (shown.includes('begun')) break;
      await sleep(10);
    }
    await agent.end();
    while (runs('98764')) await sleep(10);
  });

  test('is not run if a sandbox is required and not available', async ({ directory }) => {
    const agent = testAgent(directory, { shell: async () => ({ refusal: 'No command can run.' }) });
    expect(await agent.run(bashTool, { command: 'touch new' })).toEqual({
      content: 'No command can run.',
      isError: true,
    });
    expect(existsSync(join(directory, 'new'))).toBe(false);
  });
});
