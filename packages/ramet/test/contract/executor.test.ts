/** One suite, every executor: an agent is the same wherever its loop and its tools run. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SUMMARISE } from '../../src/engine/compaction/compaction-summary.ts';
import { ModelError } from '../../src/schema/errors.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { eventually } from '../fixtures/command.ts';
import { call, eventsOf, lastTexts, startAgents } from '../fixtures/family.ts';
import { EXECUTORS_UNDER_TEST, startHosted } from './executor-scenes.ts';

const FRESH = { subagent_type: 'general-purpose' };
const REPORT = { text: 'Scope: child. Done.' };
const wait = (file: string) =>
  call('Bash', { command: `touch ${file}; while [ ! -e go ]; do sleep 0.02; done` });
/** A command and one that it started: both are to end with the agent. */
const LINGER = call('Bash', {
  command: 'sleep 600 & echo "$$ $!" | tr " " "\\n" > ids; mv ids second; wait',
});
const go = call('Bash', { command: 'touch go' });

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.each(EXECUTORS_UNDER_TEST)('EXEC-2: an agent hosted %s', (executor) => {
  test('works with its tools, and what it did answers the call', async () => {
    const family = await startHosted(executor, {
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [call('Write', { file_path: 'made.txt', content: 'by the child' }), REPORT],
      },
    });
    expect((await family.run('Go.')).result).toMatchObject({ status: 'done', text: 'ok' });
    expect(readFileSync(join(family.cwd, 'made.txt'), 'utf8')).toBe('by the child');
    expect(lastTexts(family.requestsOf('Go.').at(-1))[0]).toContain('Scope: child. Done.');
    expect(eventsOf(family.recordedOf(2), 'agent.started')[0]?.origin?.executor).toBe(
      executor === 'process' ? 'process' : undefined,
    );
  });

  test('AGENT-7: hears what it is told at its next tool boundary, once', async () => {
    const family = await startHosted(executor, {
      cast: { child: [wait('waits'), REPORT, REPORT] },
    });
    const handle = await family.session.spawn({ ...FRESH, prompt: 'child', description: 'd' });
    await eventually(() => existsSync(join(family.cwd, 'waits')));
    handle.steer('Look at the tests too.');
    handle.steer('And hurry.');
    writeFileSync(join(family.cwd, 'go'), '');
    expect(await handle.result).toMatchObject({ status: 'done', turns: 2 });
    const [, second] = family.requestsOf('child');
    const [, ...told] = lastTexts(second);
    expect(told).toEqual([expect.stringContaining('tests too'), expect.stringContaining('hurry')]);
  });

  test('AGENT-7: a message that arrives while it ends makes it continue', async () => {
    const family = await startHosted(executor, { cast: { child: () => REPORT } });
    const handle = await family.session.spawn({ ...FRESH, prompt: 'child', description: 'd' });
    const unsubscribe = family.session.subscribe(({ type }) => {
      if (type !== 'assistant') return;
      unsubscribe();
      handle.steer('One more thing.');
    });
    expect(await handle.result).toMatchObject({ status: 'done', turns: 2 });
    expect(lastTexts(family.requestsOf('child')[1]).join()).toContain('One more thing.');
  });

  test('LIB-1: listeners that fail at every event harm neither it nor its parent', async () => {
    const family = await startHosted(executor, {
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [call('Bash', { command: 'true' }), REPORT],
        fork: [REPORT],
      },
      onRecord: () => {
        throw new Error('a view is broken');
      },
    });
    const { session } = family;
    const heard: string[] = [];
    session.subscribe(() => {
      throw new Error('a listener is broken');
    });
    session.subscribe(async () => Promise.reject(new Error('a slow listener is broken')));
    session.subscribe(({ agentId, type }) => heard.push(`${agentId.at(-1)} ${type}`));
    expect((await family.run('Go.')).result).toMatchObject({ status: 'done', text: 'ok' });
    expect(lastTexts(family.requestsOf('Go.').at(-1))[0]).toContain(REPORT.text);
    expect(await (await session.fork('fork')).result).toMatchObject({ status: 'done' });
    const own = heard.filter((line) => line.startsWith('2'));
    expect(own).toEqual(
      ['agent_started', 'assistant', 'tool_started', 'tool_completed', 'assistant', 'agent_ended'].map(
        (type) => `2 ${type}`,
      ),
    );
    expect(heard).toContain('3 agent_ended');
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([{ status: 'done' }]);
  });

  test('AGENT-7: cancelled, it sums up; stopped, it ends at once with its command', async () => {
    const family = await startHosted(executor, {
      cast: { one: [wait('first'), REPORT], two: [LINGER] },
    });
    const spawn = (prompt: string) => family.session.spawn({ ...FRESH, prompt, description: 'd' });
    const [one, two] = [await spawn('one'), await spawn('two')];
    await eventually(() => ['first', 'second'].every((name) => existsSync(join(family.cwd, name))));
    two.stop('stopped');
    expect(await two.result).toMatchObject({ status: 'cancelled', cause: 'stopped' });
    const commands = readFileSync(join(family.cwd, 'second'), 'utf8').trim().split('\n').map(Number);
    await eventually(() => !commands.some(runs));
    expect(family.session.agents).toEqual([one]);
    one.cancel();
    writeFileSync(join(family.cwd, 'go'), '');
    expect(await one.result).toMatchObject({ status: 'cancelled', cause: 'on_request', text: REPORT.text });
    expect(eventsOf(family.recordedOf(3), 'agent.ended')).toHaveLength(1);
  });

  test('AGENT-3: in the background, and sent there, it is reported in one notification', async () => {
    const family = await startHosted(executor, {
      cast: {
        'Go.': [
          startAgents(['asked for'], { ...FRESH, run_in_background: true }),
          startAgents(['detached'], FRESH),
          go,
          { text: 'I wait.' },
          (view) => ({ text: `heard: ${view.last}` }),
          (view) => ({ text: `heard: ${view.last}` }),
        ],
        'asked for': [wait('first'), REPORT],
        detached: () => {
          for (const handle of family.session.agents) if (!handle.inBackground) handle.detach();
          return REPORT;
        },
      },
    });
    const { result } = await family.run('Go.');
    expect(result.status).toBe('done');
    const received = eventsOf(family.recordedOf(1), 'message.received');
    expect(received.map(({ kind }) => kind)).toEqual(['notification', 'notification']);
  });

  test('RES-3: what rules leave open is asked of the person, in its name', async () => {
    const asked: unknown[] = [];
    const family = await startHosted(executor, {
      permissionMode: 'default',
      broker: {
        async ask({ agentName, summary }) {
          asked.push([agentName, summary]);
          return summary.includes('no') ? { kind: 'denied', reason: 'not here' } : { kind: 'once' };
        },
      },
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [call('Bash', { command: 'touch yes' }), call('Bash', { command: 'touch no' }), REPORT],
      },
    });
    await family.run('Go.');
    expect(asked).toEqual([
      ['about child', 'touch yes'],
      ['about child', 'touch no'],
    ]);
    expect([existsSync(join(family.cwd, 'yes')), existsSync(join(family.cwd, 'no'))]).toEqual([true, false]);
    expect(lastTexts(family.requestsOf('child').at(-1))[0]).toContain('not here');
    const blocked = eventsOf(family.recordedOf(2), 'status.changed').map(({ status }) => status);
    expect(blocked).toEqual(['blocked', 'running', 'blocked', 'running']);
  });

  test('AGENT-1: starts agents of its own, waits for them and stops them', async () => {
    const family = await startHosted(executor, {
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [
          startAgents(['inner'], FRESH),
          startAgents(['endless'], { ...FRESH, run_in_background: true, name: 'endless' }),
          call('TaskStop', { task_id: 'endless' }),
          REPORT,
          REPORT,
        ],
        inner: [{ text: 'Inner report.' }],
        endless: () => call('Bash', { command: 'sleep 60' }),
      },
    });
    expect((await family.run('Go.')).result.status).toBe('done');
    const [, second, , stopped] = family.requestsOf('child').map(lastTexts);
    expect(second?.[0]).toContain('Inner report.');
    expect(stopped?.[0]).toContain('was stopped');
    expect(eventsOf(family.recordedOf(4), 'agent.ended')).toMatchObject([{ status: 'cancelled' }]);
  });

  test('AGENT-5: an answer that is not what was asked for is sent back, done is proved', async () => {
    const schema = { type: 'object', required: ['n'] };
    const family = await startHosted(executor, {
      cast: {
        'Go.': [
          startAgents(['child'], { ...FRESH, schema, expect: { files: ['made.txt'] } }),
          { text: 'ok' },
        ],
        child: [
          { text: 'no JSON' },
          { text: '{"n": 1}' },
          call('Bash', { command: 'echo made > made.txt' }),
          { text: 'It is: {"n": 2}' },
        ],
      },
    });
    await family.run('Go.');
    const said = family.requestsOf('child').map((record) => lastTexts(record).join());
    expect(said[1]).toContain('no JSON in the answer');
    expect(said[2]).toContain('made.txt is not there');
    expect(lastTexts(family.requestsOf('Go.').at(-1))[0]).toContain('{"n": 2}');
  });

  test('RES-7: compacts when its conversation is long', async () => {
    const family = await startHosted(executor, {
      contextWindow: 20_000,
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        '': (view) => {
          if (view.last.includes(SUMMARISE.slice(0, 40))) return { text: 'SUMMARY' };
          const said = JSON.stringify(view.request.messages);
          return said.includes('SUMMARY') ? REPORT : call('Bash', { command: 'printf "%09000d" 0' });
        },
      },
    });
    expect((await family.run('Go.')).result.status).toBe('done');
    expect(eventsOf(family.recordedOf(2), 'conversation.replaced')).toMatchObject([{ cause: 'compaction' }]);
    expect(family.emulator.requests.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
  });

  test('MODEL-2: continues with the fallback model, and says so', async () => {
    const busy = new ModelError('overloaded_error', 'retryable', 'overloaded');
    const family = await startHosted(executor, {
      cast: {},
      model: 'claude-sonnet-5',
      fallbackModel: 'claude-haiku-4-5',
      provider: scriptedModel(busy, { text: 'from the other' }),
    });
    const events: string[] = [];
    family.session.subscribe(({ type }) => void events.push(type));
    const handle = await family.session.spawn({ ...FRESH, prompt: 'child', description: 'd' });
    expect(await handle.result).toMatchObject({ text: 'from the other', model: 'claude-haiku-4-5' });
    expect(events).toEqual([
      'agent_started',
      'request_failed',
      'warning',
      'conversation_replaced',
      'assistant',
      'agent_ended',
    ]);
  });

  test('RES-2: stops at its own budget, and at one above it that its children reach', async () => {
    const spend = { calls: [{ name: 'Glob', input: { pattern: '*' } }], usage: { input_tokens: 900 } };
    const start = { calls: [{ name: 'Agent', input: { prompt: 'inner', description: 'i', ...FRESH } }] };
    const family = await startHosted(executor, {
      cast: {},
      agents: { tokens: 3_000 },
      provider: scriptedModel(spend, spend, start, { text: 'dear', usage: { input_tokens: 2_000 } }),
    });
    const spawn = (prompt: string, tokens?: number) =>
      family.session.spawn({ ...FRESH, prompt, description: 'd', ...(tokens && { budget: { tokens } }) });
    expect(await (await spawn('own', 1_000)).result).toMatchObject({
      cause: 'budget',
      turns: 2,
      message: expect.stringContaining('of 1000 tokens'),
    });
    expect(await (await spawn('above')).result).toMatchObject({
      cause: 'budget',
      turns: 1,
      message: expect.stringContaining("the session's budget: 3"),
    });
  });

  test('RES-10: a fork stops at the budget that the call gave it, and its parent continues', async () => {
    const spend = { calls: [{ name: 'Glob', input: { pattern: '*' } }], usage: { input_tokens: 900 } };
    const input = { prompt: 'child', description: 'd', budget: { tokens: 1_000 } };
    const family = await startHosted(executor, {
      cast: {},
      provider: scriptedModel({ calls: [{ name: 'Agent', input }] }, spend, spend, { text: 'ok' }),
    });
    expect((await family.run('Go.')).result).toMatchObject({ status: 'done', text: 'ok' });
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([
      { status: 'failed', cause: 'budget', message: expect.stringContaining('of 1000 tokens') },
    ]);
  });

  test('RES-2: ends when its time is up, in the middle of a command', async () => {
    const family = await startHosted(executor, { cast: { child: [wait('waits')] } });
    const handle = await family.session.spawn({
      ...FRESH,
      prompt: 'child',
      description: 'd',
      budget: { seconds: 1 },
    });
    expect(await handle.result).toMatchObject({ status: 'timed_out', cause: 'budget' });
  });

  test('follows the abort of who waits for it', async () => {
    const family = await startHosted(executor, {
      cast: { 'Go.': [startAgents(['child'], FRESH)], child: [wait('waits')] },
    });
    const abort = new AbortController();
    const running = family.run('Go.', { signal: abort.signal });
    await eventually(() => existsSync(join(family.cwd, 'waits')));
    abort.abort('SIGINT');
    expect((await running).result).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([{ status: 'interrupted' }]);
  });

  test('RES-8: its commands in the background end with it, and it can look at them', async () => {
    const family = await startHosted(executor, {
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [
          call('Bash', { command: 'echo $$ > pid; echo begun; exec sleep 600', run_in_background: true }),
          call('TaskOutput', { task_id: 'bash-1', block: true, timeout: 200 }),
          REPORT,
        ],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child').at(-1))[0]).toContain('begun');
    const pid = Number(readFileSync(join(family.cwd, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow();
    expect(eventsOf(family.recordedOf(2), 'background_task.ended')).toMatchObject([{ task: 'bash-1' }]);
  });

  test('WORK-1: a file that another agent has changed is not overwritten, and it is told who did', async () => {
    const family = await startHosted(executor, {
      files: { 'a.txt': 'old' },
      cast: {
        'Go.': [
          call('Read', { file_path: 'a.txt' }),
          startAgents(['child'], FRESH),
          call('Write', { file_path: 'a.txt', content: 'mine' }),
          { text: 'ok' },
        ],
        child: [
          call('Write', { file_path: 'a.txt', content: 'unread' }),
          call('Read', { file_path: 'a.txt' }),
          call('Write', { file_path: 'a.txt', content: 'child' }),
          REPORT,
        ],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child')[1])[0]).toContain('you have not read it');
    expect(lastTexts(family.requestsOf('Go.').at(-1))[0]).toContain(
      `changed by agent ${family.session.id}.2`,
    );
    expect(readFileSync(join(family.cwd, 'a.txt'), 'utf8')).toBe('child');
  });
});
