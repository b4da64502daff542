import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { eventually, isRunning, linesOf } from '../fixtures/command.ts';
import {
  answerOf,
  type Cast,
  call,
  lastTexts,
  promptBytes,
  startAgents,
  taskOf,
  timesIn,
} from '../fixtures/family.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const BACKGROUND = { run_in_background: true, name: 'scout' };
const never = () => new Promise<never>(() => {});

/** The emulator waits for its answers when it closes; those that never come end with the test. */
async function play(user: User, cast: Cast): Promise<Emulator> {
  const over = Promise.withResolvers<{ text: string }>();
  const emulator = await user.emulate({
    respond: (view) => Promise.race([answerOf(cast, view), over.promise]),
  });
  return Object.assign(emulator, {
    close: ((close) => () => {
      over.resolve({ text: 'over' });
      return close();
    })(emulator.close),
  });
}

/** Waits until a view has these words. */
async function shows(user: User, args: string[], words: string): Promise<void> {
  while (!(await user.ramet(args)).stdout.includes(words));
}

const requestsOf = (emulator: Emulator, task: string) =>
  emulator.requests.filter((record) => taskOf(record).startsWith(task));

const everything = (emulator: Emulator): string =>
  JSON.stringify(emulator.requests.at(-1)?.request?.messages);

describe.concurrent('AGENT-5: a session that was killed with agents in the background', () => {
  test('its main agent is told once which of them was interrupted, and can let it go on', async ({
    user,
  }) => {
    const first = await play(user, {
      'Go.': [startAgents(['child'], BACKGROUND), { text: 'I wait.' }],
      child: [call('Bash', { command: 'echo half' }), never],
    });
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await eventually(() => requestsOf(first, 'Go.').length === 2 && requestsOf(first, 'child').length === 2);
    await eventually(() => requestsOf(first, 'Go.')[1]?.outcome === 'answered');
    await shows(user, ['ps', '--json'], '"waiting"');
    running.kill('SIGKILL');
    await running.ended;
    const second = await play(user, {
      'Go.': [
        never,
        never,
        call('SendMessage', { to: 'scout', message: 'Finish it.' }),
        { text: 'I wait again.' },
        { text: 'All heard.' },
      ],
      child: [never, { text: 'Scope: finished.' }],
    });
    const agents = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    expect(agents.map(({ status, cause }: Record<string, unknown>) => [status, cause])).toEqual([
      ['interrupted', 'process_ended'],
      ['interrupted', 'process_ended'],
    ]);
    const end = await user.ramet(['-p', '--continue', ...BYPASS]);
    expect(end).toEqual({ code: 0, stdout: 'All heard.\n', stderr: '' });
    const [told, , heard] = requestsOf(second, 'Go.');
    expect(lastTexts(told)).toEqual([
      expect.stringMatching(
        /^<task-notification>\n<task-id>\w+\.2<\/task-id>\n<name>scout<\/name>\n<status>interrupted: process_ended: .*SendMessage lets it go on<\/status>/,
      ),
    ]);
    expect(lastTexts(heard)[0]).toContain('Scope: finished.');
    const [before, after] = [requestsOf(first, 'child').at(-1), requestsOf(second, 'child')[0]];
    if (!before || !after) throw new Error('a request is missing');
    expect(promptBytes(after).startsWith(promptBytes(before))).toBe(true);
    const again = await user.ramet(['-p', '--continue', ...BYPASS]);
    expect(again.stderr).toContain('the last turn of this session is complete');
    expect(timesIn(everything(second), '<status>interrupted')).toBe(1);
  });

  test('one whose end had come and was not told yet is told of once, also after a second kill', async ({
    user,
  }) => {
    const first = await play(user, {
      'Go.': [
        startAgents(['child'], BACKGROUND),
        call('Bash', { command: 'echo $$ > pid; until test -e never; do sleep 0.05; done' }),
      ],
      child: [call('Bash', { command: 'until test -e pid; do sleep 0.02; done' }), { text: 'Scope: news.' }],
    });
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await requestsTaken(first, 4);
    await shows(user, ['logs', '--json'], 'message.received');
    running.kill('SIGKILL');
    await running.ended;
    const stuck = await play(user, { 'Go.': never });
    const second = user.start(['-p', '--continue', ...BYPASS]);
    await requestsTaken(stuck, 1);
    expect(timesIn(everything(stuck), 'Scope: news.')).toBe(1);
    expect(everything(stuck)).toContain('interrupted: may have taken effect');
    second.kill('SIGKILL');
    await second.ended;
    const last = await play(user, { 'Go.': () => ({ text: 'Heard.' }) });
    expect((await user.ramet(['-p', '--continue', ...BYPASS])).stdout).toBe('Heard.\n');
    expect(timesIn(everything(last), 'Scope: news.')).toBe(1);
  });

  test('one that goes on hears of its own agents that were lost with it', async ({ user }) => {
    const typed = { subagent_type: 'general-purpose', run_in_background: true };
    const first = await play(user, {
      'Go.': [startAgents(['outer'], { ...typed, name: 'scout' }), { text: 'I wait.' }],
      outer: [startAgents(['inner'], typed), { text: 'I wait, too.' }],
      inner: never,
    });
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await eventually(
      () => requestsOf(first, 'outer').length === 2 && requestsOf(first, 'inner').length === 1,
    );
    await eventually(() => first.requests.filter(({ outcome }) => outcome === 'answered').length === 4);
    await shows(user, ['ps'], 'waiting: children');
    running.kill('SIGKILL');
    await running.ended;
    const second = await play(user, {
      'Go.': ({ last }) =>
        last.includes('<status>interrupted')
          ? call('SendMessage', { to: 'scout', message: 'Go on.' })
          : { text: 'Heard.' },
      outer: () => ({ text: 'Scope: outer.' }),
    });
    await user.ramet(['-p', '--continue', ...BYPASS]);
    const said = JSON.stringify(requestsOf(second, 'outer')[0]?.request?.messages.slice(-2));
    expect(said).toContain('Go on.');
    expect(said).toMatch(/<task-id>\w+\.3<.*<status>interrupted: process_ended/);
  });

  test('one that its parent waited for is named in the answer to its call', async ({ user }) => {
    const first = await play(user, { 'Go.': [startAgents(['child'])], child: never });
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await requestsTaken(first, 2);
    running.kill('SIGKILL');
    await running.ended;
    const second = await play(user, { 'Go.': () => ({ text: 'I see.' }) });
    await user.ramet(['-p', '--continue', ...BYPASS]);
    expect(lastTexts(second.requests[0])).toEqual([
      expect.stringMatching(/^interrupted: agent \w+\.2 was at work; .* SendMessage lets it go on/),
    ]);
  });
});

describe.concurrent('AGENT-3: ramet -p and agents in the background', () => {
  test('ends when all of them have been heard of, and its cost is that of all', async ({ user }) => {
    const emulator = await play(user, {
      'Go.': ({ last }) =>
        last === 'Go.' || !last.includes('Agent')
          ? last.includes('<task-notification>')
            ? { text: 'Heard.' }
            : startAgents(['child one', 'child two'], { run_in_background: true })
          : { text: 'I wait.' },
      child: [call('Bash', { command: 'sleep 0.3; echo done >> done.txt' }), { text: 'Scope: done.' }],
    });
    const end = await user.ramet(['-p', 'Go.', '--output-format', 'json', ...BYPASS]);
    expect(end.code).toBe(0);
    expect(linesOf(readFileSync(join(user.repository, 'done.txt'), 'utf8'))).toEqual(['done', 'done']);
    expect(timesIn(everything(emulator), '<task-id>')).toBe(2);
    const result = JSON.parse(end.stdout);
    const bill = JSON.parse((await user.ramet(['cost', '--json'])).stdout);
    expect(result.total_cost_usd).toBeCloseTo(bill.total.total_cost_usd, 10);
    expect(result.total_cost_usd).toBeGreaterThan(0);
  });

  test('RES-2: what children spend counts against --max-budget-usd, and the run ends as failed: budget', async ({
    user,
  }) => {
    const emulator = await play(user, {
      'Go.': ({ turn }) => (turn === 0 ? startAgents(['child one', 'child two']) : { text: 'Never asked.' }),
      child: () => ({ ...call('Bash', { command: 'true' }), output_tokens: 20_000 }),
    });
    const end = await user.ramet([
      '-p',
      'Go.',
      '--max-budget-usd',
      '0.5',
      '--output-format',
      'json',
      ...BYPASS,
    ]);
    expect(end.code).toBe(1);
    const result = JSON.parse(end.stdout);
    expect(result.is_error).toBe(true);
    expect(result.agents.map(({ status, cause }: Record<string, unknown>) => [status, cause])).toEqual([
      ['failed', 'budget'],
      ['failed', 'budget'],
      ['failed', 'budget'],
    ]);
    expect(requestsOf(emulator, 'Go.')).toHaveLength(1);
    expect(JSON.stringify(emulator.requests.map(({ body }) => body))).toContain(
      'Your budget is nearly spent',
    );
  });
});

describe.concurrent('RES-5: SIGINT while children work', () => {
  test('ends all of them and their programs, and says so of each', async ({ user }) => {
    const emulator = await play(user, {
      'Go.': [startAgents(['child one', 'child two', 'child three', 'child four'])],
      'child one': [call('Bash', { command: 'echo $$ > pid1; sleep 60' })],
      'child two': [call('Bash', { command: 'echo $$ > pid2; sleep 60' })],
      child: never,
    });
    const running = user.start(['-p', 'Go.', '--output-format', 'json', ...BYPASS]);
    await eventually(() => ['pid1', 'pid2'].every((name) => existsSync(join(user.repository, name))));
    await requestsTaken(emulator, 5);
    const pids = await eventually(() => {
      const texts = ['pid1', 'pid2'].map((name) => readFileSync(join(user.repository, name), 'utf8'));
      return texts.every((text) => text.endsWith('\n')) && texts.map(Number);
    });
    running.kill('SIGINT');
    const end = await running.ended;
    expect(end.code).toBe(130);
    for (const pid of pids) expect(isRunning(pid)).toBe(false);
    const { agents } = JSON.parse(end.stdout);
    expect(agents).toHaveLength(5);
    for (const agent of agents) expect(agent).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
    const shown = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    expect(new Set(shown.map(({ status }: { status: string }) => status))).toEqual(new Set(['interrupted']));
  });
});
