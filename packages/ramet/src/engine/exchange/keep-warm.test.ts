import { describe, expect, onTestFinished, test } from 'vitest';
import { type EngineFixture, startEngine } from '../../../test/fixtures/engine.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/index.ts';
import { anthropicProvider } from '../../model/anthropic/anthropic.ts';
import type { EventOf } from '../../schema/events.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { type SimulatedClock, simulatedClock } from '../../testing/simulated-clock.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import { keepingWarm } from './keep-warm.ts';

const MINUTE = 60_000;

interface WaitingParent extends EngineFixture {
  emulator: Emulator;
  clock: SimulatedClock;
}

/** An agent of about 5,000 tokens whose first prompt has been answered. */
async function startParent(
  options: EmulatorOptions = {},
  spec: Partial<AgentSpec> = {},
): Promise<WaitingParent> {
  const clock = simulatedClock(1_000_000);
  const emulator = await startEmulator({ respond: () => ({ text: 'done' }), clock, ...options });
  onTestFinished(() => emulator.close());
  const engine = await startEngine({
    provider: anthropicProvider({ baseUrl: new URL(emulator.url), apiKey: 'test', env: {} }),
    tools: [],
    spec: { system: ['x'.repeat(20_000)], ...spec },
    runtime: { clock },
  });
  await engine.run('begin');
  return { ...engine, emulator, clock };
}

function kept({ recorded }: EngineFixture): string[] {
  return recorded()
    .filter((event): event is EventOf<'cache.kept'> => event.type === 'cache.kept')
    .map(({ choice }) => choice);
}

/** Lets `refreshes` entries come near their end, one after the other. */
async function waitThrough({ clock }: WaitingParent, refreshes: number): Promise<void> {
  for (let i = 0; i < refreshes; i++) {
    await clock.whenSleeping();
    await clock.advance(4.5 * MINUTE);
  }
  await clock.whenSleeping();
}

describe('FORK-7: a parent that waits longer than the cache lives', () => {
  test('reads its prefix again half a minute before it runs out, and says nothing', async () => {
    const parent = await startParent();
    const before = parent.agent.conversation.digest;
    using _ = keepingWarm(parent.agent);
    await waitThrough(parent, 1);
    const written = parent.emulator.requests[0]?.usage?.cache_creation_input_tokens;
    expect(parent.emulator.requests[1]).toMatchObject({
      outcome: 'answered',
      request: { max_tokens: 0 },
      usage: { cache_read_input_tokens: written, cache_creation_input_tokens: 0, output_tokens: 0 },
    });
    expect(parent.emulator.requests[1]?.request?.stream).toBeUndefined();
    expect(parent.agent.conversation.digest).toBe(before);
  });

  test('finds all of it when it continues, minutes after it would have been gone', async () => {
    const parent = await startParent();
    {
      using _ = keepingWarm(parent.agent);
      await waitThrough(parent, 2);
    }
    await parent.run('go on');
    const [first, , , next] = parent.emulator.requests;
    expect(next?.usage?.cache_read_input_tokens).toBe(first?.usage?.cache_creation_input_tokens);
  });

  test('records and bills every refresh as one', async () => {
    const parent = await startParent();
    const spent: (number | null)[] = [];
    using _ = keepingWarm(parent.agent, { onSpent: (_usage, costUsd) => spent.push(costUsd) });
    await waitThrough(parent, 1);
    await parent.runtime.journal.commit('written');
    const recorded = parent.recorded();
    expect(recorded).toContainEqual(
      expect.objectContaining({ type: 'request.started', source: 'refresh', maxTokens: 0, cache: 'warm' }),
    );
    expect(recorded).toContainEqual(
      expect.objectContaining({ type: 'response.completed', source: 'refresh', kept: false, blocks: [] }),
    );
    expect(spent).toEqual([expect.closeTo((5_000 * 0.2) / 1_000_000, 4)]);
    expect(kept(parent)).toEqual(['refresh']);
  });

  test('stops when writing it again is cheaper', async () => {
    const parent = await startParent();
    using _ = keepingWarm(parent.agent);
    await waitThrough(parent, 11);
    await parent.clock.advance(4.5 * MINUTE);
    await parent.runtime.journal.commit('written');
    expect(kept(parent)).toEqual([...Array(11).fill('refresh'), 'lapse']);
    expect(parent.emulator.requests).toHaveLength(12);
    expect(parent.clock.due()).toEqual([]);
  });

  test('leaves nothing behind when the wait is over', async () => {
    const parent = await startParent();
    const keeping = keepingWarm(parent.agent);
    await parent.clock.whenSleeping();
    keeping[Symbol.dispose]();
    expect(parent.clock.due()).toEqual([]);
    await parent.clock.advance(60 * MINUTE);
    expect(parent.emulator.requests).toHaveLength(1);
  });

  test('sends nothing while a child keeps the prefix alive', async () => {
    const parent = await startParent();
    using _ = keepingWarm(parent.agent);
    await parent.clock.whenSleeping();
    await parent.clock.advance(4 * MINUTE);
    await parent.run('as a child would, on the same prefix');
    const asked = parent.emulator.requests.length;
    await parent.clock.advance(MINUTE);
    await parent.clock.whenSleeping();
    expect(parent.emulator.requests).toHaveLength(asked);
  });

  test('gives up after a refresh that fails, and says why', async () => {
    const parent = await startParent();
    using _ = keepingWarm(parent.agent);
    await parent.clock.whenSleeping();
    await parent.emulator.close();
    await parent.clock.advance(4.5 * MINUTE);
    await expect.poll(() => kept(parent)).toEqual(['refresh', 'lapse']);
    expect(parent.clock.due()).toEqual([]);
  });

  test.each<[string, Partial<AgentSpec>]>([
    ['an unknown price', { model: 'unheard-of' }],
    [
      'thinking, which the API refuses here',
      { thinking: { type: 'enabled', budget_tokens: 1_024 }, maxTokens: 4_000 },
    ],
  ])('does nothing with %s', async (_title, spec) => {
    const parent = await startParent({}, spec);
    using _ = keepingWarm(parent.agent);
    await parent.clock.advance(60 * MINUTE);
    expect(parent.emulator.requests).toHaveLength(1);
    expect(kept(parent)).toEqual([]);
  });

  test('does nothing with a provider that has no such request', async () => {
    const clock = simulatedClock();
    const engine = await startEngine({ provider: scriptedModel({ text: 'hi' }), runtime: { clock } });
    await engine.run('begin');
    using _ = keepingWarm(engine.agent);
    expect(clock.due()).toEqual([]);
  });
});

describe('FORK-7: an agent whose waits were long writes for an hour', () => {
  test('after a wait of more than five minutes, and says why', async () => {
    const parent = await startParent();
    {
      using _ = keepingWarm(parent.agent);
      await waitThrough(parent, 2);
    }
    await parent.run('go on');
    await parent.runtime.journal.commit('written');
    expect(kept(parent)).toEqual(['refresh', 'refresh', 'hour']);
    const usage = parent.emulator.requests.at(-1)?.usage;
    expect(usage?.cache_creation.ephemeral_1h_input_tokens).toBeGreaterThan(0);
    expect(usage?.cache_creation.ephemeral_5m_input_tokens).toBe(0);
    using _ = keepingWarm(parent.agent);
    await parent.clock.whenSleeping();
    expect(parent.clock.due()).toEqual([parent.clock.now() + 59.5 * MINUTE]);
  });

  test('not after a short one', async () => {
    const parent = await startParent();
    {
      using _ = keepingWarm(parent.agent);
      await parent.clock.advance(4 * MINUTE);
    }
    await parent.run('go on');
    expect(parent.emulator.requests.at(-1)?.body).not.toContain('"1h"');
  });
});
