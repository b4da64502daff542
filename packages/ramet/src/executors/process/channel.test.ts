import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { Cancelled, ModelError } from '../../schema/errors.ts';
import { onAbort } from '../../system/on-abort.ts';
import { Channel, LINE_LOST, type ProcessPort } from './channel.ts';

interface OneWay {
  sent: string;
  received: string;
  calls: { echo: { asks: unknown; answer: unknown } };
  answers: { echo: { asks: unknown; answer: unknown } };
}

/** Two ends of one line, joined in this process. */
function line(echo: (body: unknown, signal: AbortSignal) => Promise<unknown> = async (body) => body) {
  const spool = temporaryDirectory();
  const heard: string[] = [];
  const broken: string[] = [];
  const frames: unknown[] = [];
  const takers: ((frame: unknown) => void)[] = [];
  const port = (own: number): ProcessPort => ({
    send(frame) {
      frames.push(frame);
      setImmediate(() => takers[1 - own]?.(frame));
    },
    onFrame(take) {
      takers[own] = take;
    },
  });
  const open = (own: number): Channel<OneWay> =>
    new Channel<OneWay>(port(own), {
      spool,
      onNotice: (notice) => void heard.push(notice),
      answers: { echo },
      onBroken: (reason) => void broken.push(reason),
    });
  const [near, far] = [open(0), open(1)];
  return { near, far, heard, broken, frames, spool, deliver: (frame: unknown) => takers[1]?.(frame) };
}

describe('EXEC-2: the line between an agent’s process and its host', () => {
  test('keeps the order of all that is said, and sends what is said at once together', async () => {
    const { near, heard, frames } = line(async () => heard.join());
    near.post('one');
    near.post('two');
    const answer = near.call('echo', null);
    near.post('three');
    expect(await answer).toBe('one,two,three');
    expect(frames).toHaveLength(2);
  });

  test('carries errors with what is decided by them', async () => {
    const refused = new ModelError('rate_limit', 'retryable', 'slow down', { status: 429, retryAfterMs: 9 });
    const failing = line(() => Promise.reject(refused)).near.call('echo', null);
    await expect(failing).rejects.toMatchObject({ name: 'ModelError', family: 'retryable', retryAfterMs: 9 });
    await expect(failing).rejects.toBeInstanceOf(ModelError);
  });

  test('passes an abort on, with its reason', async () => {
    const { near } = line(
      (_, signal) =>
        new Promise((_, fail) => {
          onAbort(signal, () => fail(new Cancelled(String(signal.reason))));
        }),
    );
    const abort = new AbortController();
    const waiting = near.call('echo', null, abort.signal);
    abort.abort('enough');
    await expect(waiting).rejects.toThrow('enough');
  });

  test('sends what is over a megabyte through a private file, and leaves none', async () => {
    const { near, frames, spool } = line();
    const body = Buffer.alloc(3 << 20, 'x');
    expect(await near.call('echo', body)).toEqual(body);
    expect(frames.map((frame) => typeof frame)).toEqual(['string', 'string']);
    expect(readdirSync(spool)).toEqual([]);
  });

  test('rejects what was asked when it is closed, and calls off what is being answered', async () => {
    const reasons: unknown[] = [];
    const { near, far } = line(async (_, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      reasons.push(signal.reason);
    });
    const asked = near.call('echo', null);
    for (let step = 0; step < 5; step++) await new Promise(setImmediate);
    near.close('gone');
    far.close('gone too');
    await expect(asked).rejects.toThrow('gone');
    await far.settled();
    expect(reasons).toEqual([LINE_LOST]);
    await expect(near.call('echo', null)).rejects.toThrow('gone');
  });

  test.each<[string, unknown, string]>([
    ['a text', 'hello', 'it sent no frame'],
    ['a path', '../../etc/passwd', 'it sent no frame'],
    ['a number', 7, 'it sent no frame'],
    ['bytes of nobody', Buffer.from('nonsense'), 'deserializ'],
    ['no list', serialize({ kind: 'notice' }), 'it sent no messages'],
    ['a message of no kind', serialize([{ kind: 'shout' }]), 'no known kind'],
    ['no message', serialize([null]), 'null'],
    [
      'a call that there is not',
      serialize([{ kind: 'call', id: 1, method: 'constructor' }]),
      'which there is not',
    ],
    ['a file that is not there', 'frame-absent', 'ENOENT'],
  ])('notices %s', (_, frame, reason) => {
    const { broken, deliver } = line();
    deliver(frame);
    expect(broken).toEqual([expect.stringContaining(reason)]);
  });

  test('notices what cannot be sent, such as for want of room, and harms nobody else', async () => {
    const { near, broken } = line();
    near.post(Object.assign(() => {}, { toString: () => 'a function' }) as unknown as string); // no caller of ours could
    await new Promise(setImmediate);
    expect(broken).toEqual([expect.stringContaining('cannot be sent')]);
  });

  test('takes no more calls at once than anybody could mean', () => {
    const { broken, deliver } = line(() => new Promise(() => {}));
    const calls = Array.from({ length: 10_001 }, (_, id) => ({ kind: 'call', id, method: 'echo' }));
    deliver(serialize(calls));
    expect(broken).toEqual(['it asks for too much at once']);
  });

  test('reads only files that are its own', () => {
    const { broken, deliver, spool } = line();
    writeFileSync(join(spool, 'other'), serialize([]));
    deliver('other');
    expect(broken).toEqual(['it sent no frame']);
    expect(readdirSync(spool)).toEqual(['other']);
  });
});
