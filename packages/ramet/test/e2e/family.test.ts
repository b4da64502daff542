import { describe, expect } from 'vitest';
import type { AgentOrigin } from '../../src/schema/events.ts';
import { displayWidth } from '../../src/views/text/format.ts';
import { linesOf } from '../fixtures/command.ts';
import { fanOut } from '../fixtures/fan-out.ts';
import { RecordedSession } from '../fixtures/recorded-session.ts';
import { test, type User } from '../fixtures/user.ts';

const fresh = (description: string): AgentOrigin => ({
  kind: 'fresh',
  call: 'c',
  description,
  background: true,
  depth: 1,
});

/** A main agent, two forks of which one did not pay, and an Explore agent that waits for a child of its own. */
async function family(user: User): Promise<RecordedSession> {
  const session = await RecordedSession.open(user.project, user.repository);
  const main = session.agent(1);
  session.say(main, ['Mend it.']);
  session.exchange(main, {
    usage: { cache_creation_input_tokens: 20_000, cache_creation_1h_input_tokens: 5_000, output_tokens: 10 },
    response: { costUsd: 0.08 },
  });
  for (const [number, task, freshUsd] of [
    [2, 'mend the parser', 0.01],
    [3, 'describe '.repeat(20), 0.001],
  ] as const) {
    const fork = session.fork(number, main, task);
    session.exchange(fork, {
      usage: { cache_read_input_tokens: 20_000, cache_creation_input_tokens: 300 },
      response: { costUsd: 0.005, reused: { tokens: 20_000, savedUsd: 0.04 } },
    });
    const compared = { forkTokens: 9_000, freshTokens: 5_000, forkUsd: 0.005, freshUsd };
    session.record(fork, { type: 'fork.compared', ...compared });
    session.end(fork);
  }
  const scout = session.agent(4, {
    parent: main,
    agentType: 'Explore',
    name: 'scout',
    origin: fresh('find its users'),
  });
  session.say(scout, ['Look.']);
  const request = { cache: 'below minimum' } as const;
  session.exchange(scout, { request, usage: { input_tokens: 500 }, response: { costUsd: 0.001 } });
  const child = session.agent(5, { parent: scout, agentType: 'Explore', origin: fresh('count them') });
  session.record(child, { type: 'status.changed', status: 'queued', cause: 'limit' });
  session.record(scout, { type: 'status.changed', status: 'waiting', cause: 'children' });
  await session.journal.commit('written');
  return session;
}

describe.concurrent('UI-1: views of many agents', () => {
  test('AGENT-5: ps shows them as a tree, with what each is for and why it waits', async ({ user }) => {
    const { journal } = await family(user);
    const alive = linesOf((await user.ramet(['ps'])).stdout).slice(1);
    const id = journal.session;
    expect(alive.map((line) => line.replace(/ {2,}/g, '  ').trimStart())).toEqual([
      expect.stringMatching(`^${id}\\.1  main  running`),
      expect.stringMatching(`^${id}\\.2  fork  done.*mend the parser`),
      expect.stringMatching(`^${id}\\.3  fork  done`),
      expect.stringMatching(
        `^${id}\\.4  Explore  waiting: children.*scout: find its users  in the background`,
      ),
      expect.stringMatching(`^${id}\\.5  Explore  queued: limit.*count them`),
    ]);
    expect(alive.map((line) => line.search(/\S/))).toEqual([0, 2, 2, 2, 4]);
    await journal.close();
    const agents = JSON.parse((await user.here(['ps', '--json'])).stdout);
    expect(agents.map(({ parent, status }: Record<string, unknown>) => [parent, status])).toEqual([
      [null, 'interrupted'],
      [`${id}.1`, 'done'],
      [`${id}.1`, 'done'],
      [`${id}.1`, 'interrupted'],
      [`${id}.4`, 'interrupted'],
    ]);
  });

  test('MODEL-3: cost has lines by agent, type and model, fits 80 columns and says which fork was dearer', async ({
    user,
  }) => {
    const { journal } = await family(user);
    await journal.close();
    const { stdout } = await user.here(['cost']);
    const lines = linesOf(stdout);
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(80);
    expect(lines[1]).toMatch(/^BY AGENT +REQ +INPUT +WRITE 5M +1H +READ +OUTPUT +HIT +SAVED +COST$/);
    expect(stdout).toMatch(/^ {2}\.2 fork .* 99% \$0\.0400 \$0\.0050$/m);
    expect(stdout).toMatch(/^fork +2 .* 99% \$0\.0800 \$0\.0100$/m);
    expect(stdout).toMatch(/^ {2}\.4 Explore .* <min +- \$0\.0010$/m);
    expect(stdout).toMatch(/^TOTAL +4 +500 +15\.6k +5\.0k +40\.0k +10 +65% \$0\.0800 \$0\.0910$/m);
    expect(stdout).toContain('40.0k tokens that other agents had written, $0.0800\n');
    expect(stdout).toContain('1 of 4 prompts was below minimum (<min): too short to be cached, no miss\n');
    expect(stdout).toContain('\n.3 was dearer as a fork: a fresh agent would have cost about $0.0040 less\n');
    expect(stdout).not.toContain('.2 was dearer');
  });

  test('MODEL-3: cost --json has the same figures by name, and --all the sum of the sessions', async ({
    user,
  }) => {
    const first = await family(user);
    await first.journal.close();
    const id = first.journal.session;
    const bill = JSON.parse((await user.here(['cost', id, '--json'])).stdout);
    expect(bill).toMatchObject({
      agents: { [`${id}.2`]: { parent: `${id}.1`, type: 'fork', description: 'mend the parser' } },
      types: { main: {}, fork: { reused_tokens: 40_000, saved_usd: 0.08 }, Explore: { below_minimum: 1 } },
      forks: {
        [`${id}.2`]: { dearer_as_fork: false },
        [`${id}.3`]: { dearer_as_fork: true, fresh_usd: 0.001 },
      },
      total: { total_cost_usd: 0.091 },
    });
    const second = await family(user);
    await second.journal.close();
    const all = JSON.parse((await user.here(['cost', '--all', '--json'])).stdout);
    expect(all.sessions).toHaveLength(2);
    expect(all.total).toMatchObject({ total_cost_usd: 0.182, reused_tokens: 80_000 });
    const text = (await user.here(['cost', '--all'])).stdout;
    expect(text).toMatch(new RegExp(`^${second.journal.session} +4 `, 'm'));
    expect(text).toMatch(/^TOTAL .* \$0\.1820$/m);
    expect(await user.here(['cost', '--all', id])).toMatchObject({ code: 2, stdout: '' });
  });

  test('FORK-2: show and logs take one agent, and show says what a fork took over', async ({ user }) => {
    const { journal } = await family(user);
    await journal.close();
    const id = journal.session;
    const shown = (await user.here(['show', `${id}.2`])).stdout;
    expect(shown).toContain(
      `agent ${id}.2 mend the parser (fork, child of ${id}.1, claude-sonnet-5): done\n`,
    );
    expect(shown).toContain(`(begins with 2 messages of ${id}.1: --full shows them)`);
    expect(shown).not.toContain('Mend it.');
    expect(shown).not.toContain(`agent ${id}.1`);
    const full = (await user.here(['show', '.2', '--full'])).stdout;
    expect(full).toMatch(/\[user\] Mend it\..*forked from.*\[user\] mend the parser/s);
    const [agent, ...others] = JSON.parse(
      (await user.here(['show', `${id}.2`, '--full', '--json'])).stdout,
    ).agents;
    expect(others).toEqual([]);
    expect(agent.inherited.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
    const events = linesOf((await user.here(['logs', `${id}.4`, '--json'])).stdout).map((line) =>
      JSON.parse(line),
    );
    expect(new Set(events.map((event) => event.agent))).toEqual(new Set([`${id}.4`]));
    expect(events.at(-1)).toMatchObject({ type: 'status.changed', cause: 'children' });
  });

  test('MODEL-3: the bill of real forks adds up, in the result and in the ledger, and has what they saved', async ({
    user,
  }) => {
    await user.emulate({ respond: fanOut({ children: 3 }) });
    const run = ['-p', 'Go.', '--permission-mode', 'bypassPermissions', '--output-format', 'json'];
    const result = JSON.parse((await user.here(run)).stdout);
    const bill = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(result.agents.map(({ type }: { type: string }) => type)).toEqual(['main', 'fork', 'fork', 'fork']);
    const costs = result.agents.map((agent: { total_cost_usd: number }) => agent.total_cost_usd);
    expect(costs.reduce((sum: number, cost: number) => sum + cost, 0)).toBeCloseTo(result.total_cost_usd, 10);
    for (const { id, total_cost_usd } of result.agents)
      expect(bill.agents[id].total_cost_usd).toBeCloseTo(total_cost_usd, 10);
    expect(bill.total.total_cost_usd).toBeCloseTo(result.total_cost_usd, 10);
    expect(bill.types.fork.saved_usd).toBeGreaterThan(0);
    expect(Object.keys(bill.forks)).toHaveLength(3);
  });

  test('agents are completed once their session is typed', async ({ user }) => {
    const { journal } = await family(user);
    await journal.close();
    const completed = async (...words: string[]) =>
      linesOf((await user.here(['complete', '--', ...words])).stdout);
    expect(await completed('logs', `${journal.session}.2`)).toEqual([
      `${journal.session}.2\tfork done mend the parser`,
    ]);
    expect(await completed('cache', 'explain', '.')).toHaveLength(5);
    expect(await completed('cache', 'ex')).toEqual([expect.stringMatching(/^explain\t/)]);
    expect(await completed('show', 'zzzzzzzz.')).toEqual([]);
  });

  test('an agent or id that does not exist is refused with those that do', async ({ user }) => {
    const { journal } = await family(user);
    await journal.close();
    const id = journal.session;
    const unknown = await user.here(['show', `${id}.9`]);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toBe(
      `ramet: there is no agent ${id}.9 in session ${id}: it has ${[1, 2, 3, 4, 5].map((n) => `${id}.${n}`).join(', ')}\n`,
    );
    expect((await user.here(['logs', `${id}.x`])).stderr).toContain('a session is like abcd1234, an agent');
    expect((await user.here(['logs', `${id}.1/1`])).stderr).toContain(
      'is a request: name an agent or a session',
    );
  });
});
