import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf } from '../fixtures/command.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };

/** Two turns with a tool, then the result object of the run. */
async function finishedRun(user: User) {
  await user.model({ text: 'I look.', tool_use: [READ] }, { text: 'It is a test.' });
  return JSON.parse((await user.ramet(['-p', 'What is this?', '--output-format', 'json'])).stdout);
}

describe.concurrent('UI-1: ramet ps', () => {
  test('lists what agents are, in text and as JSON', async ({ user }) => {
    const result = await finishedRun(user);
    const text = await user.ramet(['ps']);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    const [headings, row] = linesOf(text.stdout);
    expect(headings).toMatch(/^AGENT +TYPE +STATUS +TURNS +TOKENS +COST +LAST EVENT +MODEL +FOR +DOING$/);
    expect(row).toMatch(new RegExp(`^${result.session_id}\\.1 +main +done +2 .* What is this\\?`));
    const [agent, ...others] = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    expect(others).toEqual([]);
    expect(agent).toMatchObject({
      id: result.agents[0].id,
      description: 'What is this?',
      status: 'done',
      turns: 2,
      usage: result.usage,
      total_cost_usd: result.total_cost_usd,
    });
  });

  test('says so when there is nothing, also outside a repository', async ({ user }) => {
    const end = await user.ramet(['ps']);
    expect(end).toEqual({
      code: 0,
      stdout: 'no sessions of this directory yet: start one with ramet -p PROMPT\n',
      stderr: '',
    });
    expect(await user.ramet(['ps', '--json'], { cwd: user.root })).toEqual({
      code: 0,
      stdout: '[]\n',
      stderr: '',
    });
  });

  test('shows a session from anywhere in its repository, the newest first', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.ramet(['-p', 'x']);
    const [first] = user.sessions();
    await user.ramet(['-p', 'x']);
    const agents = JSON.parse(
      (await user.ramet(['ps', '--json'], { cwd: join(user.repository, '.git') })).stdout,
    );
    expect(agents).toHaveLength(2);
    expect(agents[1].id).toBe(`${first}.1`);
    const [limited] = JSON.parse((await user.ramet(['ps', '--json', '--limit', '1'])).stdout);
    expect(limited.id).toBe(agents[0].id);
  });

  test('AGENT-5: tells a running agent from one whose process was killed', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'stall', at: 'headers' }) });
    const running = user.start(['-p', 'x']);
    await requestsTaken(emulator, 1);
    const status = async () => JSON.parse((await user.ramet(['ps', '--json'])).stdout)[0];
    expect(await status()).toMatchObject({ status: 'running', activity: { kind: 'requesting' } });
    running.kill('SIGKILL');
    await running.ended;
    expect(await status()).toMatchObject({ status: 'interrupted', cause: 'process_ended', activity: null });
  });
});

describe.concurrent('UI-1: ramet show', () => {
  test('prints the conversation and the bill, in text and as JSON', async ({ user }) => {
    const { session_id } = await finishedRun(user);
    const text = await user.ramet(['show']);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    for (const part of [
      `session ${session_id} in ${user.repository}`,
      '[user] What is this?',
      '[assistant] I look.',
      '[call] Read {"file_path":"README.md"}',
      '[result]      1\t# Test',
      '[assistant] It is a test.',
      'TOTAL',
    ]) {
      expect(text.stdout).toContain(part);
    }
    const shown = JSON.parse((await user.ramet(['show', session_id.slice(0, 6), '--json'])).stdout);
    expect(shown).toMatchObject({ session_id, cwd: user.repository });
    const { messages } = shown.agents[0];
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(messages[3].content).toEqual([{ type: 'text', text: 'It is a test.' }]);
  });

  test('takes escape sequences out of what a model wrote', async ({ user }) => {
    await user.model({ text: 'red \u001b[31malert\u001b[0m \u009b2J' });
    await user.ramet(['-p', 'x']);
    const { stdout } = await user.ramet(['show']);
    expect(stdout).toContain('alert');
    for (const character of ['\u001b', '\u009b']) expect(stdout).not.toContain(character);
  });
});

describe.concurrent('UI-1: ramet logs', () => {
  test('AGENT-4: lists every step with its time, in text and as JSON', async ({ user }) => {
    await finishedRun(user);
    const text = await user.ramet(['logs']);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    const lines = linesOf(text.stdout);
    for (const line of lines)
      expect(line).toMatch(/^\d{4}-\d\d-\d\d [\d:]+\.\d{3} {2}(session|\w{8}\.1) {2}\S/);
    const events = linesOf((await user.ramet(['logs', '--json'])).stdout).map((line) => JSON.parse(line));
    expect(events).toHaveLength(lines.length);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ type }) => type)).toEqual([
      'session.started',
      'agent.started',
      'prefix.frozen',
      'message.appended',
      'request.started',
      'response.completed',
      'tool.started',
      'file.read',
      'tool.completed',
      'message.appended',
      'request.started',
      'response.completed',
      'agent.ended',
    ]);
  });

  test('--follow goes on while the session runs, and ends with it', async ({ user }) => {
    const gate = Promise.withResolvers<void>();
    const emulator = await user.emulate({
      respond: async () => {
        await gate.promise;
        return { text: 'ok' };
      },
    });
    const running = user.start(['-p', 'x']);
    await requestsTaken(emulator, 1);
    const following = user.start(['logs', '--follow']);
    await eventually(() => following.stdout.includes('request of turn 1'));
    expect(following.stdout).not.toContain('agent ended');
    gate.resolve();
    await running.ended;
    const end = await following.ended;
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(end.stdout).at(-1)).toMatch(/agent ended: done$/);
  });

  test('--follow of one agent ends with that agent, while its session goes on', async ({ user }) => {
    const { promise: over, resolve: end } = Promise.withResolvers<{ text: string }>();
    await user.emulate({
      respond: ({ request, turn }) => {
        const child = JSON.stringify(request.messages.at(-1)).includes('child task');
        if (turn === 0 && !child) {
          return { tool_use: [{ name: 'Agent', input: { prompt: 'child task', description: 'it' } }] };
        }
        return child ? { text: 'Scope: done.' } : over;
      },
    });
    const running = user.start(['-p', 'x']);
    await eventually(() => existsSync(user.project) && user.sessions().length === 1);
    while ((await user.ramet(['logs', '.2'])).code !== 0);
    const following = await user.ramet(['logs', '.2', '--follow']);
    expect(following).toMatchObject({ code: 0, stderr: '' });
    expect(following.stdout).toContain('agent ended: done');
    expect((await user.ramet(['ps', '--json'])).stdout).toContain('"running"');
    end({ text: 'Done.' });
    expect((await running.ended).code).toBe(0);
  });

  test('--follow ends with 130 when it is interrupted', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'stall', at: 'headers' }) });
    user.start(['-p', 'x']);
    await requestsTaken(emulator, 1);
    const following = user.start(['logs', '--follow']);
    await eventually(() => following.stdout.includes('request of turn 1'));
    following.kill('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, stderr: '' });
  });
});

describe.concurrent('UI-1: ramet cost', () => {
  test('MODEL-3: prints the bill, in text and as JSON', async ({ user }) => {
    const { session_id, usage, total_cost_usd, agents } = await finishedRun(user);
    const bill = JSON.parse((await user.ramet(['cost', '--json'])).stdout);
    const line = { requests: 2, responses: 2, retries: 0, usage, total_cost_usd };
    expect(bill).toMatchObject({
      session_id,
      total: line,
      agents: { [agents[0].id]: line },
      models: { 'claude-sonnet-5': line },
    });
    const text = await user.ramet(['cost', session_id]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    const rows = linesOf(text.stdout);
    expect(rows[0]).toBe(`session ${session_id}`);
    expect(rows[1]).toMatch(/^BY AGENT +REQ +INPUT +WRITE +READ +OUTPUT +HIT +SAVED +COST$/);
    expect(rows.slice(2, 6).map((row) => row.split(/ {2,}/, 1)[0])).toEqual([
      '.1 main',
      'BY MODEL',
      'claude-sonnet-5',
      'TOTAL',
    ]);
    expect(rows[5]).toMatch(new RegExp(`\\$${total_cost_usd.toFixed(4).replace('.', '\\.')}$`));
  });

  test('MODEL-3: says unknown for a model without a price', async ({ user }) => {
    await user.model({ text: 'ok' });
    await user.ramet(['-p', 'x', '--model', 'house-model-1']);
    expect((await user.ramet(['cost'])).stdout).toMatch(/^TOTAL .*unknown$/m);
    expect(JSON.parse((await user.ramet(['cost', '--json'])).stdout).total.total_cost_usd).toBeNull();
  });
});

describe.concurrent('UI-1: views of what is not there', () => {
  test.for(['show', 'logs', 'cost'])('%s says what to do, with exit code 2', async (command, { user }) => {
    const none = await user.ramet([command]);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(none.stderr)).toEqual([
      expect.stringMatching(/^ramet: there is no session of this directory yet/),
    ]);
    const unknown = await user.ramet([command, 'abcd']);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(unknown.stderr)).toEqual([expect.stringMatching(/^ramet: there is no session "abcd"/)]);
  });
});
