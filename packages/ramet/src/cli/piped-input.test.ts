import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Cancelled } from '../schema/errors.ts';
import { simulatedClock } from '../testing/simulated-clock.ts';
import { FIRST_BYTE_MS, MOST_BYTES, readPiped, SILENCE_MS } from './piped-input.ts';

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

  test('that has begun in time is waited for, and its silence is told once', async () => {
    const clock = simulatedClock();
    const input = new PassThrough();
    let told = 0;
    const onSilence = (): void => {
      told += 1;
    };
    const read = readPiped(input, { signal, clock, firstByteMs: FIRST_BYTE_MS, onSilence });
    await clock.whenSleeping();
    for (const word of ['slow ', 'and ', 'slower ']) {
      input.write(word);
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(FIRST_BYTE_MS);
      await clock.advance(SILENCE_MS - FIRST_BYTE_MS - 1);
    }
    input.end('end');
    expect(await read).toBe('slow and slower end');
    expect([told, clock.due()]).toEqual([1, []]);
  });

  test('that has begun and is silent for very long is refused, and no half of it is a prompt', async () => {
    const clock = simulatedClock();
    const input = new PassThrough();
    const read = readPiped(input, { signal, clock, firstByteMs: FIRST_BYTE_MS });
    const refused = expect(read).rejects.toThrow(
      /^standard input brought 5 bytes, then nothing for 120 seconds/,
    );
    await clock.whenSleeping();
    input.write('half ');
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(FIRST_BYTE_MS);
    await clock.advance(SILENCE_MS);
    await refused;
  });

  test('that is no text is refused', async () => {
    const read = readPiped(Readable.from([Buffer.from('PNG\0\x01')]), { signal });
    await expect(read).rejects.toThrow(/^standard input is no text \(byte 4 is zero\): write it to a file/);
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
});
