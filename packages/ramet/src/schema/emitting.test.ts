import { describe, expect, test } from 'vitest';
import { drain } from '../../test/fixtures/engine.ts';
import { emitting } from './generators.ts';

const settle = (): Promise<void> => new Promise(setImmediate);
const stay = (): void => {};

describe('LIB-1: what work tells, as one generator', () => {
  test('events come in order, also those emitted at once and in bursts, then the value', async () => {
    const work = async (emit: (event: number) => void): Promise<string> => {
      emit(1);
      emit(2);
      await settle();
      emit(3);
      await null;
      emit(4);
      return 'done';
    };
    expect(await drain(emitting(work, stay))).toEqual({ events: [1, 2, 3, 4], result: 'done' });
  });

  test('an error comes after the events before it', async () => {
    const seen: number[] = [];
    const events = emitting<number, void>(async (emit) => {
      emit(1);
      throw new Error('no');
    }, stay);
    const read = async (): Promise<void> => {
      for await (const event of events) seen.push(event);
    };
    await expect(read()).rejects.toThrow('no');
    expect(seen).toEqual([1]);
  });

  test('nothing begins before the first event is asked for', async () => {
    let begun = false;
    const events = emitting<number, void>(async () => {
      begun = true;
    }, stay);
    await settle();
    expect(begun).toBe(false);
    await events.next();
    expect(begun).toBe(true);
  });

  test('a reader that stays away holds up nothing, and finds everything in order', async () => {
    const ended = Promise.withResolvers<void>();
    const work = async (emit: (event: number) => void): Promise<string> => {
      for (let count = 1; count <= 1_000; count += 1) {
        emit(count);
        if (count % 100 === 0) await settle();
      }
      ended.resolve();
      return 'done';
    };
    const events = emitting(work, stay);
    expect(await events.next()).toEqual({ done: false, value: 1 });
    await ended.promise;
    const rest = Array.from({ length: 999 }, (_, index) => index + 2);
    expect(await drain(events)).toEqual({ events: rest, result: 'done' });
  });

  test('RES-5: a reader that leaves abandons the work, and has left when that has ended', async () => {
    const gate = Promise.withResolvers<void>();
    const log: string[] = [];
    const work = async (emit: (event: string) => void): Promise<void> => {
      emit('first');
      await gate.promise;
      await settle();
      emit('nobody reads it');
      log.push('ended');
    };
    const events = emitting(work, () => {
      log.push('abandoned');
      gate.resolve();
    });
    for await (const _ of events) break;
    expect(log).toEqual(['abandoned', 'ended']);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test('a reader that leaves after the end abandons nothing', async () => {
    const log: string[] = [];
    const work = async (emit: (event: string) => void): Promise<void> => {
      for (const event of ['one', 'two']) emit(event);
      log.push('ended');
    };
    for await (const _ of emitting(work, () => log.push('abandoned'))) break;
    expect(log).toEqual(['ended']);
  });
});
