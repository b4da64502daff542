import { describe, expect, test } from 'vitest';
import { startSiblings } from '../../../test/fixtures/siblings.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { ChildHandle } from './child-handle.ts';

const RESULT: AgentResult = {
  status: 'done',
  cause: null,
  message: null,
  text: 'done',
  turns: 1,
  usage: NO_USAGE,
  costUsd: 0,
  durationMs: 1,
};

describe('AGENT-7: the handle of a child', () => {
  test('reaches the child while it lives', async () => {
    const child = (await startSiblings()).child('task');
    const over = Promise.withResolvers<void>();
    const handle = new ChildHandle(child, 'parent', {}, async () => {
      await over.promise;
      return RESULT;
    });
    const isHeard = handle.steer('hear this');
    handle.cancel();
    handle.detach();
    await handle.detached;
    expect(isHeard()).toBe(false);
    expect(child.inbox.items.map(({ kind }) => kind)).toEqual(['message', 'cancel']);
    expect(handle.inBackground).toBe(true);
    child.takeFromInbox(({ kind }) => kind === 'message', null);
    expect(isHeard()).toBe(true);
    over.resolve();
    expect(await handle.result).toBe(RESULT);
  });

  test('does nothing once the child has ended, and no longer follows who waited for it', async () => {
    const child = (await startSiblings()).child('task');
    const waiting = new AbortController();
    let ending: AbortSignal | null = null;
    const handle = new ChildHandle(child, 'parent', { signal: waiting.signal }, async (own, signal) => {
      ending = signal;
      own.ended();
      return RESULT;
    });
    await handle.result;
    expect(handle.steer('hear this')()).toBe(false);
    handle.cancel();
    handle.detach();
    handle.stop('late');
    waiting.abort();
    expect(child.inbox.size).toBe(0);
    expect(handle.inBackground).toBe(false);
    expect(ending).toMatchObject({ aborted: false });
  });

  test('ends the child with who waits for it, and no more once it is detached', async () => {
    const child = (await startSiblings()).child('task');
    const waiting = new AbortController();
    const signals: AbortSignal[] = [];
    const handles = [1, 2].map(
      () =>
        new ChildHandle(child, 'parent', { signal: waiting.signal }, async (_, signal) => {
          signals.push(signal);
          return RESULT;
        }),
    );
    await Promise.all(handles.map(({ result }) => result));
    handles[1]?.detach();
    waiting.abort('stopped');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(signals[0]?.reason).toBe('stopped');
  });
});
