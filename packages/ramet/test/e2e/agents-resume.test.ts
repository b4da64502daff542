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
  test('they resume from their last complete turn, and their parent is told once how they ended', async ({
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
    const agents = JSON.parse((await user.here(['ps', '--json'])).stdout);
    expect(agents.map(({ status, cause }: Record<string, unknown>) => [status, cause])).toEqual([
      ['interrupted', 'process_ended'],
      ['interrupted', 'process_ended'],
    ]);
    const second = await play(user, {
      'Go.': () => ({ text: 'All heard.' }),
      child: () => ({ text: 'Scope: finished.' }),
    });
    const end = await user.here(['-p', '--continue', ...BYPASS]);
    expect(end).toEqual({ code: 0, stdout: 'All heard.\n', stderr: '' });
    expect(second.requests).toHaveLength(2);
    const [told] = requestsOf(second, 'Go.');
    expect(lastTexts(told)).toEqual([
      expect.stringMatching(
        /^<task-notification>\n<task-id>\w+\.2<\/task-id>\n<name>scout<\/name>\n<status>done<\/status>.*Scope: finished\./s,
      ),
    ]);
    // Both turns of the child, the one before the kill included.
    expect(lastTexts(told)[0]).toContain('<usage>2 turns');
    const [before, after] = [requestsOf(first, 'child').at(-1), requestsOf(second, 'child')[0]];
    if (!before || !after) throw new Error('a request is missing');
    expect(promptBytes(after)).toBe(promptBytes(before));
    const again = await user.here(['-p', '--continue', ...BYPASS]);
    expect(again.stderr).toContain('the last turn of this session is complete');
    expect((await user.here(['logs'])).stdout).toContain('resumed: its process was ended');
  });

  test('one that had ended unreported is reported once, also after a second kill', async ({ user }) => {
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
    expect((await user.here(['-p', '--continue', ...BYPASS])).stdout).toBe('Heard.\n');
    expect(timesIn(everything(last), 'Scope: news.')).toBe(1);
  });

  test('one that has ended again before the last of them resumes is reported once, as done', async ({
    user,
  }) => {
    const tasks = Array.from({ length: 20 }, (_, index) => `child ${index + 10}`);
    const first = await play(user, {
      'Go.': [startAgents(tasks, { run_in_background: true }), { text: 'I wait.' }],
      child: never,
    });
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await eventually(() => first.requests.length === tasks.length + 2);
    running.kill('SIGKILL');
    await running.ended;
    const second = await play(user, {
      'Go.': () => ({ text: 'Heard.' }),
      child: ({ task }) => ({ text: `Scope: ${task}.` }),
    });
    expect((await user.here(['-p', '--continue', ...BYPASS])).stdout).toBe('Heard.\n');
    expect(everything(second)).not.toContain('interrupted');
    for (const task of tasks) expect(timesIn(everything(second), `Scope: ${task}.`)).toBe(1);
  });

  test('so do agents of theirs, and each hears of its own', async ({ user }) => {
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
      'Go.': () => ({ text: 'Heard.' }),
      outer: () => ({ text: 'Scope: outer.' }),
      inner: () => ({ text: 'Scope: inner.' }),
    });
    expect((await user.here(['-p', '--continue', ...BYPASS])).stdout).toBe('Heard.\n');
    expect(second.requests).toHaveLength(3);
    expect(lastTexts(requestsOf(second, 'outer')[0])[0]).toMatch(/<status>done<.*Scope: inner\./s);
    expect(lastTexts(requestsOf(second, 'Go.')[0])[0]).toMatch(/<status>done<.*Scope: outer\./s);
  });
});

describe.concurrent('AGENT-5: a session that was killed while it waited for agents', () => {
  const half = { command: 'echo x >> half.txt' };
  const cast: Cast = {
    'Go.': [startAgents(['child one', 'child two', 'child three'])],
    'child one': [call('Bash', half), never],
    'child two': [{ text: 'Scope: two.' }],
    child: never,
  };

  async function killedWhileWaiting(user: User): Promise<Emulator> {
    const first = await play(user, cast);
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await eventually(() => requestsOf(first, 'child one').length === 2 && first.requests.length === 5);
    await shows(user, ['ps', '--json'], '"done"');
    running.kill('SIGKILL');
    await running.ended;
    return first;
  }

  test('each call is answered by its agent: one that had ended, one in mid-work, one not begun', async ({
    user,
  }) => {
    const first = await killedWhileWaiting(user);
    const second = await play(user, {
      'Go.': () => ({ text: 'All three.' }),
      'child one': () => ({ text: 'Scope: one.' }),
      'child three': () => ({ text: 'Scope: three.' }),
    });
    const end = await user.here(['-p', '--continue', ...BYPASS]);
    expect(end).toEqual({ code: 0, stdout: 'All three.\n', stderr: '' });
    expect(second.requests).toHaveLength(3);
    const told = lastTexts(requestsOf(second, 'Go.')[0]);
    expect(told).toEqual([
      expect.stringMatching(/^Agent \w+\.2 \(fork\) done: 2 turns,.*\nScope: one\.$/s),
      expect.stringMatching(/^Agent \w+\.3 \(fork\) done: 1 turn,.*\nScope: two\.$/s),
      expect.stringMatching(/^Agent \w+\.4 \(fork\) done: 1 turn,.*\nScope: three\.$/s),
    ]);
    expect(linesOf(readFileSync(join(user.repository, 'half.txt'), 'utf8'))).toEqual(['x']);
    const [before, after] = [requestsOf(first, 'child one').at(-1), requestsOf(second, 'child one')[0]];
    if (!before || !after) throw new Error('a request is missing');
    expect(promptBytes(after)).toBe(promptBytes(before));
  });

  test('a second kill while they resume loses nothing either', async ({ user }) => {
    await killedWhileWaiting(user);
    const stuck = await play(user, { child: never });
    const running = user.start(['-p', '--continue', ...BYPASS]);
    await requestsTaken(stuck, 2);
    running.kill('SIGKILL');
    await running.ended;
    const last = await play(user, {
      'Go.': () => ({ text: 'All three.' }),
      child: () => ({ text: 'Scope: late.' }),
    });
    expect((await user.here(['-p', '--continue', ...BYPASS])).stdout).toBe('All three.\n');
    expect(last.requests).toHaveLength(3);
    const reports = lastTexts(requestsOf(last, 'Go.')[0]);
    expect(reports.map((text) => /Scope: \w+/.exec(text)?.[0])).toEqual([
      'Scope: late',
      'Scope: two',
      'Scope: late',
    ]);
  });

  test('with a new prompt they go on in the background, and what had ended is reported', async ({ user }) => {
    await killedWhileWaiting(user);
    const second = await play(user, {
      'Something else.': ({ last }) =>
        last.includes('<task-notification>') ? { text: 'And that.' } : { text: 'Done with that.' },
      'child one': () => ({ text: 'Scope: one.' }),
      'child three': () => ({ text: 'Scope: three.' }),
    });
    expect((await user.here(['-p', '--continue', 'Something else.', ...BYPASS])).code).toBe(0);
    const main = requestsOf(second, 'Something else.');
    const [answers] = main[0]?.request?.messages.slice(-2) ?? [];
    const said = JSON.stringify(answers);
    expect(timesIn(said, 'It was interrupted and has resumed. Agent')).toBe(2);
    expect(said).toContain('Scope: two.');
    const all = JSON.stringify(main.at(-1)?.request?.messages);
    expect(timesIn(all, 'Scope: one.')).toBe(1);
    expect(timesIn(all, 'Scope: two.')).toBe(1);
    expect(timesIn(all, 'Scope: three.')).toBe(1);
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
    const end = await user.here(['-p', 'Go.', '--output-format', 'json', ...BYPASS]);
    expect(end.code).toBe(0);
    expect(linesOf(readFileSync(join(user.repository, 'done.txt'), 'utf8'))).toEqual(['done', 'done']);
    expect(timesIn(everything(emulator), '<task-id>')).toBe(2);
    const result = JSON.parse(end.stdout);
    const bill = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(result.total_cost_usd).toBeCloseTo(bill.total.total_cost_usd, 10);
    expect(result.total_cost_usd).toBeGreaterThan(0);
  });

  test('RES-2: what children spend counts against --max-budget-usd, and the run ends as failed: budget', async ({
    user,
  }) => {
    // Neither child hears more before both have spent as much as brings the run near its limit.
    const both = Promise.withResolvers<void>();
    let asked = 0;
    const emulator = await play(user, {
      'Go.': ({ turn }) => (turn === 0 ? startAgents(['child one', 'child two']) : { text: 'Never asked.' }),
      child: async ({ turn }) => {
        if (turn > 0 && ++asked === 2) both.resolve();
        if (turn > 0) await both.promise;
        return { ...call('Bash', { command: 'true' }), output_tokens: 20_000 };
      },
    });
    const end = await user.here([
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

describe.concurrent('AGENT-5: SIGINT while a command runs that takes its time to end', () => {
  test('an agent in the background that ended first still resumes, and is reported once', async ({
    user,
  }) => {
    const slow = "trap 'sleep 0.5; exit 1' TERM; touch here; sleep 60 & wait";
    const first = await play(user, {
      'Go.': [startAgents(['child'], BACKGROUND), call('Bash', { command: slow })],
      child: never,
    });
    const running = user.start(['-p', 'Go.', ...BYPASS]);
    await requestsTaken(first, 3);
    await eventually(() => existsSync(join(user.repository, 'here')));
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    const second = await play(user, {
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: finished.' }),
    });
    expect((await user.here(['-p', '--continue', ...BYPASS])).stdout).toBe('Heard.\n');
    expect(everything(second)).not.toContain('<status>interrupted');
    expect(timesIn(everything(second), 'Scope: finished.')).toBe(1);
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
    const shown = JSON.parse((await user.here(['ps', '--json'])).stdout);
    expect(new Set(shown.map(({ status }: { status: string }) => status))).toEqual(new Set(['interrupted']));
    const second = await play(user, {
      'Go.': () => ({ text: 'I see.' }),
      child: () => ({ text: 'Scope: after all.' }),
    });
    expect((await user.here(['-p', '--continue', ...BYPASS])).code).toBe(0);
    // The interrupted work is resumed, agents included; commands that were stopped may have taken effect.
    const told = lastTexts(requestsOf(second, 'Go.')[0]);
    expect(told).toHaveLength(4);
    for (const text of told) expect(text).toMatch(/^Agent \w+\.\d \(fork\) done: .*Scope: after all\.$/s);
    expect(requestsOf(second, 'child')).toHaveLength(4);
  });
});
