import { describe, expect, test } from 'vitest';
import { isQuestion, placeOf, startCrowdedEngine, WINDOW } from '../../../test/fixtures/crowded-engine.ts';
import { startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { contextWindow } from './context-state.ts';

/** The agent believes in a window that is much larger than the provider's. */
const UNAWARE = { contextWindow: 200_000 };

describe('RES-7, MODEL-2: a conversation that no longer fits the context window', () => {
  test('is compacted after the refusal, and the run continues', async () => {
    const engine = await startCrowdedEngine({ contextWindow: WINDOW, spec: UNAWARE });
    const { result, events } = await engine.run('Look at everything.');
    expect(result).toMatchObject({ status: 'done', text: 'done', turns: 7 });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'conversation_replaced', trigger: 'overflow' }),
    );
    expect(engine.emulator.requests.filter(({ status }) => status !== 200)).toHaveLength(1);
  });

  test('is asked about without its last turn, which is kept', async () => {
    const engine = await startCrowdedEngine({ contextWindow: WINDOW, spec: UNAWARE });
    await engine.run('Go.');
    const [question] = engine.summaries();
    expect(question?.status).toBe(200);
    expect(question?.usage?.cache_read_input_tokens).toBeGreaterThan(question?.usage?.input_tokens ?? 0);
    const requests = engine.emulator.requests;
    const next = requests[placeOf(engine, question) + 1];
    expect(next?.request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(next?.request?.messages.at(-1))).toContain('x'.repeat(8_000));
  });

  test('teaches the window that the refusal names, so that the next time comes before the limit', async () => {
    const engine = await startCrowdedEngine({ contextWindow: WINDOW, spec: UNAWARE, dumps: 12 });
    await engine.run('Go.');
    expect(contextWindow(engine.agent)).toBe(WINDOW);
    expect(engine.emulator.requests.filter(({ status }) => status !== 200)).toHaveLength(1);
    expect(engine.summaries().length).toBeGreaterThan(1);
  });

  test('fails the run with context_window when the summary is no help', async () => {
    const engine = await startCrowdedEngine({
      contextWindow: WINDOW,
      spec: UNAWARE,
      summaries: [{ text: '', stop_reason: 'refusal' }],
    });
    const { result } = await engine.run('Go.');
    expect(result).toMatchObject({ status: 'failed', cause: 'context_window' });
    expect(result.message).toContain('prompt is too long');
    expect(engine.summaries()).toHaveLength(1);
  });

  test('fails at once when a single prompt is too long: there is nothing to summarise', async () => {
    const engine = await startCrowdedEngine({ contextWindow: WINDOW, spec: UNAWARE });
    const { result } = await engine.run('z'.repeat(50_000));
    expect(result).toMatchObject({ status: 'failed', cause: 'context_window', turns: 0 });
    expect(engine.emulator.requests).toHaveLength(1);
  });

  test('leaves out more turns when the question does not fit either', async () => {
    let refused = 0;
    const engine = await startCrowdedEngine({
      contextWindow: WINDOW,
      spec: UNAWARE,
      fault(view) {
        if (!isQuestion(view) || refused++ > 0) return undefined;
        return { kind: 'status', status: 400, message: 'prompt is too long' };
      },
    });
    expect((await engine.run('Go.')).result.status).toBe('done');
    const lengths = engine.summaries().map(({ request }) => request?.messages.length);
    expect(lengths).toEqual([10, 4]);
    const kept = engine.turns().at(-2)?.body ?? '';
    expect(kept.match(/\[\d+ characters left out\]/g)).toHaveLength(4);
  });
});

describe('RES-7, MODEL-2: a response that the window cut short', () => {
  const echo = toolOf('Echo', 'read', async () => ({ content: 'e'.repeat(8_000) }));
  const call = { text: 'looking', calls: [{ name: 'Echo', input: {} }] };
  const full = {
    text: 'half an ans',
    stopReason: 'model_context_window_exceeded',
    usage: { input_tokens: 9_000, output_tokens: 1_000 },
  };

  test('is thrown away, the conversation compacted, and the answer asked for again', async () => {
    const model = scriptedModel(call, call, call, full, { text: 'SUMMARY' }, (request) => {
      expect(JSON.stringify(request.messages)).toContain('SUMMARY');
      expect(JSON.stringify(request.messages)).not.toContain('half an ans');
      return { text: 'whole' };
    });
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('Go.')).result).toMatchObject({ status: 'done', text: 'whole', turns: 5 });
    expect(contextWindow(engine.agent)).toBe(10_000);
    model.assertDone();
  });

  test('a second one in a row fails the run with context_window', async () => {
    const model = scriptedModel(call, call, call, full, { text: 'SUMMARY' }, full);
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('Go.')).result).toMatchObject({ status: 'failed', cause: 'context_window' });
    model.assertDone();
  });

  test('is recovered again after responses that were whole', async () => {
    const again = [call, call, call, full, { text: 'SUMMARY' }];
    const model = scriptedModel(...again, ...again, { text: 'whole' });
    const engine = await startEngine({ provider: model, tools: [echo] });
    expect((await engine.run('Go.')).result).toMatchObject({ status: 'done', text: 'whole' });
    model.assertDone();
  });
});

describe('BG-6: compaction that is switched off', () => {
  test('ends a run that no longer fits, and the message says why', async () => {
    const engine = await startCrowdedEngine({
      contextWindow: WINDOW,
      spec: { contextWindow: WINDOW, compacts: false },
    });
    const { result } = await engine.run('Look at everything.');
    expect(result).toMatchObject({ status: 'failed', cause: 'context_window' });
    expect(result.message).toMatch(
      /prompt is too long.*; the conversation was not compacted, because compaction.enabled is false$/,
    );
    expect(engine.summaries()).toEqual([]);
  });

  test('also where the window has cut the answer short', async () => {
    const cut = { text: 'half an ans', stopReason: 'model_context_window_exceeded' };
    const engine = await startEngine({ provider: scriptedModel(cut), spec: { compacts: false } });
    const { result } = await engine.run('Go.');
    expect(result).toMatchObject({ status: 'failed', cause: 'context_window' });
    expect(result.message).toContain('compaction.enabled is false');
  });
});
