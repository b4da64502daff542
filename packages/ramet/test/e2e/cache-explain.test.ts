import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { childOf, fanOut } from '../fixtures/fan-out.ts';
import { RecordedSession } from '../fixtures/recorded-session.ts';
import { test, type User } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };
const LONG = 'What is to be done, at length. '.repeat(200);

/** A fork whose third tool is described in other words than its parent's: the mistake that a guard is to find. */
async function brokenFork(user: User): Promise<string> {
  const session = await RecordedSession.open(user.project, user.repository);
  const tools = { Read: 'reads', Write: 'writes', Bash: 'runs' };
  const main = session.agent(1, {}, { tools });
  session.say(main, [LONG]);
  session.exchange(main, { usage: { cache_creation_input_tokens: 20_000 } });
  const fork = session.fork(2, main, 'mend the parser', { tools: { ...tools, Bash: 'runs commands' } });
  session.record(fork, {
    type: 'launch.decided',
    mode: 'auto',
    choice: 'at_once',
    why: 'the prefix is warm',
    sharedTokens: 20_000,
    coldTokens: 0,
  });
  session.exchange(fork, {
    request: { cache: 'warm' },
    usage: { cache_creation_input_tokens: 20_300, input_tokens: 4 },
  });
  await session.journal.close();
  return session.journal.session;
}

describe.concurrent('FORK-8: ramet cache explain', () => {
  test('names the block and field where a fork parts from its parent, and what that cost', async ({
    user,
  }) => {
    const id = await brokenFork(user);
    const expected = [
      `request ${id}.2/1 (fork mend the parser), turn 1, claude-sonnet-5`,
      '  predicted     warm',
      '  launch        at once: the prefix is warm',
      '  counted       read 0, written 20,300, uncached 4',
      `  held against  ${id}.1/1, its parent at the fork point`,
      '  could read    20,000 tokens',
      '  parts at      tools[2].description',
      '  sent again    20,000 tokens, $0.0460 more than a hit',
      '  why           changed block: tools[2].description',
    ];
    const one = await user.ramet(['cache', 'explain', `${id}.2/1`]);
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(one.stdout)).toEqual(expected);
    const whole = linesOf((await user.here(['cache', 'explain', id])).stdout);
    expect(whole).toEqual([
      ...expected,
      '1 of 2 requests missed: 20,000 tokens sent again, $0.0460 more than a hit',
    ]);
    const report = JSON.parse((await user.here(['cache', 'explain', `${id}.2`, '--json'])).stdout);
    expect(report).toMatchObject({ session_id: id, requests: 1, missed_tokens: 20_000, extra_usd: 0.046 });
    expect(report.explained).toMatchObject([
      {
        request: `${id}.2/1`,
        predicted: 'warm',
        read_tokens: 0,
        held_against: { request: `${id}.1/1`, kind: 'parent' },
        parts_at: 'tools[2].description',
        reason: 'changed',
      },
    ]);
  });

  test('goes through the requests of an agent as they were really sent', async ({ user }) => {
    await user.model({ text: 'I look.', tool_use: [READ] }, { text: 'Done.' }, { text: 'Again.' });
    await user.ramet(['-p', LONG]);
    const { stdout } = await user.here(['cache', 'explain', '.1']);
    expect(stdout).toMatch(/first request of this prefix: there was nothing to read yet\s+\(cold\)/);
    expect(stdout).toMatch(/held against {2}\w{8}\.1\/1, the request before it\n/);
    expect(stdout).toMatch(/\n2 requests, no miss\n$/);
    await user.ramet(['-p', '--continue', '--model', 'claude-opus-5', 'Again.']);
    expect((await user.here(['cache', 'explain'])).stdout).toMatch(
      /model switched from claude-sonnet-5 to claude-opus-5.*\n1 of 3 requests missed: /s,
    );
  });

  test('LAUNCH-1: says which of the agents that started together wrote the prefix too', async ({ user }) => {
    user.env.RAMET_MODEL_HAIKU = 'claude-sonnet-5';
    const play = fanOut({ children: 3, input: { subagent_type: 'Explore' } });
    const together = Promise.withResolvers<void>();
    let children = 0;
    await user.emulate({
      respond: async (view) => {
        if (childOf(view.request) !== null) {
          children += 1;
          if (children === 3) together.resolve();
          await together.promise;
        }
        return play(view);
      },
    });
    await user.ramet(['-p', 'Go.', '--permission-mode', 'bypassPermissions', '--launch', 'parallel']);
    const { explained } = JSON.parse((await user.here(['cache', 'explain', '--json'])).stdout);
    const [session] = user.sessions();
    expect(explained).toHaveLength(2);
    for (const { request, reason, held_against, parts_at, extra_usd } of explained) {
      expect(request).toMatch(/\.[34]\/1$/);
      expect(reason).toBe('parallel');
      expect(held_against).toEqual({ request: `${session}.2/1`, kind: 'sibling' });
      expect(parts_at).toMatch(/^messages\[0\]\.content\[\d+\]\.text$/);
      expect(extra_usd).toBeGreaterThan(0);
    }
  });

  test('MODEL-3: calls the price of a miss unknown where the model has none', async ({ user }) => {
    const session = await RecordedSession.open(user.project, user.repository);
    const main = session.agent(1, {}, { model: 'house-model' });
    session.say(main, [LONG]);
    session.exchange(main, { usage: { cache_creation_input_tokens: 20_000 } });
    session.clock.now += 3_700_000;
    session.say(main, ['Go on.']);
    session.exchange(main, { usage: { cache_creation_input_tokens: 20_100 } });
    await session.journal.close();
    const { stdout } = await user.here(['cache', 'explain']);
    for (const line of linesOf(stdout)) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).toContain('sent again    20,000 tokens, at an unknown price\n');
    expect(stdout).toMatch(/expired: the prefix was not used for 61 min, and it lives for\s+5\s+min/);
  });

  test('an id that does not exist is refused with those that do', async ({ user }) => {
    const id = await brokenFork(user);
    const refused = async (target: string) => {
      const end = await user.here(['cache', 'explain', target]);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      return end.stderr;
    };
    expect(await refused(`${id}.2/7`)).toBe(
      `ramet: there is no request ${id}.2/7 of agent ${id}.2: it sent ${id}.2/1\n`,
    );
    expect(await refused(`${id}.7`)).toContain(`it has ${id}.1, ${id}.2\n`);
    expect(await refused('1/1')).toContain('a request like abcd1234.2/1');
    expect(await refused('zzzz')).toContain('there is no session "zzzz"');
  });
});
