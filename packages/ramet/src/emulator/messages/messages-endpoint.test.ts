import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { bodyOf, type Fields, post } from '../../../test/fixtures/emulator-client.ts';
import type { Clock } from '../../schema/clock.ts';
import type { EmulatorOptions } from '../emulator-state.ts';
import { type Emulator, startEmulator } from '../server.ts';

let running: Emulator[] = [];
afterEach(async () => {
  await Promise.all(running.map((emulator) => emulator.close()));
  running = [];
});

async function start(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options);
  running.push(emulator);
  return emulator;
}

/** Time stands still and sleepers wait until they are woken. */
class HeldClock implements Clock {
  time = 0;
  readonly sleeps: number[] = [];
  #wake: (() => void)[] = [];

  now(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    return new Promise((resolve) => {
      this.#wake.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
  }

  wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async until(sleepers: number): Promise<void> {
    while (this.sleeps.length < sleepers) await new Promise((resolve) => setImmediate(resolve));
  }
}

const ok = { rules: [{ respond: { text: 'ok' } }] };
const mark = { cache_control: { type: 'ephemeral' } };
const cached = { system: 's'.repeat(8000 - 25), ...mark, stream: true };

async function usageOf(response: Response): Promise<Fields> {
  const text = await response.text();
  const start = JSON.parse(/data: (\{"type":"message_start".*)/.exec(text)?.[1] ?? '{}');
  return start.message.usage;
}

describe('EMU-2: the cache over HTTP', () => {
  test('the second of two equal requests reads what the first wrote, and usage says so', async () => {
    const emulator = await start({ scenario: ok });
    const first = await usageOf(await post(emulator, cached));
    const second = await usageOf(await post(emulator, cached));
    expect(first).toMatchObject({ cache_read_input_tokens: 0, input_tokens: 0 });
    expect(first.cache_creation).toMatchObject({ ephemeral_1h_input_tokens: 0 });
    expect(second).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: first.cache_creation_input_tokens,
    });
  });

  test('another key has another cache', async () => {
    const emulator = await start({ scenario: ok });
    await (await post(emulator, cached)).text();
    const other = await post(emulator, cached, { headers: { 'x-api-key': 'other' } });
    expect(await usageOf(other)).toMatchObject({ cache_read_input_tokens: 0 });
  });

  test('eight requests sent at once all miss; once one has begun, the next reads', async () => {
    const clock = new HeldClock();
    const emulator = await start({ scenario: ok, clock, latency: { baseMs: 50 } });
    const burst = Array.from({ length: 8 }, () => post(emulator, cached));
    await clock.until(8);
    clock.wakeAll();
    for (const usage of await Promise.all(burst.map(async (one) => usageOf(await one)))) {
      expect(usage.cache_read_input_tokens).toBe(0);
    }
    const next = post(emulator, cached);
    await clock.until(9);
    clock.wakeAll();
    expect((await usageOf(await next)).cache_read_input_tokens).toBeGreaterThan(1900);
  });

  test('a client that leaves before the response begins leaves no entry', async () => {
    const clock = new HeldClock();
    const emulator = await start({ scenario: ok, clock, latency: { baseMs: 50 } });
    const leaving = new AbortController();
    const left = post(emulator, cached, { signal: leaving.signal }).catch((error) => error.name);
    await clock.until(1);
    leaving.abort();
    expect(await left).toBe('AbortError');
    while (emulator.requests[0]?.outcome !== 'disconnected')
      await new Promise((resolve) => setImmediate(resolve));
    const next = post(emulator, cached);
    await clock.until(2);
    clock.wakeAll();
    expect(await usageOf(await next)).toMatchObject({ cache_read_input_tokens: 0 });
  });

  test('a request refused with a status writes nothing', async () => {
    const emulator = await start({
      scenario: { rules: [{ times: 1, fault: { kind: 'status', status: 529 } }, ...ok.rules] },
    });
    expect((await post(emulator, cached)).status).toBe(529);
    expect(await usageOf(await post(emulator, cached))).toMatchObject({ cache_read_input_tokens: 0 });
  });

  test('pre-warming writes the cache, says nothing and needs no rule', async () => {
    const emulator = await start({});
    const shared = { system: [{ type: 'text', text: 's'.repeat(8000), ...mark }] };
    const warm = await bodyOf(await post(emulator, { ...shared, max_tokens: 0 }));
    expect(warm).toMatchObject({ content: [], stop_reason: 'max_tokens', usage: { output_tokens: 0 } });
    const again = await bodyOf(await post(emulator, { ...shared, max_tokens: 0 }));
    expect((again.usage as Fields).cache_read_input_tokens).toBeGreaterThan(1900);
  });

  test('thinking must come back unmodified inside a tool loop', async () => {
    const emulator = await start({
      scenario: { rules: [{ respond: { thinking: 'deep', tool_use: [{ name: 'T', input: {} }] } }] },
    });
    const question = { role: 'user', content: 'q' };
    const { content } = (await bodyOf(await post(emulator, { messages: [question] }))) as {
      content: Fields[];
    };
    const [thinking, call] = content;
    const carryOn = (blocks: unknown[]) =>
      post(emulator, {
        messages: [
          question,
          { role: 'assistant', content: blocks },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id }] },
        ],
      });
    expect((await carryOn([thinking, call])).status).toBe(200);
    expect((await carryOn([{ ...thinking, thinking: 'deeper' }, call])).status).toBe(400);
    expect((await carryOn([call])).status).toBe(400);
  });
});

describe('EMU-3: latency', () => {
  test('the first token waits for base, uncached and cached tokens; the rest for the pace', async () => {
    const clock = new HeldClock();
    const latency = { baseMs: 100, uncachedMsPer1k: 50, cachedMsPer1k: 5, tokensPerSecond: 10 };
    const emulator = await start({
      scenario: { rules: [{ respond: { text: 'x'.repeat(80) } }] },
      clock,
      latency,
    });
    const ask = async (sleeps: number) => {
      const answer = post(emulator, cached);
      const before = clock.sleeps.length;
      for (let done = 1; done <= sleeps; done += 1) {
        await clock.until(before + done);
        clock.wakeAll();
      }
      await (await answer).text();
      return clock.sleeps.slice(before);
    };
    const [{ usage } = { usage: undefined }] = emulator.requests;
    expect(usage).toBeUndefined();
    const cold = await ask(3);
    const total = emulator.requests[0]?.usage?.cache_creation_input_tokens ?? 0;
    expect(cold).toEqual([100 + (50 * total) / 1000, 1000, 1000]);
    expect(await ask(3)).toEqual([100 + (5 * total) / 1000, 1000, 1000]);
  });

  test('a long answer at a great pace waits in whole milliseconds and leaves no listener behind', async () => {
    const sleeps: { ms: number; listeners: number }[] = [];
    const clock: Clock = {
      now: () => 0,
      sleep: (ms, signal) => {
        sleeps.push({ ms, listeners: signal === undefined ? 0 : getEventListeners(signal, 'abort').length });
        return Promise.resolve();
      },
    };
    const emulator = await start({
      scenario: { rules: [{ respond: { text: 'x'.repeat(400_000) } }] },
      clock,
      latency: { tokensPerSecond: 1_000_000 },
    });
    expect(await (await post(emulator, { stream: true })).text()).toContain('message_stop');
    const total = sleeps.reduce((sum, { ms }) => sum + ms, 0);
    expect(Math.abs(total - 100)).toBeLessThan(1.1);
    expect(sleeps.length).toBeLessThanOrEqual(100);
    expect(Math.max(...sleeps.map(({ listeners }) => listeners))).toBeLessThan(5);
  });

  test('a rule may have its own, and a response that is not streamed waits for its end', async () => {
    const clock = new HeldClock();
    const emulator = await start({
      scenario: { rules: [{ respond: { text: 'x', output_tokens: 30 }, latency: { tokensPerSecond: 10 } }] },
      clock,
      latency: { baseMs: 7 },
    });
    const answer = post(emulator, {});
    await clock.until(1);
    clock.wakeAll();
    await clock.until(2);
    clock.wakeAll();
    expect((await answer).status).toBe(200);
    expect(clock.sleeps).toEqual([7, 3000]);
  });

  test('is zero unless asked for', async () => {
    const clock = new HeldClock();
    await (await post(await start({ scenario: ok, clock }), { stream: true })).text();
    expect(clock.sleeps).toEqual([]);
  });
});

describe('RES-7: the context window of the emulated model', () => {
  const long = { messages: [{ role: 'user', content: 'x'.repeat(4_000) }] };

  test('a longer prompt is refused as the API does, with the number; a shorter one is answered', async () => {
    const emulator = await start({ scenario: { ...ok, contextWindow: 500 } });
    const refused = await post(emulator, long);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(await bodyOf(refused))).toMatch(/prompt is too long: 10\d\d tokens > 500 maximum/);
    expect((await post(emulator, {})).status).toBe(200);
  });

  test('what the options say comes before the scenario, and without either there is no limit', async () => {
    const wide = await start({ scenario: { ...ok, contextWindow: 500 }, contextWindow: 5_000 });
    expect((await post(wide, long)).status).toBe(200);
    expect((await post(await start({ scenario: ok }), long)).status).toBe(200);
  });
});
