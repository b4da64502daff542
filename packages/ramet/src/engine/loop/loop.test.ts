import { describe, expect, test } from 'vitest';
import { startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { Cancelled, JournalError, ModelError } from '../../schema/errors.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { CLOSING_TURN, MAY_HAVE_RUN, NOT_RUN } from '../agent/notices.ts';
import { Spending } from '../budget/budget.ts';

const echo = toolOf('Echo', 'read', async (input) => ({ content: JSON.stringify(input) }));

describe('RES-1: a prompt becomes an answer', () => {
  test('an answer without tools ends the run as done, with its usage and its cost', async () => {
    const model = scriptedModel({
      text: 'hello',
      usage: { input_tokens: 1_000_000, output_tokens: 100_000 },
    });
    const engine = await startEngine({ provider: model });
    const { result } = await engine.run('hi');
    expect(result).toMatchObject({ status: 'done', cause: null, text: 'hello', turns: 1, costUsd: 3 });
    model.assertDone();
  });

  test('takes no negative time when the clock is set back meanwhile', async () => {
    let [wall, steady] = [1_000_000, 0];
    const clock = {
      now: () => {
        wall -= 1_000;
        return wall;
      },
      elapsed: () => {
        steady += 5;
        return steady;
      },
      sleep: async () => {},
    };
    const engine = await startEngine({ provider: scriptedModel({ text: 'hello' }), runtime: { clock } });
    const { result } = await engine.run('hi');
    expect(result.status).toBe('done');
    expect(result.durationMs).toBeGreaterThan(0);
  });

  test('tool results go back in one message, in the order of the calls, and the next answer follows', async () => {
    const calls = [1, 2, 3].map((n) => ({ name: 'Echo', input: { n }, id: `c${n}` }));
    const model = scriptedModel({ text: 'looking', calls }, (request) => {
      expect(request.messages.at(-1)).toMatchObject({
        role: 'user',
        content: calls.map(({ id, input }) => ({ tool_use_id: id, content: JSON.stringify(input) })),
      });
      return { text: 'found' };
    });
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('look')).result).toMatchObject({ status: 'done', text: 'found', turns: 2 });
  });

  test('an agent that has ended does not run again because a late child has ended', async () => {
    const model = scriptedModel({ text: 'one' }, { text: 'two' });
    const engine = await startEngine({ provider: model });
    await engine.run('go');
    engine.agent.setStatus('running', null);
    await engine.runtime.journal.commit('written');
    expect(engine.recorded().at(-1)).toMatchObject({ type: 'agent.ended', status: 'done' });
    await engine.run('again');
    expect(engine.recorded().at(-1)).toMatchObject({ type: 'agent.ended', status: 'done' });
  });

  test('events come in the order of what happens', async () => {
    const model = scriptedModel({ calls: [{ name: 'Echo', input: {} }] }, { text: 'ok' });
    const engine = await startEngine({ provider: model, tools: [echo] });
    const { events } = await engine.run('go');
    const kinds = ['assistant', 'tool_started', 'tool_completed', 'assistant'];
    expect(events.map(({ type }) => type)).toEqual(kinds);
  });

  test('at the turn limit there is one closing turn, whose calls are not run', async () => {
    const again = { calls: [{ name: 'Echo', input: {} }] };
    const model = scriptedModel(again, again, (request) => {
      expect(JSON.stringify(request.messages.at(-1))).toContain(CLOSING_TURN);
      return { text: 'half done', ...again };
    });
    const engine = await startEngine({ provider: model, tools: [echo], spec: { maxTurns: 2 } });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'failed', cause: 'max_turns', text: 'half done', turns: 3 });
    expect(lastMessage(engine)).toContain(NOT_RUN.turns);
    model.assertDone();
  });
});

describe('MODEL-2: every tool call is answered, whatever happens', () => {
  test('a call of an unknown tool is answered with the tools there are', async () => {
    const model = scriptedModel({ calls: [{ name: 'Teleport', input: {} }] }, { text: 'sorry' });
    const engine = await startEngine({ provider: model, tools: [echo] });
    await engine.run('go');
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('the tools are Echo');
  });

  test('input that fails its schema is answered with what was wrong', async () => {
    const model = scriptedModel({ calls: [{ name: 'Read', input: { file: 'x' } }] }, { text: 'sorry' });
    const engine = await startEngine({ provider: model });
    await engine.run('go');
    const answer = JSON.stringify(model.requests[1]?.messages.at(-1));
    expect(answer).toContain('file_path');
    expect(answer).toContain('"is_error":true');
  });

  test('a tool that throws is answered with its message', async () => {
    const broken = toolOf('Broken', 'read', () => Promise.reject(new Error('no luck')));
    const model = scriptedModel({ calls: [{ name: 'Broken', input: {} }] }, { text: 'sorry' });
    const engine = await startEngine({ provider: model, tools: [broken] });
    await engine.run('go');
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Broken failed: no luck');
  });

  test('a denied call is answered with the reason, and not run', async () => {
    let ran = false;
    const write = toolOf('Put', 'write', async () => {
      ran = true;
      return { content: 'done' };
    });
    const model = scriptedModel({ calls: [{ name: 'Put', input: {} }] }, { text: 'sorry' });
    const engine = await startEngine({ provider: model, tools: [write], spec: { permissionMode: 'plan' } });
    await engine.run('go');
    expect(ran).toBe(false);
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('"is_error":true');
  });
});

describe('RES-6: calls that only read run side by side, others alone and in their place', () => {
  test('two reads overlap; a write waits for them and holds up the read after it', async () => {
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    const read = toolOf('Look', 'read', async () => {
      log.push('read');
      reads += 1;
      if (reads === 2) gate.resolve();
      if (reads <= 2) await gate.promise;
      log.push('read end');
      return { content: 'seen' };
    });
    const write = toolOf('Put', 'write', async () => {
      log.push('write');
      return { content: 'put' };
    });
    const calls = ['Look', 'Look', 'Put', 'Look'].map((name) => ({ name, input: {} }));
    const engine = await startEngine({
      provider: scriptedModel({ calls }, { text: 'ok' }),
      tools: [read, write],
    });
    await engine.run('go');
    expect(log).toEqual(['read', 'read', 'read end', 'read end', 'write', 'read', 'read end']);
  });
});

describe('MODEL-2: stop reasons in the loop', () => {
  test('text cut off at the limit is continued, and the result is the whole of it', async () => {
    const model = scriptedModel({ text: 'one ', stopReason: 'max_tokens' }, { text: 'two' });
    const engine = await startEngine({ provider: model });
    expect((await engine.run('count')).result).toMatchObject({ status: 'done', text: 'one two', turns: 2 });
  });

  test('a stop reason that nobody knows is taken as an end, and said', async () => {
    const engine = await startEngine({ provider: scriptedModel({ text: 'ok', stopReason: 'solar_flare' }) });
    const { result, events } = await engine.run('go');
    const warning = { code: 'unknown_stop_reason', message: expect.stringContaining('"solar_flare"') };
    expect(result).toMatchObject({ status: 'done', text: 'ok' });
    expect(events).toContainEqual({ type: 'warning', ...warning });
    expect(engine.recorded()).toContainEqual({ type: 'warning.raised', ...warning });
  });

  test('a cut tool call is not kept: it is asked for again with more room', async () => {
    const model = scriptedModel(
      { text: 'writing', stopReason: 'max_tokens', cutToolUse: true },
      (request) => {
        expect(request.max_tokens).toBe(2_000);
        expect(request.messages).toHaveLength(1);
        return { text: 'ok' };
      },
    );
    const engine = await startEngine({ provider: model });
    expect((await engine.run('go')).result).toMatchObject({ status: 'done', turns: 2 });
  });

  test('a paused turn is sent back as it is', async () => {
    const model = scriptedModel({ text: 'searching ', stopReason: 'pause_turn' }, (request) => {
      expect(request.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
      return { text: 'found' };
    });
    const engine = await startEngine({ provider: model });
    expect((await engine.run('go')).result).toMatchObject({ status: 'done', text: 'searching found' });
  });

  test('a paused turn is one answer, however often it pauses and whatever comes before and after it', async () => {
    const paused = (text: string) => ({ text, stopReason: 'pause_turn' as const });
    const call = { text: 'first', calls: [{ name: 'Echo', input: {} }] };
    const model = scriptedModel(call, paused('a'), paused('b'), { text: 'c' }, { text: 'next' });
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('go')).result.text).toBe('abc');
    expect((await engine.run('again')).result.text).toBe('next');
  });

  test('a refusal fails the run, is billed, and leaves no trace in the conversation', async () => {
    const engine = await startEngine({ provider: scriptedModel({ text: 'I ca', stopReason: 'refusal' }) });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({
      status: 'failed',
      cause: 'refusal',
      text: '',
      usage: { input_tokens: 10 },
    });
    expect(engine.agent.conversation.messages).toHaveLength(1);
  });

  test('thinking goes back unmodified, with its signature', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const model = scriptedModel({ blocks: [thinking], calls: [{ name: 'Echo', input: {} }] }, (request) => {
      expect(request.messages[1]?.content[0]).toEqual(thinking);
      return { text: 'ok' };
    });
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('go')).result.status).toBe('done');
  });
});

describe('MODEL-2: retries, fallback and giving up', () => {
  const busy = new ModelError('overloaded_error', 'retryable', 'busy', { status: 529 });

  test('a failed attempt is journaled and tried again with the same bytes', async () => {
    const model = scriptedModel(busy, { text: 'ok' });
    const engine = await startEngine({ provider: model });
    const { result, events } = await engine.run('go');
    expect(result.status).toBe('done');
    expect(model.bodies[0]).toBe(model.bodies[1]);
    expect(events[0]).toMatchObject({ type: 'request_failed', attempt: 1, retryInMs: expect.any(Number) });
    const attempts = engine.recorded().filter(({ type }) => type === 'request.started');
    expect(attempts).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });

  test('MODEL-3: what failed attempts were billed for counts, in the result, the budget and the journal', async () => {
    const usage = { ...NO_USAGE, output_tokens: 100_000 };
    const cut = new ModelError('stream_broken', 'retryable', 'cut', { usage });
    const engine = await startEngine({ provider: scriptedModel(cut, { text: 'ok', usage }) });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'done', costUsd: 2, usage: { output_tokens: 200_000 } });
    const failed = engine.recorded().find(({ type }) => type === 'request.failed');
    expect(failed).toMatchObject({ usage, costUsd: 1 });
  });

  test('a tool call id that an earlier turn has used is refused, and asked for again', async () => {
    const calls = [{ name: 'Echo', input: {}, id: 'same' }];
    const model = scriptedModel({ calls }, { calls }, { text: 'ok' });
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('go')).result).toMatchObject({ status: 'done', turns: 2 });
    expect(model.bodies[1]).toBe(model.bodies[2]);
  });

  test('a provider that stays down fails the run and keeps what there was', async () => {
    const model = scriptedModel({ text: 'looking', calls: [{ name: 'Echo', input: {} }] }, busy, busy, busy);
    const engine = await startEngine({ provider: model, tools: [echo] });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'failed', cause: 'overloaded_error', text: 'looking', turns: 1 });
    expect(engine.agent.conversation.messages).toHaveLength(3);
  });

  test('the fallback model takes over, without thinking that is bound to the first', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const model = scriptedModel(
      { blocks: [thinking], calls: [{ name: 'Echo', input: {} }] },
      busy,
      busy,
      busy,
      (request) => {
        expect(request.model).toBe('claude-opus-5');
        expect(JSON.stringify(request.messages)).not.toContain('thinking');
        return { text: 'ok' };
      },
    );
    const spec = { model: 'claude-opus-5-5', fallbackModel: 'claude-opus-5' };
    const engine = await startEngine({ provider: model, tools: [echo], spec });
    const { result, events } = await engine.run('go');
    expect(result).toMatchObject({ status: 'done', text: 'ok' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'fallback_model' }));
  });
});

describe('RES-2: the budget of one agent', () => {
  const usage = { input_tokens: 0, output_tokens: 100_000 };

  test('near the limit the agent is told to finish, once; at the limit it stops with its calls answered', async () => {
    const again = { text: 'on it', calls: [{ name: 'Echo', input: {} }] };
    const model = scriptedModel(
      { ...again, usage },
      { ...again, usage: { output_tokens: 1 } },
      { ...again, usage },
    );
    const engine = await startEngine({ provider: model, tools: [echo], spec: { budget: { usd: 1.2 } } });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'failed', cause: 'budget', turns: 3 });
    const told = model.bodies.map((body) => body.split('nearly spent').length - 1);
    expect(told).toEqual([0, 1, 1]);
    expect(lastMessage(engine)).toContain(NOT_RUN.budget);
  });

  test('an answer that ends the work counts, also when it crosses the limit', async () => {
    const model = scriptedModel({ text: 'done', usage });
    const engine = await startEngine({ provider: model, spec: { budget: { usd: 0.5 } } });
    expect((await engine.run('go')).result.status).toBe('done');
  });
});

describe('RES-2: a run within the budgets of others', () => {
  const usage = { input_tokens: 0, output_tokens: 100_000 };
  const again = { calls: [{ name: 'Echo', input: {} }] };

  test('stops at an ancestor’s limit, names it, and reports only what it has spent itself', async () => {
    const session = new Spending({ usd: 2 }, 0, { label: 'session' });
    session.add(NO_USAGE, 1.5);
    const model = scriptedModel({ ...again, usage });
    const engine = await startEngine({ provider: model, tools: [echo], spec: { spending: session } });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'failed', cause: 'budget', costUsd: 1 });
    expect(result.message).toBe("the budget is spent: the session's budget: $2.5000 of $2");
  });

  test('what a child spends counts against the run under way, and is part of what the run cost', async () => {
    const spawn = toolOf('Spawn', 'read', async () => {
      new Spending({}, 0, { parent: engine.agent.here.spending ?? undefined }).add(NO_USAGE, 5);
      return { content: 'spent' };
    });
    const model = scriptedModel({ calls: [{ name: 'Spawn', input: {} }] });
    const engine = await startEngine({ provider: model, tools: [echo, spawn], spec: { budget: { usd: 5 } } });
    expect(engine.agent.here.spending).toBeNull();
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'failed', cause: 'budget', turns: 1 });
    expect(lastMessage(engine)).toContain('spent');
    expect(result.costUsd).toBeGreaterThanOrEqual(5);
    expect(engine.agent.here.spending?.totalCostUsd).toBeGreaterThanOrEqual(5);
  });

  test('AGENT-5: an agent whose time is up is timed_out, not failed', async () => {
    const clock = simulatedClock();
    const wait = toolOf('Echo', 'read', async () => {
      await clock.advance(11_000);
      return { content: 'late' };
    });
    const model = scriptedModel(again);
    const engine = await startEngine({
      provider: model,
      tools: [wait],
      spec: { budget: { seconds: 10 } },
      runtime: { clock },
    });
    expect((await engine.run('go')).result).toMatchObject({
      status: 'timed_out',
      cause: 'budget',
      message: 'the budget is spent: 11 of 10 seconds',
    });
  });

  test('a model that never answers holds an agent no longer than its time', async () => {
    const clock = simulatedClock();
    const silent = {
      ...scriptedModel(),
      send: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Cancelled()));
          void clock.advance(10_000);
        }),
    };
    const engine = await startEngine({
      provider: silent,
      spec: { budget: { seconds: 10 } },
      runtime: { clock },
    });
    const ended = { status: 'timed_out', cause: 'budget', message: 'the budget is spent: 10 of 10 seconds' };
    expect((await engine.run('go')).result).toMatchObject(ended);
    expect(clock.due()).toEqual([]);
  });

  test('a run that ends in time leaves no timer behind', async () => {
    const clock = simulatedClock();
    const provider = scriptedModel({ text: 'quick' });
    const engine = await startEngine({ provider, spec: { budget: { seconds: 10 } }, runtime: { clock } });
    expect((await engine.run('go')).result.status).toBe('done');
    expect(clock.due()).toEqual([]);
  });
});

describe('MODEL-3: unknown is never zero', () => {
  test('a response without usage makes the cost unknown', async () => {
    const engine = await startEngine({ provider: scriptedModel({ text: 'ok', usage: null }) });
    expect((await engine.run('go')).result.costUsd).toBeNull();
  });

  test('an impossible count makes its part unknown and is told; the rest of the bill stays', async () => {
    const step = { usage: { unknown: ['cache_read_input_tokens'] as const, input_tokens: 1_000 } };
    const engine = await startEngine({ provider: scriptedModel({ text: 'ok', ...step }) });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ costUsd: null, usage: { input_tokens: 1_000, output_tokens: 5 } });
    const atLeastUsd: unknown = expect.closeTo((1_000 * 5 + 5 * 25) / 1e6);
    const message: unknown = expect.stringContaining('for cache_read_input_tokens');
    expect(engine.recorded()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'response.completed', costUsd: null, atLeastUsd }),
        expect.objectContaining({ type: 'warning.raised', code: 'usage_impossible', message }),
      ]),
    );
  });

  test('a model without a price makes the cost unknown', async () => {
    const engine = await startEngine({
      provider: scriptedModel({ text: 'ok' }),
      spec: { model: 'mystery-1' },
    });
    expect((await engine.run('go')).result.costUsd).toBeNull();
  });
});

describe('AGENT-5: an abort at any point leaves a valid conversation', () => {
  test('before the answer: the prompt stays, waiting', async () => {
    const controller = new AbortController();
    const engine = await startEngine({ provider: scriptedModel('hang') });
    setTimeout(() => controller.abort('SIGINT'), 10);
    const { result } = await engine.run('go', controller.signal);
    expect(result).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
    expect(engine.agent.conversation.awaitsAnswer).toBe(true);
  });

  test('within a tool: its call and those after it are answered truthfully', async () => {
    const controller = new AbortController();
    const slow = toolOf('Slow', 'execute', (_, { signal }) => {
      const ended = Promise.withResolvers<{ content: string; isError: boolean }>();
      signal.addEventListener('abort', () => ended.resolve({ content: MAY_HAVE_RUN, isError: true }));
      controller.abort('SIGINT');
      return ended.promise;
    });
    const calls = ['Slow', 'Slow'].map((name) => ({ name, input: {} }));
    const engine = await startEngine({ provider: scriptedModel({ calls }), tools: [slow] });
    const { result } = await engine.run('go', controller.signal);
    expect(result.status).toBe('interrupted');
    expect(lastMessage(engine)).toContain(MAY_HAVE_RUN);
    expect(lastMessage(engine)).toContain(NOT_RUN.interrupted);
  });
});

describe('LOG-1: record first, act second', () => {
  test('what a tool does comes after the response and its start are in the journal', async () => {
    const seen: string[] = [];
    const engine: Awaited<ReturnType<typeof startEngine>> = await startEngine({
      provider: scriptedModel({ calls: [{ name: 'Act', input: {} }] }, { text: 'ok' }),
      tools: [
        toolOf('Act', 'execute', async () => {
          seen.push(...engine.recorded().map(({ type }) => type));
          return { content: 'acted' };
        }),
      ],
    });
    await engine.run('go');
    expect(seen.slice(-3)).toEqual(['request.started', 'response.completed', 'tool.started']);
  });

  test('a journal that cannot be written ends the run: nothing is done unrecorded', async () => {
    let acted = false;
    const act = toolOf('Act', 'execute', async () => {
      acted = true;
      return { content: 'acted' };
    });
    const engine = await startEngine({
      provider: scriptedModel({ calls: [{ name: 'Act', input: {} }] }),
      tools: [act],
    });
    const { journal } = engine.runtime;
    const commit = journal.commit.bind(journal);
    let commits = 0;
    journal.commit = async (durability) => {
      if (++commits > 1) throw new JournalError('journal_full', 'terminal', 'disk full');
      return commit(durability);
    };
    const { result } = await engine.run('go');
    expect(acted).toBe(false);
    expect(result).toMatchObject({ status: 'failed', cause: 'journal_full', message: 'disk full' });
  });
});

function lastMessage(engine: { agent: { conversation: { messages: readonly unknown[] } } }): string {
  const message = engine.agent.conversation.messages.at(-1);
  const blocks = (message as { blocks: { bytes: Buffer }[] }).blocks;
  return blocks.map(({ bytes }) => bytes.toString()).join('\n');
}
