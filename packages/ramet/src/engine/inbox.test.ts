import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Inbox, type InboxItem } from './inbox.ts';

const item = (name: string, kind: InboxItem['kind'] = 'notification'): InboxItem => ({
  item: name,
  kind,
  from: null,
  blocks: [],
});

describe('AGENT-7: what has come for an agent', () => {
  test('is taken in order, once', () => {
    const inbox = new Inbox();
    for (const name of ['a', 'b', 'c']) inbox.put(item(name));
    expect(inbox.take(({ item }) => item === 'b').map(({ item }) => item)).toEqual(['b']);
    expect(inbox.size).toBe(2);
    expect(inbox.takeAll().map(({ item }) => item)).toEqual(['a', 'c']);
    expect(inbox.takeAll()).toEqual([]);
  });

  test('tells whether somebody said something', () => {
    const inbox = new Inbox();
    inbox.put(item('a', 'cancel'));
    expect(inbox.hasMessages).toBe(false);
    inbox.put(item('b', 'message'));
    expect(inbox.hasMessages).toBe(true);
  });

  test('wakes everybody who waits for it, and leaves nothing on their signals', async () => {
    const inbox = new Inbox();
    const abort = new AbortController();
    const waiting = [inbox.arrival(abort.signal), inbox.arrival(abort.signal)];
    inbox.put(item('a'));
    await Promise.all(waiting);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    await inbox.arrival(abort.signal);
  });

  test('wakes who is interrupted, at once when that was before', async () => {
    const inbox = new Inbox();
    const abort = new AbortController();
    const waiting = inbox.arrival(abort.signal);
    abort.abort();
    await waiting;
    await inbox.arrival(abort.signal);
    expect(inbox.size).toBe(0);
  });

  test('an interrupted wait does not keep a later one from waiting', async () => {
    const inbox = new Inbox();
    const abort = new AbortController();
    const first = inbox.arrival(abort.signal);
    abort.abort();
    await first;
    let woken = false;
    const second = inbox.arrival(new AbortController().signal).then(() => {
      woken = true;
    });
    await new Promise(setImmediate);
    expect(woken).toBe(false);
    inbox.put(item('a'));
    await second;
  });
});
