import { describe, expect, test } from 'vitest';
import { LeadingStart } from './leading-start.ts';

const never: Promise<never> = new Promise(() => {});

describe('the first start of a run', () => {
  test.each(['it works', 'it fails'])('is alone until its end: %s', async (how) => {
    const started: string[] = [];
    const first = Promise.withResolvers<void>();
    const lead = new LeadingStart(() => never);
    const leading = lead.run(() => first.promise);
    const others = ['second', 'third'].map((name) => lead.run(async () => started.push(name)));
    await new Promise(setImmediate);
    expect(started).toEqual([]);
    if (how === 'it works') first.resolve();
    else first.reject(new Error('broken'));
    await Promise.all(others);
    expect(started).toEqual(['second', 'third']);
    expect((await Promise.allSettled([leading]))[0]?.status).toBe(
      how === 'it works' ? 'fulfilled' : 'rejected',
    );
  });

  test('holds nobody if it takes long', async () => {
    const lead = new LeadingStart(() => Promise.resolve());
    void lead.run(() => never);
    expect(await lead.run(async () => 'second')).toBe('second');
  });
});
