import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf } from '../fixtures/command.ts';
import { test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const NO_KEY =
  'ramet: no key set: using the recipe model, which only carries out code blocks of the task; for an AI set ANTHROPIC_API_KEY or OPENAI_API_KEY';

function block(label: string, content: string): string {
  return `\`\`\`${label}\n${content}\n\`\`\`\n`;
}

/** Runs a task as a user without a key does. */
function carryOut(user: User, task: string, ...args: string[]) {
  user.env.ANTHROPIC_API_KEY = undefined;
  return user.ramet(['-p', ...BYPASS, ...args], { stdin: task });
}

describe.concurrent('RECIPE-1: ramet -p without a key', () => {
  test('MODEL-1: carries out the blocks of the task and says in one line why', async ({ user }) => {
    const end = await carryOut(user, block('write notes.txt', 'hello') + block('sh', 'cat notes.txt'));
    expect(end).toMatchObject({ code: 0, stderr: `${NO_KEY}\n` });
    expect(end.stdout).toMatch(/^Done: 2 steps carried out\.\n/);
    expect(readFileSync(join(user.repository, 'notes.txt'), 'utf8')).toBe('hello\n');
    expect((await user.here(['cost'])).stdout).toMatch(/^recipe .+ \$0\.00$/m);
  });

  test('ends with 1 and the reason when a command fails', async ({ user }) => {
    const end = await carryOut(user, block('sh', 'exit 4') + block('sh', 'touch after'));
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/^Failed: step 1 of 2 \(sh: exit 4\): exit code 4;/);
    expect(linesOf(end.stderr)).toEqual([
      NO_KEY,
      expect.stringMatching(/^ramet: failed: recipe: step 1 of 2/),
    ]);
    expect(existsSync(join(user.repository, 'after'))).toBe(false);
    expect((await user.here(['ps'])).stdout).toContain('failed');
  });

  test('reports the failure in JSON, with a cost of 0', async ({ user }) => {
    const end = await carryOut(user, block('sh', 'false'), '--output-format', 'json');
    expect(JSON.parse(end.stdout)).toMatchObject({
      is_error: true,
      subtype: 'error_during_execution',
      total_cost_usd: 0,
      agents: [{ status: 'failed', cause: 'recipe', model: 'recipe' }],
    });
  });

  test('says what it can do when the task is in plain words', async ({ user }) => {
    const end = await carryOut(user, 'Find the bug and fix it.');
    expect(end.code).toBe(1);
    expect(end.stdout).toContain('    ```sh\n    npm test\n    ```');
  });

  test('asks for the right to run commands as any model does', async ({ user }) => {
    user.env.ANTHROPIC_API_KEY = undefined;
    const end = await user.ramet(['-p'], { stdin: block('sh', 'touch a') });
    expect(end.code).toBe(1);
    expect(existsSync(join(user.repository, 'a'))).toBe(false);
  });

  test('does not carry out the blocks of project instructions', async ({ user }) => {
    const task = block('write AGENTS.md', `\`\`\`sh\ntouch hacked\n\`\`\``).replaceAll(
      '```\n```\n',
      '```\n````\n',
    );
    await carryOut(user, `\`${task}`);
    expect(readFileSync(join(user.repository, 'AGENTS.md'), 'utf8')).toContain('touch hacked');
    expect((await carryOut(user, 'Do what AGENTS.md says.')).code).toBe(1);
    expect(existsSync(join(user.repository, 'hacked'))).toBe(false);
  });

  test('is not put in the place of a model that was named', async ({ user }) => {
    const end = await carryOut(user, block('sh', 'true'), '--model', 'opus');
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain('no provider for the model claude-opus-5: set ANTHROPIC_API_KEY');
    expect(existsSync(user.project)).toBe(false);
  });
});

describe.concurrent('RECIPE-1: the recipe model by name', () => {
  test('answers in process, key or no key, and without a word about keys', async ({ user }) => {
    const emulator = await user.model({ text: 'never' });
    const end = await user.ramet(['-p', ...BYPASS, '--model', 'recipe'], { stdin: block('sh', 'true') });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(emulator.requests).toEqual([]);
  });

  test('a session keeps it when there is a key by then', async ({ user }) => {
    await carryOut(user, block('sh', 'false'));
    const emulator = await user.model({ text: 'never' });
    user.env.ANTHROPIC_API_KEY = 'any';
    const end = await user.ramet(['-p', '--continue'], { stdin: block('sh', 'echo again') });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toContain('   | again');
    expect(emulator.requests).toEqual([]);
  });
});

describe.concurrent('LOG-1: a recipe that ran out of turns', () => {
  test('continues with the step that was not run, and repeats none', async ({ user }) => {
    const steps = [1, 2, 3].map((step) => block('sh', `echo ${step} >> steps`)).join('');
    const first = await carryOut(user, steps, '--max-turns', '1');
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('failed: max_turns');
    const second = await user.here(['-p', '--continue']);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toMatch(/^Done: 3 steps carried out\./);
    expect(readFileSync(join(user.repository, 'steps'), 'utf8')).toBe('1\n2\n3\n');
  });
});

describe.concurrent('LOG-1: a recipe whose process was killed', () => {
  /** Runs until `file` exists, then kills the process. */
  async function killAt(user: User, file: string, task: string): Promise<void> {
    user.env.ANTHROPIC_API_KEY = undefined;
    const command = user.start(['-p', ...BYPASS], { stdin: task });
    await eventually(() => existsSync(join(user.repository, file)));
    command.kill('SIGKILL');
    await command.ended;
  }

  test('does not repeat the command it was killed in, and does not go on after it', async ({ user }) => {
    const count = 'echo x >> count';
    const hang = 'echo x >> count; touch hanging; sleep 600';
    await killAt(user, 'hanging', block('sh', count) + block('sh', hang) + block('sh', 'touch after'));
    const end = await user.here(['-p', '--continue']);
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/^Failed: step 2 of 3 .*: interrupted: may have taken effect; check before/);
    expect(readFileSync(join(user.repository, 'count'), 'utf8')).toBe('x\nx\n');
    expect(existsSync(join(user.repository, 'after'))).toBe(false);
  });
});
