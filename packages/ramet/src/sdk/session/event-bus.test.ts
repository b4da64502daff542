import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { EventBus } from './event-bus.ts';

const settle = (): Promise<void> => new Promise(setImmediate);

describe('UI-1: the events of a run and of its children', () => {
  test('come in the order in which they happen, and the result at the end', async () => {
    const bus = new EventBus<string>();
    async function* main(): AsyncGenerator<string, number> {
      bus.publish('child 1');
      yield 'main 1';
      bus.publish('child 2');
      bus.publish('child 3');
      await settle();
      yield 'main 2';
      bus.publish('child 4');
      return 7;
    }
    const { result, events } = await drain(bus.during(main(), () => {}));
    expect(events).toEqual(['child 1', 'main 1', 'child 2', 'child 3', 'main 2', 'child 4']);
    expect(result).toBe(7);
  });

  test('children are heard while the run waits', async () => {
    const bus = new EventBus<string>();
    const gate = Promise.withResolvers<void>();
    async function* main(): AsyncGenerator<string, void> {
      await gate.promise;
      yield 'main';
    }
    const events = bus.during(main(), () => {});
    const first = events.next();
    await settle();
    bus.publish('child');
    expect(await first).toEqual({ done: false, value: 'child' });
    gate.resolve();
    expect((await drain(events)).events).toEqual(['main']);
  });

  test('RES-5: a listener that stops ends the run, and stays on no list', async () => {
    const bus = new EventBus<string>();
    const gate = Promise.withResolvers<void>();
    let ended = false;
    async function* main(): AsyncGenerator<string, void> {
      try {
        yield 'main';
        await gate.promise;
      } finally {
        ended = true;
      }
    }
    const events = bus.during(main(), () => gate.resolve());
    await events.next();
    await events.return();
    expect(ended).toBe(true);
    bus.publish('nobody hears it');
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test('an error of the run is thrown where its events are taken', async () => {
    const bus = new EventBus<string>();
    // biome-ignore lint/correctness/useYield: it breaks before it says anything
    async function* main(): AsyncGenerator<string, void> {
      throw new Error('broken');
    }
    await expect(drain(bus.during(main(), () => {}))).rejects.toThrow('broken');
  });

  test('a listener that has left hears nothing more', () => {
    const bus = new EventBus<string>();
    const heard: string[] = [];
    const leave = bus.subscribe((event) => heard.push(event));
    bus.publish('one');
    leave();
    bus.publish('two');
    expect(heard).toEqual(['one']);
  });
});
