/** Each title is the documented rule in our words; numbers are tokens. */
import { describe, expect, test } from 'vitest';
import {
  Account,
  type Block,
  long,
  short,
  summary,
  text,
  tool,
  user,
} from '../../../test/fixtures/cache-account.ts';

const MINUTE = 60_000;

describe('EMU-2: when an entry can be read', () => {
  const request = { messages: [user(text(2000, 'a', short), text(10, 'b'))] };

  test('requests sent together all miss, because no response has begun', () => {
    const account = new Account();
    const admissions = [1, 2, 3].map(() => account.admit(request));
    expect(admissions.map(summary)).toEqual(Array(3).fill([0, 2000, 0, 10]));
  });

  test('once the first response has begun, the others read', () => {
    const account = new Account();
    const first = account.admit(request, 0);
    expect(summary(account.admit(request, 1))[0]).toBe(0);
    account.begin(first);
    expect(summary(account.admit(request, 2))).toEqual([2000, 0, 0, 10]);
  });

  test('a request that ends before its response begins leaves nothing', () => {
    const account = new Account();
    account.admit(request, 0);
    expect(summary(account.admit(request, MINUTE))[0]).toBe(0);
  });
});

describe('EMU-2: lifetimes', () => {
  const marked = (mark: Block) => ({ messages: [user(text(2000, 'a', mark))] });

  test.each([
    ['5 minutes', short, 5],
    ['1 hour', long, 60],
  ])('an entry lives %s', (_, mark, minutes) => {
    const account = new Account();
    account.ask(marked(mark), 0);
    expect(summary(account.admit(marked(mark), minutes * MINUTE))[0]).toBe(0);
    const other = new Account();
    other.ask(marked(mark), 0);
    expect(other.ask(marked(mark), minutes * MINUTE - 1)[0]).toBe(2000);
  });

  test('the time runs from the start of the writing request, not from its response', () => {
    const account = new Account();
    const slow = account.admit(marked(short), 0);
    account.begin(slow); // four minutes later, as far as the caller is concerned
    expect(summary(account.admit(marked(short), 5 * MINUTE + 1))[0]).toBe(0);
  });

  test('a read refreshes the entry, from the start of the reading request', () => {
    const account = new Account();
    account.ask(marked(short), 0);
    account.ask(marked(short), 4 * MINUTE);
    expect(account.ask(marked(short), 8 * MINUTE)[0]).toBe(2000);
    expect(account.ask(marked(short), 13 * MINUTE)[0]).toBe(0);
  });

  test('a 1 h entry read through a 5 min mark stays a 1 h entry', () => {
    const account = new Account();
    account.ask(marked(long), 0);
    expect(account.ask(marked(short), 30 * MINUTE)).toEqual([2000, 0, 0, 0]);
    expect(account.ask(marked(short), 80 * MINUTE)[0]).toBe(2000);
  });

  test('a 5 min entry read through a 1 h mark stays a 5 min entry', () => {
    const account = new Account();
    account.ask(marked(short), 0);
    expect(account.ask(marked(long), MINUTE)).toEqual([2000, 0, 0, 0]);
    expect(account.ask(marked(long), 7 * MINUTE)[0]).toBe(0);
  });

  test('a mark before the highest hit gets an entry of its own at no charge', () => {
    const account = new Account();
    const request = (mark: Block, last: string) => ({
      system: [text(1500, 's', mark)],
      messages: [user(text(500, last, short))],
    });
    account.ask(request({}, 'm'));
    expect(account.ask(request(short, 'm'))).toEqual([2000, 0, 0, 0]);
    expect(account.ask(request(short, 'n'))).toEqual([1500, 500, 0, 0]);
  });

  test('mixed: read to the highest hit, 1 h write to the last 1 h mark, 5 min write to the last mark', () => {
    const account = new Account();
    const request = (last: string) => ({
      tools: [tool('a', 1100, long)],
      system: [text(700, 's', long)],
      messages: [user(text(300, last, short), text(20, 'q'))],
    });
    expect(account.ask(request('m'), 0)).toEqual([0, 300, 1800, 20]);
    expect(account.ask(request('n'), 6 * MINUTE)).toEqual([1800, 300, 0, 20]);
    const other = new Account();
    other.ask({ tools: [tool('a', 1100, long)], messages: [user(text(7))] }, 0);
    expect(other.ask(request('m'), 1)).toEqual([1100, 300, 700, 20]);
  });
});

describe('EMU-2: shortest prefix', () => {
  test.each([
    ['claude-opus-5', 512],
    ['claude-sonnet-5', 1024],
    ['claude-opus-4-7', 2048],
    ['claude-haiku-4-5-20251001', 4096],
    ['claude-opus-5-5', 1024],
    ['some-other-model', 1024],
  ])('on %s a prefix below %i is silently not cached', (model, minimum) => {
    const account = new Account();
    const request = (tokens: number) => ({ model, messages: [user(text(tokens, 'a', short))] });
    expect(account.ask(request(minimum - 1))).toEqual([0, 0, 0, minimum - 1]);
    expect(account.ask(request(minimum - 1))).toEqual([0, 0, 0, minimum - 1]);
    expect(account.ask(request(minimum))).toEqual([0, minimum, 0, 0]);
    expect(account.ask(request(minimum))).toEqual([minimum, 0, 0, 0]);
  });

  test('a mark on too short a prefix does not hinder a later one', () => {
    const account = new Account();
    const request = { system: [text(100, 's', short)], messages: [user(text(2000, 'a', short))] };
    expect(account.ask(request)).toEqual([0, 2100, 0, 0]);
    expect(account.ask({ ...request, messages: [user(text(2000, 'b', short))] })[0]).toBe(0);
  });
});
