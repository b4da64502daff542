import { closeSync, openSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Cancelled } from '../schema/errors.ts';
import { simulatedClock } from '../testing/simulated-clock.ts';
import { bringsInput, FIRST_BYTE_MS, joinPrompt, MOST_BYTES, readPiped } from './piped-input.ts';

const signal = new AbortController().signal;

describe('UI-4: standard input', () => {
  test('is read to its end, and a character cut between two chunks stays whole', async () => {
    const bytes = Buffer.from('Grüße');
    const input = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]);
    expect(await readPiped(input, { signal })).toBe('Grüße');
  });

  test('that nobody writes to and nobody closes is given up after a while, and closed', async () => {
    const clock = simulatedClock();
    const input = new PassThrough();
    const read = readPiped(input, { signal, clock, firstByteMs: FIRST_BYTE_MS });
    await clock.whenSleeping();
    await clock.advance(FIRST_BYTE_MS);
    expect(await read).toBeNull();
    expect(input.destroyed).toBe(true);
  });

  test('that has begun in time is waited for, however long it takes', async () => {
    const clock = simulatedClock();
    const input = new PassThrough();
    const read = readPiped(input, { signal, clock, firstByteMs: FIRST_BYTE_MS });
    await clock.whenSleeping();
    input.write('slow ');
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(100 * FIRST_BYTE_MS);
    input.end('end');
    expect(await read).toBe('slow end');
    expect(clock.due()).toEqual([]);
  });

  test('that is empty leaves nothing waiting', async () => {
    const clock = simulatedClock();
    expect(await readPiped(Readable.from([]), { signal, clock, firstByteMs: FIRST_BYTE_MS })).toBe('');
    expect(clock.due()).toEqual([]);
  });

  test('that is too large for any prompt is refused with what to do', async () => {
    const half = Buffer.alloc(MOST_BYTES / 2, 'a');
    expect((await readPiped(Readable.from([half, half]), { signal }))?.length).toBe(MOST_BYTES);
    await expect(readPiped(Readable.from([half, half, 'b']), { signal })).rejects.toThrow(
      /^standard input is larger than 4 MiB, .*write it to a file/,
    );
  });

  test.for([undefined, FIRST_BYTE_MS])('that is interrupted says so (%s)', async (firstByteMs) => {
    const stop = new AbortController();
    const options = firstByteMs === undefined ? {} : { firstByteMs, clock: simulatedClock() };
    const read = readPiped(new PassThrough(), { signal: stop.signal, ...options });
    stop.abort('SIGINT');
    await expect(read).rejects.toThrow(Cancelled);
    await expect(read).rejects.toThrow('interrupted (SIGINT)');
  });

  test('counts where it is a file or a pipe, and not where it is a device or closed', () => {
    const file = openSync(import.meta.filename, 'r');
    const device = openSync('/dev/null', 'r');
    expect(bringsInput(file)).toBe(true);
    expect(bringsInput(device)).toBe(false);
    closeSync(file);
    closeSync(device);
    expect(bringsInput(9_999)).toBe(false);
  });

  test.for([
    ['review this', 'diff --git\n', 'review this\n\ndiff --git'],
    ['review this', ' \n', 'review this'],
    ['', ' what to do\n', 'what to do'],
    ['review this', '  indented\n', 'review this\n\n  indented'],
  ])('%j joined with %j is %j', ([argument = '', piped = '', prompt]) => {
    expect(joinPrompt(argument, piped)).toBe(prompt);
  });
});
