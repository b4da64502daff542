import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type CrowdedEngine,
  isQuestion,
  placeOf,
  startCrowdedEngine,
  WINDOW,
} from '../../../test/fixtures/crowded-engine.ts';
import { runToEnd } from '../../../test/fixtures/engine.ts';
import { contentOf, freezeBlock } from '../../conversation/frozen-block.ts';
import type { Answer } from '../../emulator/index.ts';
import { openReader } from '../../journal/sessions.ts';
import { agentId } from '../../schema/ids.ts';
import { entriesOf } from '../../system/persistent.ts';
import type { Agent } from '../agent/agent.ts';
import { resumeAgent } from '../resume/resume.ts';
import { compact } from './compaction.ts';
import { contextWindow, isCompactionDue } from './context-state.ts';

const signal = new AbortController().signal;

function eventsOf(engine: CrowdedEngine, type: string) {
  return engine.recorded().filter((event) => event.type === type);
}

/** The agent as another process would find it. */
function reopened({ runtime, agent }: CrowdedEngine): Agent {
  const { journal } = runtime;
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  const again = resumeAgent(runtime, reader, () => agent.spec, agent.spec.id);
  reader.close();
  return again;
}

function textOf({ conversation }: Agent): string {
  return JSON.stringify(conversation.messages.map(({ blocks }) => blocks.map(contentOf)));
}

describe('RES-7: a conversation that nears the context limit', () => {
  test('is replaced by a summary and continues the task, below the threshold', async () => {
    const engine = await startCrowdedEngine();
    const { result, events } = await engine.run('Look at everything, use tabs.');
    expect(result).toMatchObject({ status: 'done', text: 'done', turns: 7 });
    expect(engine.summaries()).toHaveLength(1);
    const after = engine.turns()[4]?.request?.messages ?? [];
    expect(after.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(after[0])).toContain('<summary>\\nSUMMARY\\n</summary>');
    expect(JSON.stringify(after[0])).toContain('- Look at everything, use tabs.');
    for (const { usage } of engine.turns()) {
      const { cache_creation_input_tokens = 0, cache_read_input_tokens = 0, input_tokens = 0 } = usage ?? {};
      expect(cache_creation_input_tokens + cache_read_input_tokens + input_tokens).toBeLessThan(WINDOW);
    }
    const [replaced] = eventsOf(engine, 'conversation.replaced');
    const sizes = { tokens: expect.any(Number), tokensBefore: expect.any(Number) };
    expect(replaced).toMatchObject({ cause: 'compaction', trigger: 'threshold', ...sizes });
    const told = events.filter((event) => event.type === 'conversation_replaced');
    expect(told).toEqual([{ ...replaced, type: 'conversation_replaced' }]);
    expect(engine.emulator.requests.every(({ status }) => status === 200)).toBe(true);
  });

  test('is asked about on the same prefix, all of which comes from the cache', async () => {
    const engine = await startCrowdedEngine();
    await engine.run('Go.');
    const [question] = engine.summaries();
    const before = engine.emulator.requests[placeOf(engine, question) - 1];
    const sent = question?.request?.messages ?? [];
    expect(sent.slice(0, -3).map(withoutMarks)).toEqual(before?.request?.messages.map(withoutMarks));
    expect(question?.request?.tools).toEqual(before?.request?.tools);
    expect(question?.usage?.cache_read_input_tokens).toBe(
      (before?.usage?.cache_read_input_tokens ?? 0) + (before?.usage?.cache_creation_input_tokens ?? 0),
    );
    expect(question?.usage?.cache_creation_input_tokens).toBe(0);
  });

  test('has the summary on its bill, as a request of its own that is no turn', async () => {
    const engine = await startCrowdedEngine();
    const { result } = await engine.run('Go.');
    const responses = eventsOf(engine, 'response.completed');
    expect(responses.filter((event) => 'source' in event && event.source === 'compaction')).toHaveLength(1);
    expect(responses).toHaveLength(8);
    expect(result.turns).toBe(7);
    const input = engine.emulator.requests.reduce((sum, { usage }) => sum + (usage?.input_tokens ?? 0), 0);
    expect(result.usage.input_tokens).toBe(input);
  });

  test('is compacted again when it grows again, and still knows the first prompt', async () => {
    const engine = await startCrowdedEngine({ dumps: 12 });
    const { result } = await engine.run('The very first task.');
    expect(result.status).toBe('done');
    expect(engine.summaries().length).toBeGreaterThan(1);
    expect(textOf(engine.agent)).toContain('- The very first task.');
  });

  test("keeps the user's words, not what was attached to them", async () => {
    const engine = await startCrowdedEngine();
    const { agent } = engine;
    await engine.run('Go.');
    const said = ['y'.repeat(6_000), 'From now on use tabs.'];
    agent.say(
      'prompt',
      said.map((text) => freezeBlock({ type: 'text', text })),
    );
    await runToEnd(agent, signal);
    await engine.run('Go on.');
    expect(await compact(agent, { trigger: 'request', signal })).toMatchObject({ compacted: true });
    expect(textOf(agent)).toContain('- From now on use tabs.\\nyyy');
    expect(textOf(agent)).toContain('characters left out');
    expect(textOf(agent)).toContain(`(ramet show ${agent.spec.id} --full prints`);
  });

  test('keeps open todos and the names of files, and drops what is done', async () => {
    const engine = await startCrowdedEngine();
    const todos = [
      { content: 'write the test', status: 'in_progress' },
      { content: 'read the code', status: 'completed' },
    ] as const;
    engine.agent.setTodos(todos);
    await engine.agent.files.for('c').write('new.txt', 'text');
    await engine.run('Go.');
    expect(textOf(engine.agent)).toContain('<open-todos>\\n- [in_progress] write the test\\n</open-todos>');
    expect(textOf(engine.agent)).toContain('<files-changed>\\nnew.txt\\n</files-changed>');
    expect(textOf(engine.agent)).not.toContain('read the code');
  });

  test('is the same after a resume, and so is what the next compaction knows', async () => {
    const engine = await startCrowdedEngine();
    await engine.agent.files.for('c').write('new.txt', 'text');
    await engine.run('Go.');
    const again = reopened(engine);
    expect(again.conversation.digest).toBe(engine.agent.conversation.digest);
    expect(again.prompts.map(({ blocks }) => blocks.map(contentOf))).toEqual([
      [{ type: 'text', text: 'Go.' }],
    ]);
    expect([...entriesOf(again.state.touched).values()]).toEqual(['changed']);
    expect(again.measured).toEqual(engine.agent.measured);
  });

  test.each([0.4, 1])('is compacted at another threshold when told so (%d)', async (compactionThreshold) => {
    const engine = await startCrowdedEngine({ dumps: 3, spec: { compactionThreshold } });
    await engine.run('Go.');
    expect(engine.summaries()).toHaveLength(compactionThreshold === 1 ? 0 : 1);
  });
});

describe('RES-7, MODEL-2: thinking in a conversation that is compacted', () => {
  // Bound to its conversation, kept for all turns, forgotten with the turn, and of a model nobody knows.
  test.each(['claude-sonnet-5-5', 'claude-sonnet-5', 'claude-haiku-4-5', 'another-model'])(
    'is sent back as %s demands, before and after',
    async (model) => {
      const engine = await startCrowdedEngine({ thinks: true, dumps: 12, spec: { model } });
      const { result } = await engine.run('Go.');
      expect(result).toMatchObject({ status: 'done', text: 'done', turns: 13 });
      expect(engine.summaries().length).toBeGreaterThan(1);
      expect(engine.emulator.requests.filter(({ status }) => status !== 200)).toEqual([]);
    },
  );
});

describe('RES-7: no tool runs for a summary', () => {
  const call = { text: 'Let me look.', tool_use: [{ name: 'Dump', input: {} }] };

  test('an answer that calls one is refused and asked for again, once', async () => {
    const engine = await startCrowdedEngine({ summaries: [call, { text: 'SUMMARY' }] });
    await engine.run('Go.');
    expect(engine.summaries()).toHaveLength(2);
    expect(eventsOf(engine, 'tool.started')).toHaveLength(6);
    expect(textOf(engine.agent)).toContain('SUMMARY');
  });
});

describe('RES-7: an answer that was cut off', () => {
  test('is continued before the conversation is compacted', async () => {
    const long = 'y'.repeat(8_000);
    const answers: Answer[] = [
      ...Array.from({ length: 3 }, () => ({ tool_use: [{ name: 'Dump', input: {} }] })),
      { text: `${long} and`, stop_reason: 'max_tokens' },
      { text: ' so on', tool_use: [{ name: 'Dump', input: {} }] },
      { text: 'done' },
    ];
    const asked: string[] = [];
    const engine = await startCrowdedEngine({
      respond(view) {
        asked.push(isQuestion(view) ? 'summary' : 'turn');
        return isQuestion(view) ? { text: 'SUMMARY' } : answers.shift();
      },
    });
    expect((await engine.run('Go.')).result).toMatchObject({ status: 'done', text: 'done' });
    expect(asked).toEqual(['turn', 'turn', 'turn', 'turn', 'turn', 'summary', 'turn']);
  });
});

describe('RES-7: a compaction that fails leaves the conversation as it was', () => {
  const call = { tool_use: [{ name: 'Dump', input: {} }] };
  const failures: [string, Parameters<typeof startCrowdedEngine>[0], number][] = [
    ['is refused', { summaries: [{ text: 'no', stop_reason: 'refusal' }] }, 1],
    ['is empty', { summaries: [{ text: ' ' }] }, 1],
    ['is cut off', { summaries: [{ text: 'It beg', stop_reason: 'max_tokens' }] }, 1],
    ['calls tools twice', { summaries: [call] }, 2],
    ['is longer than what it replaces', { summaries: [{ text: 'x'.repeat(60_000) }] }, 1],
    [
      'does not get below the threshold',
      { summaries: [{ text: 'x'.repeat(23_500) }], spec: { compactionThreshold: 0.65 } },
      1,
    ],
    [
      'meets an error',
      { fault: (view) => (isQuestion(view) ? { kind: 'status', status: 400 } : undefined) },
      1,
    ],
    [
      'meets a provider that stays down',
      { fault: (view) => (isQuestion(view) ? { kind: 'status', status: 529 } : undefined) },
      3,
    ],
  ];

  test.each(failures)('when the summary %s', async (_, options, asked) => {
    // The window of the model is larger than what the agent was told, so that it can go on.
    const engine = await startCrowdedEngine({ dumps: 4, ...options });
    const { result, events } = await engine.run('Go.');
    expect(result).toMatchObject({ status: 'done', text: 'done', turns: 5 });
    expect(engine.summaries()).toHaveLength(asked);
    expect(engine.turns().at(-1)?.request?.messages).toHaveLength(9);
    expect(events.filter(({ type }) => type === 'warning')).toMatchObject([{ code: 'compaction_failed' }]);
    expect(eventsOf(engine, 'warning.raised')).toMatchObject([{ code: 'compaction_failed' }]);
    expect(eventsOf(engine, 'conversation.replaced')).toEqual([]);
    expect(reopened(engine).conversation.digest).toBe(engine.agent.conversation.digest);
    expect(reopened(engine).previousEnd).toEqual(engine.agent.previousEnd);
  });

  test('LOG-1: what the window turned out to be is known to a resumed agent and to its forks', async () => {
    const engine = await startCrowdedEngine({ contextWindow: WINDOW, spec: { contextWindow: 200_000 } });
    await engine.run('Go.');
    expect(contextWindow(reopened(engine))).toBe(WINDOW);
    const { agent, runtime } = engine;
    const { id } = agent.spec;
    const fork = agent.fork({ ...agent.spec, id: agentId(runtime.journal.session, 2), parent: id }, 'task');
    expect(contextWindow(fork)).toBe(WINDOW);
  });

  test('it is tried again when the conversation has grown by a tenth, not before', async () => {
    const engine = await startCrowdedEngine({ dumps: 4, summaries: [{ text: '' }, { text: 'SUMMARY' }] });
    await engine.run('Go.');
    await engine.run('A little more.');
    expect(engine.summaries()).toHaveLength(1);
    expect(isCompactionDue(reopened(engine))).toBe(false);
    await engine.run(`Much more: ${'y'.repeat(4_000)}`);
    expect(engine.summaries()).toHaveLength(2);
    expect(eventsOf(engine, 'conversation.replaced')).toMatchObject([{ cause: 'compaction' }]);
  });

  test('nothing is asked for when nothing could be gained', async () => {
    const engine = await startCrowdedEngine({ dumps: 0 });
    const { result } = await engine.run('z'.repeat(35_000));
    expect(result.status).toBe('done');
    expect(engine.summaries()).toEqual([]);
    expect(eventsOf(engine, 'warning.raised')).toHaveLength(1);
  });
});

describe('RES-7, AGENT-5: an abort while it is compacted', () => {
  test('leaves the old conversation, here and in the journal', async () => {
    const controller = new AbortController();
    const engine = await startCrowdedEngine({
      fault(view) {
        if (!isQuestion(view)) return undefined;
        setImmediate(() => controller.abort('SIGINT'));
        return { kind: 'stall', at: 'headers' };
      },
    });
    const { result } = await engine.run('Go.', controller.signal);
    expect(result).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
    expect(engine.agent.conversation.messages).toHaveLength(9);
    expect(reopened(engine).conversation.digest).toBe(engine.agent.conversation.digest);
    expect(eventsOf(engine, 'conversation.replaced')).toEqual([]);
  });
});

describe('RES-7: compacting on request', () => {
  test('shortens a finished conversation and keeps its last answer', async () => {
    const engine = await startCrowdedEngine({ dumps: 3 });
    await engine.run('Go.');
    const outcome = await compact(engine.agent, { trigger: 'request', signal, instructions: 'the colours' });
    expect(outcome).toMatchObject({ compacted: true, summary: 'SUMMARY', costUsd: expect.any(Number) });
    expect(engine.summaries()[0]?.body).toContain('the colours');
    const { conversation } = engine.agent;
    expect(conversation.awaitsAnswer).toBe(false);
    expect((await engine.run('And now?')).result).toMatchObject({ status: 'done' });
    expect(engine.emulator.requests.every(({ status }) => status === 200)).toBe(true);
  });

  test('says why it does nothing to a conversation that is short or has not begun', async () => {
    const engine = await startCrowdedEngine({ dumps: 0 });
    const empty = await compact(engine.agent, { trigger: 'request', signal });
    expect(empty).toMatchObject({ compacted: false, reason: 'there is nothing to summarise yet' });
    await engine.run('Go.');
    expect(await compact(engine.agent, { trigger: 'request', signal })).toMatchObject({ compacted: false });
    expect(engine.summaries()).toEqual([]);
  });
});

function withoutMarks(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message), (key, value) => (key === 'cache_control' ? undefined : value));
}
