import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../journal/journal.ts';
import { EventBus, observedJournal } from './event-bus.ts';

const event = (type: string): { type: string } => ({ type });

test('UI-1: everybody hears everything in order, until they leave', () => {
  const bus = new EventBus();
  const heard: string[] = [];
  const leave = bus.subscribe(({ type }) => heard.push(`first: ${type}`));
  bus.subscribe(({ type }) => heard.push(`second: ${type}`));
  bus.publish(event('one'));
  leave();
  bus.publish(event('two'));
  expect(heard).toEqual(['first: one', 'second: one', 'second: two']);
});

test('UI-1: a bus knows whether anybody hears it', () => {
  const bus = new EventBus();
  expect(bus.isHeard).toBe(false);
  const leave = bus.subscribe(() => {});
  expect(bus.isHeard).toBe(true);
  leave();
  expect(bus.isHeard).toBe(false);
});

test('LIB-1: what a listener changes is its own: others, and the call that runs, have the event as it was', () => {
  const bus = new EventBus<{ type: string; call: { input: { list: string[] } } }>();
  const input = { list: ['whole'] };
  const heard: unknown[] = [];
  bus.subscribe((told) => {
    told.type = 'changed';
    told.call.input.list[0] = 'cut';
  });
  bus.subscribe((told) => heard.push(told));
  bus.publish({ type: 'tool_started', call: { input } });
  expect(heard).toEqual([{ type: 'tool_started', call: { input: { list: ['whole'] } } }]);
  expect(input).toEqual({ list: ['whole'] });
});

test('SEC-1: a name that means something to JavaScript is copied as any other', () => {
  const bus = new EventBus<{ type: string; input: Record<string, { list: string[] }> }>();
  const input = JSON.parse('{"__proto__":{"list":["whole"]},"constructor":{"list":[]}}');
  let heard: unknown;
  bus.subscribe((told) => {
    heard = structuredClone(told);
    for (const part of Object.values(told.input)) part.list.push('more');
  });
  bus.publish({ type: 'tool_started', input });
  expect(JSON.stringify(heard)).toBe(
    '{"type":"tool_started","input":{"__proto__":{"list":["whole"]},"constructor":{"list":[]}}}',
  );
  expect(JSON.stringify(input)).toBe('{"__proto__":{"list":["whole"]},"constructor":{"list":[]}}');
});

test('LIB-1: a listener that leaves and comes back hears an event once; one that has left hears it not', () => {
  const bus = new EventBus();
  const heard: string[] = [];
  let leave = (): void => {};
  const again = (): void => {
    heard.push('again');
    leave();
    leave = bus.subscribe(again);
    leaveOther();
  };
  leave = bus.subscribe(again);
  const leaveOther = bus.subscribe(() => heard.push('other'));
  bus.publish(event('assistant'));
  expect(heard).toEqual(['again']);
});

describe('LIB-1: a listener that fails', () => {
  let warnings: (Error & { detail?: string })[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  beforeEach(() => {
    warnings = [];
    process.on('warning', note);
  });
  afterEach(() => void process.off('warning', note));
  /** Node emits a warning in the next tick. */
  const ticked = () => new Promise((resolve) => setImmediate(resolve));

  test('harms nobody: the others hear the event, and the process is warned with its stack', async () => {
    const bus = new EventBus();
    const heard: string[] = [];
    bus.subscribe(function broken() {
      throw new Error('no such field');
    });
    bus.subscribe(({ type }) => heard.push(type));
    bus.publish(event('assistant'));
    await ticked();
    expect(heard).toEqual(['assistant']);
    expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      'ListenerWarning: a listener of the session failed at assistant; the agents continue: no such field',
    ]);
    expect(warnings[0]?.detail).toContain('broken');
  });

  test.each([
    ['no text', Object.create(null)],
    ['a message that is no text', Object.assign(new Error('x'), { message: Object.create(null) })],
    [
      'a message that cannot be read',
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('unreadable');
        },
      }),
    ],
  ])('with %s harms nobody either, thrown or rejected', async (_, value) => {
    const bus = new EventBus();
    const heard: string[] = [];
    bus.subscribe(() => {
      throw value;
    });
    bus.subscribe(() => Promise.reject(value));
    bus.subscribe(({ type }) => heard.push(type));
    bus.publish(event('assistant'));
    await ticked();
    expect(heard).toEqual(['assistant']);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('a value without a text was thrown'),
      expect.stringContaining('a value without a text was thrown'),
    ]);
  });

  test('with a promise that rejects is reported too', async () => {
    const bus = new EventBus();
    bus.subscribe(async () => Promise.reject(new Error('later')));
    bus.publish(event('tool_completed'));
    await ticked();
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('failed at tool_completed; the agents continue: later'),
    ]);
  });

  test('in the same way again is reported once, in another way again', async () => {
    const bus = new EventBus();
    let text = 'one';
    bus.subscribe(() => {
      throw text; // not even an error
    });
    for (const next of ['one', 'one', 'two']) {
      text = next;
      bus.publish(event('text_delta'));
    }
    await ticked();
    expect(warnings.map(({ message }) => message.split(': ')[1])).toEqual(['one', 'two']);
  });

  test('to what is recorded does not undo the record', async () => {
    const kept: string[] = [];
    const written: Pick<Journal, 'append'> = { append: (_, { type }) => void kept.push(type) };
    const journal = observedJournal(written as Journal, () => {
      throw new Error('broken view');
    }); // append is all that this test calls
    journal.append(null, { type: 'warning.raised', code: 'x', message: 'y' });
    await ticked();
    expect(kept).toEqual(['warning.raised']);
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('broken view')]);
  });
});
