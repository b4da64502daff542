import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { type TestAgent, testAgent } from '../../../test/fixtures/tool-context.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { bashTool } from './bash.ts';
import { taskOutputTool, taskStopTool } from './task-output.ts';

async function start(agent: TestAgent, command: string): Promise<void> {
  await agent.run(bashTool, { command, run_in_background: true });
}

const look = (agent: TestAgent, more: object = {}): Promise<string> =>
  agent.text(taskOutputTool, { task_id: 'bash-1', ...more });

describe('RES-6: TaskOutput', () => {
  test('waits for the end and tells exit code and output', async ({ directory }) => {
    const agent = testAgent(directory);
    await start(agent, 'echo one; echo two >&2; exit 3');
    expect(await look(agent, { block: true })).toBe('bash-1 ended with exit code 3.\none\ntwo');
    await agent.end();
  });

  test('shows only what is new since the last look, and an ended task stays known', async ({ directory }) => {
    const agent = testAgent(directory);
    await start(agent, 'echo first; until [ -e go ]; do sleep 0.02; done; echo second');
    await eventually(() => readFileSync(join(directory, '.output/bash-1.txt'), 'utf8').includes('first'));
    expect(await look(agent)).toMatch(/^bash-1 runs \(pid \d+\)\.\nfirst$/);
    expect(await look(agent)).toMatch(/^bash-1 runs \(pid \d+\)\.\n\(no new output\)$/);
    writeFileSync(join(directory, 'go'), '');
    expect(await look(agent, { block: true })).toBe('bash-1 ended with exit code 0.\nsecond');
    expect(await look(agent)).toBe('bash-1 ended with exit code 0.\n(no new output)');
    await agent.end();
  });

  test('gives up waiting at the timeout and when its turn is aborted', async ({ directory }) => {
    const agent = testAgent(directory);
    await start(agent, 'exec sleep 300');
    expect(await look(agent, { block: true, timeout: 1 })).toContain('bash-1 runs');
    const waiting = look(agent, { block: true, timeout: 600_000 });
    agent.abort();
    expect(await waiting).toContain('bash-1 runs');
    await agent.end();
  });

  test('shows an unfinished line again once it is whole, so no secret is seen in halves', async ({
    directory,
  }) => {
    const agent = testAgent(directory);
    await start(agent, 'printf "key: sk-"; until [ -e go ]; do sleep 0.02; done; echo secret');
    await eventually(() => readFileSync(join(directory, '.output/bash-1.txt'), 'utf8') !== '');
    expect(await look(agent)).toContain('key: sk-');
    writeFileSync(join(directory, 'go'), '');
    expect(await look(agent, { block: true })).toContain('key: sk-secret');
    await agent.end();
  });

  test('cuts long output in the middle and names the file', async ({ directory }) => {
    const agent = testAgent(directory);
    await start(agent, 'echo begin; seq 100000; echo end');
    const text = await look(agent, { block: true });
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/^bash-1 ended.*\nbegin\n1\n[\s\S]*all of it is in \S+bash-1\.txt[\s\S]*\nend$/);
    await agent.end();
  });

  test('of a task nobody started lists those there are', async ({ directory }) => {
    const agent = testAgent(directory);
    expect(await agent.run(taskOutputTool, { task_id: 'bash-9' })).toEqual({
      content: 'There is no background task "bash-9" of yours; there are none.',
      isError: true,
    });
    await start(agent, 'true');
    expect(await agent.text(taskStopTool, { task_id: '../x' })).toContain('they are bash-1.');
    await agent.end();
  });

  test('tells when the output is gone', async ({ directory }) => {
    const agent = testAgent(directory);
    await start(agent, 'true');
    rmSync(join(directory, '.output/bash-1.txt'));
    expect(await look(agent, { block: true })).toMatch(/exit code 0\.\n\(Its output cannot be read: ENOENT/);
  });

  test('calls a task of an earlier process interrupted and shows what it left', async ({ directory }) => {
    const agent = testAgent(directory);
    await start(agent, 'echo left');
    await look(agent, { block: true });
    const tasks = new BackgroundTasks(() => {});
    tasks.recall([
      ['bash-1', null],
      ['bash-2', { code: 0, signal: null, stoppedBy: null }],
    ]);
    const later = testAgent(directory, { tasks });
    expect(await look(later)).toMatch(/^bash-1 was interrupted: .* may still run\.\nleft$/);
    expect(await later.run(taskStopTool, { task_id: 'bash-1' })).toMatchObject({ isError: true });
    expect(await later.text(taskStopTool, { task_id: 'bash-2' })).toContain('ended with exit code 0');
    await agent.end();
  });
});

describe('RES-6: TaskStop', () => {
  test('ends the whole group, and both ends are recorded', async ({ directory }) => {
    const events: JournalEvent[] = [];
    const agent = testAgent(directory, { tasks: new BackgroundTasks((event) => void events.push(event)) });
    await start(agent, 'sleep 300 & echo $! > child; wait');
    const child = await eventually(
      () => existsSync(join(directory, 'child')) && readFileSync(join(directory, 'child'), 'utf8').trim(),
    );
    expect(await agent.text(taskStopTool, { task_id: 'bash-1' })).toBe('bash-1 was stopped.');
    expect(stateOf(child)).toMatch(/^(gone|Z)$/);
    expect(await look(agent)).toContain('bash-1 was stopped.');
    expect(await agent.text(taskStopTool, { task_id: 'bash-1' })).toContain('Nothing to stop');
    await agent.end();
    expect(events).toEqual([
      { type: 'background_task.started', task: 'bash-1', call: 'toolu_1', pid: expect.any(Number) },
      { type: 'background_task.ended', task: 'bash-1', code: null, signal: 'SIGTERM', stoppedBy: 'TaskStop' },
    ]);
  });

  test('what the agent’s end stops is recorded as such', async ({ directory }) => {
    const events: JournalEvent[] = [];
    const agent = testAgent(directory, { tasks: new BackgroundTasks((event) => void events.push(event)) });
    await start(agent, 'exec sleep 300');
    await agent.end();
    expect(events.at(-1)).toMatchObject({ type: 'background_task.ended', stoppedBy: 'agent end' });
  });
});

function stateOf(pid: string): string {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 'unknown';
  } catch {
    return 'gone';
  }
}
