import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Conversation, freezeHead } from '../../conversation/conversation.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { endOf, placeBreakpoints, planRequest } from '../../conversation/request.ts';
import { CacheMap, type PlannedRequest } from '../../model/cache/cache-map.ts';
import { PRICES } from '../../model/prices.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { LaunchMode } from '../../schema/status.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { LaunchGate } from './launch.ts';

function talk(task: string, words = 20_000): Conversation {
  const text = (value: string) => freezeBlock({ type: 'text', text: value });
  const head = freezeHead({
    model: 'claude-sonnet-5',
    thinking: null,
    tools: [],
    system: [text('s'.repeat(words))],
  });
  return new Conversation(head, [{ role: 'user', blocks: [text('rules'), text(task)], shared: 1 }]);
}

interface Child {
  planned: PlannedRequest;
  events: string[];
  gone: boolean;
  pass: Disposable | null;
  done: Promise<void>;
  signal: AbortSignal;
  abort(): void;
}

function nursery(mode: LaunchMode = 'auto') {
  const clock = simulatedClock();
  const cacheMap = new CacheMap();
  const gate = new LaunchGate({ mode, cacheMap, clock, prices: PRICES });
  const order: string[] = [];
  const launch = (task: string, conversation = talk(task), sends = true): Child => {
    const breakpoints = placeBreakpoints(conversation, endOf([]));
    const abort = new AbortController();
    const events: string[] = [];
    const child: Child = {
      planned: planRequest(conversation, breakpoints, clock.now()),
      events,
      gone: false,
      pass: null,
      done: Promise.resolve(),
      signal: abort.signal,
      abort: () => abort.abort(),
    };
    const admitted = gate.admit({
      conversation,
      breakpoints,
      stays: false,
      signal: abort.signal,
      record: (event) => {
        events.push(event.type === 'launch.decided' ? event.choice : event.status);
        if (event.type === 'launch.decided' && event.choice === 'released') order.push(task);
      },
    });
    child.done = admitted.then((pass) => {
      child.gone = true;
      child.pass = pass;
      if (sends) cacheMap.requestStarted(child.planned);
    });
    child.done.catch(() => undefined);
    return child;
  };
  /** The request came to nothing, as the exchange does it. */
  const fail = (child: Child): void => {
    cacheMap.requestFailed(child.planned);
    child.pass?.[Symbol.dispose]();
  };
  return { clock, cacheMap, gate, order, launch, fail };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('LAUNCH-1: a lead and those who follow', () => {
  test('the first writes, the others wait until its response begins and then go together, in order', async () => {
    const { cacheMap, clock, order, launch } = nursery();
    const [lead, ...others] = [launch('a'), launch('b'), launch('c'), launch('d')];
    await settled();
    expect([lead?.gone, ...others.map(({ gone }) => gone)]).toEqual([true, false, false, false]);
    if (lead !== undefined) cacheMap.responseBegan(lead.planned);
    expect(order).toEqual(['b', 'c', 'd']); // within the call that told, before anything else runs
    await Promise.all(others.map(({ done }) => done));
    expect(lead?.events).toEqual(['lead']);
    expect(others[0]?.events).toEqual(['follow', 'waiting', 'released', 'running']);
    expect(others.map(({ pass }) => pass)).toEqual([null, null, null]);
    expect(clock.due()).toEqual([]);
  });

  test('who comes when the prefix is warm does not wait', async () => {
    const { cacheMap, launch } = nursery();
    const lead = launch('a');
    await lead.done;
    cacheMap.responseBegan(lead.planned);
    lead.pass?.[Symbol.dispose]();
    const late = launch('b');
    await late.done;
    expect(late.events).toEqual(['at_once']);
  });

  test('a lead that fails passes the lead to the first in line, and the others keep waiting', async () => {
    const { cacheMap, launch, fail } = nursery();
    const [lead, second, third] = [launch('a'), launch('b'), launch('c')];
    await settled();
    fail(lead);
    await settled();
    expect(second.events).toEqual(['follow', 'waiting', 'lead', 'running']);
    expect(third.gone).toBe(false);
    cacheMap.responseBegan(second.planned);
    await third.done;
    expect(third.events.at(-2)).toBe('released');
  });

  test('a lead that ends before its request was sent passes the lead on too', async () => {
    const { launch } = nursery();
    const [lead, second] = [launch('a', talk('a'), false), launch('b')];
    await settled();
    lead.pass?.[Symbol.dispose]();
    await settled();
    expect(second.events).toEqual(['follow', 'waiting', 'lead', 'running']);
  });

  test('a failed lead that tries again follows the one that leads meanwhile', async () => {
    const { launch, fail } = nursery();
    const [lead, second] = [launch('a'), launch('b')];
    await settled();
    fail(lead);
    const again = launch('a');
    await settled();
    expect(second.events).toContain('lead');
    expect(again.events).toEqual(['follow', 'waiting']);
  });

  test('a silent lead holds nobody longer than the limit, and who comes later is not held at all', async () => {
    const { clock, gate, launch } = nursery();
    gate.firstTokens.note('claude-sonnet-5', 900);
    const [, second] = [launch('a'), launch('b')];
    await clock.advance(1_799);
    expect(second.gone).toBe(false);
    await clock.advance(1);
    expect(second.gone).toBe(true);
    const late = launch('c');
    await late.done;
    expect(late.events).toEqual(['at_once']);
    expect(clock.due()).toEqual([]);
  });

  test('the limit counts from the start of the lead, and again when the lead passes on', async () => {
    const { clock, launch, fail } = nursery();
    const lead = launch('a');
    await clock.advance(2_000);
    const [second, third] = [launch('b'), launch('c')];
    await settled();
    expect(clock.due()).toEqual([5_000]);
    fail(lead);
    await settled();
    expect(second.gone).toBe(true);
    expect(clock.due()).toEqual([7_000]);
    await clock.advance(5_000);
    expect(third.gone).toBe(true);
  });

  test('an aborted follower leaves at once; the last one takes the timer along', async () => {
    const { clock, launch } = nursery();
    const [, second, third] = [launch('a'), launch('b'), launch('c')];
    await settled();
    second.abort();
    await expect(second.done).rejects.toBeInstanceOf(Cancelled);
    expect(clock.due()).toHaveLength(1);
    third.abort();
    await expect(third.done).rejects.toBeInstanceOf(Cancelled);
    expect(clock.due()).toEqual([]);
  });

  test('nobody who has gone leaves a listener behind', async () => {
    const { cacheMap, launch, fail } = nursery();
    const children = [launch('a'), launch('b'), launch('c')];
    await settled();
    if (children[0] !== undefined) fail(children[0]);
    await settled();
    if (children[1] !== undefined) cacheMap.responseBegan(children[1].planned);
    await Promise.all(children.map(({ done }) => done));
    expect(children.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  test('an agent that is aborted already does not come in', async () => {
    const { cacheMap, clock } = nursery();
    const gate = new LaunchGate({ mode: 'auto', cacheMap, clock, prices: PRICES });
    const conversation = talk('a');
    const signal = AbortSignal.abort();
    await expect(
      gate.admit({ conversation, breakpoints: [], stays: false, signal, record: () => undefined }),
    ).rejects.toBeInstanceOf(Cancelled);
  });

  test('a prefix that a request without a pass writes is waited for as well, and inherited when that fails', async () => {
    const { cacheMap, clock, launch } = nursery();
    const conversation = talk('main');
    const foreign = planRequest(conversation, placeBreakpoints(conversation, null), clock.now());
    cacheMap.requestStarted(foreign);
    const [one, two] = [launch('a'), launch('b')];
    await settled();
    expect(one.events).toEqual(['follow', 'waiting']);
    cacheMap.requestFailed(foreign);
    await settled();
    expect(one.events.at(-2)).toBe('lead');
    expect(two.gone).toBe(false);
  });

  test('in parallel and below the minimum all go at once', async () => {
    for (const [mode, words] of [
      ['parallel', 20_000],
      ['auto', 2_000],
    ] as const) {
      const { launch } = nursery(mode);
      const children = ['a', 'b', 'c'].map((task) => launch(task, talk(task, words)));
      await Promise.all(children.map(({ done }) => done));
      expect(children.map(({ events }) => events)).toEqual([['at_once'], ['at_once'], ['at_once']]);
    }
  });

  test('agents with other prefixes do not wait for each other', async () => {
    const { launch } = nursery();
    const children = [launch('a'), launch('b', talk('b', 30_000))];
    await Promise.all(children.map(({ done }) => done));
    expect(children.map(({ events }) => events)).toEqual([['lead'], ['lead']]);
  });
});
