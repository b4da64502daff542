import { expect, test } from 'vitest';
import { emitting } from '../../schema/generators.ts';

async function drain<E, V>(events: AsyncGenerator<E, V>): Promise<{ seen: E[]; value: V }> {
  const seen: E[] = [];
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return { seen, value: next.value };
    seen.push(next.value);
  }
}

test('events come in order, also those emitted at once and in bursts, then the value', async () => {
  const work = async (emit: (event: number) => void): Promise<string> => {
    emit(1);
    emit(2);
    await new Promise((resolve) => setTimeout(resolve, 5));
    emit(3);
    await null;
    emit(4);
    return 'done';
  };
  expect(await drain(emitting(work))).toEqual({ seen: [1, 2, 3, 4], value: 'done' });
});

test('an error comes after the events before it', async () => {
  const seen: number[] = [];
  const events = emitting<number, void>(async (emit) => {
    emit(1);
    throw new Error('no');
  });
  await expect(
    (async () => {
      for await (const event of events) seen.push(event);
    })(),
  ).rejects.toThrow('no');
  expect(seen).toEqual([1]);
});
