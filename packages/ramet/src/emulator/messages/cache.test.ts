/** Each title is the documented rule in our words; numbers are tokens. */
import { describe, expect, test } from 'vitest';
import { Account, type Block, long, short, text, tool, user } from '../../../test/fixtures/cache-account.ts';

/** Blocks of ten tokens, the marks at the given positions. */
function run(length: number, ...marked: number[]): Block {
  return user(...Array.from({ length }, (_, at) => text(10, 'r', marked.includes(at) ? short : {})));
}

describe('EMU-2: what is cached', () => {
  test('nothing without a mark', () => {
    const account = new Account();
    const request = { messages: [user(text(5000))] };
    expect(account.ask(request)).toEqual([0, 0, 0, 5000]);
    expect(account.ask(request)).toEqual([0, 0, 0, 5000]);
  });

  test('a mark covers everything up to and including its block, in the order tools, system, messages', () => {
    const account = new Account();
    const request = {
      messages: [user(text(300))],
      system: [text(1000, 's', short)],
      tools: [tool('a', 200)],
    };
    expect(account.ask(request)).toEqual([0, 1200, 0, 300]);
    expect(account.ask(request)).toEqual([1200, 0, 0, 300]);
  });

  test('input_tokens counts only what stands after the last mark', () => {
    const account = new Account();
    account.ask({ messages: [user(text(2000, 'a', short))] });
    const grown = { messages: [user(text(2000, 'a'), text(500, 'b', short), text(70, 'c'))] };
    expect(account.ask(grown)).toEqual([2000, 500, 0, 70]);
  });

  test('a mark itself does not change what is cached, and null is no mark', () => {
    const account = new Account();
    account.ask({ messages: [user(text(2000, 'a', short))] });
    const moved = { messages: [user(text(2000, 'a', { cache_control: null }), text(100, 'b', short))] };
    expect(account.ask(moved)).toEqual([2000, 100, 0, 0]);
  });

  test('tokens are bytes of JSON over four, so characters outside ASCII count more', () => {
    const account = new Account();
    expect(account.ask({ messages: [user({ type: 'text', text: 'é'.repeat(8) })] })).toEqual([0, 0, 0, 10]);
  });

  test('a string equals one text block, and messages of one role are one turn', () => {
    const account = new Account();
    const words = 'w'.repeat(8000);
    account.ask({ system: words, messages: [{ role: 'user', content: words }, user(text(10, 'z', short))] });
    const same = {
      system: [{ type: 'text', text: words }],
      messages: [user({ type: 'text', text: words }, text(10, 'z', short))],
    };
    expect(account.ask(same)[1]).toBe(0);
  });
});

describe('EMU-2: writing only at marks, reading earlier writes', () => {
  test('no entry is written at positions between marks, however stable their content', () => {
    const account = new Account();
    account.ask({ messages: [user(text(2000, 'a'), text(2000, 'b', short))] });
    expect(account.ask({ messages: [user(text(2000, 'a', short), text(2000, 'c'))] })).toEqual([
      0, 2000, 0, 2000,
    ]);
  });

  test('the mark itself is the first of 20 positions looked at: 19 back hits, 20 back misses', () => {
    const account = new Account();
    account.ask({ system: text(2000).text, messages: [run(15, 14)] }); // the entry is position 15
    expect(account.ask({ system: text(2000).text, messages: [run(34, 33)] })).toEqual([2150, 190, 0, 0]);
    const other = new Account();
    other.ask({ system: text(2000).text, messages: [run(15, 14)] });
    expect(other.ask({ system: text(2000).text, messages: [run(35, 34)] })).toEqual([0, 2350, 0, 0]);
  });

  test('a second mark opens a window of its own', () => {
    const account = new Account();
    account.ask({ system: text(2000).text, messages: [run(15, 14)] });
    expect(account.ask({ system: text(2000).text, messages: [run(60, 30, 59)] })).toEqual([2150, 450, 0, 0]);
  });

  test('the highest hit of all marks counts', () => {
    const account = new Account();
    account.ask({ system: [text(2000, 's', short)], messages: [user(text(500, 'm', short))] });
    const grown = {
      system: [text(2000, 's', short)],
      messages: [user(text(500, 'm'), text(40, 'n', short))],
    };
    expect(account.ask(grown)).toEqual([2500, 40, 0, 0]);
  });

  test('an edited block is cold from there on, what stands before is not', () => {
    const account = new Account();
    const request = (fill: string) => ({
      system: [text(2000, 's', short)],
      messages: [user(text(500, fill, short))],
    });
    account.ask(request('m'));
    expect(account.ask(request('n'))).toEqual([2000, 500, 0, 0]);
  });

  test('the order of keys in a tool call matters', () => {
    const account = new Account();
    const request = (input: Block) => ({
      system: [text(2000, 's', short)],
      messages: [
        user(text(10)),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'T', input }] },
        user({ type: 'tool_result', tool_use_id: 'a', content: 'r', ...short }),
      ],
    });
    account.ask(request({ x: 1, y: 2 }));
    expect(account.ask(request({ x: 1, y: 2 }))[1]).toBe(0);
    expect(account.ask(request({ y: 2, x: 1 }))[0]).toBe(2000);
  });
});

describe('EMU-2: automatic cache_control', () => {
  test('marks the last block and moves on as the conversation grows', () => {
    const account = new Account();
    account.ask({ ...short, messages: [user(text(2000, 'a'))] });
    const grown = {
      ...short,
      messages: [user(text(2000, 'a')), { role: 'assistant', content: [text(30, 'b')] }, user(text(40, 'c'))],
    };
    expect(account.ask(grown)).toEqual([2000, 70, 0, 0]);
  });

  test('is no-op where the last block carries the same lifetime', () => {
    expect(new Account().ask({ ...long, messages: [user(text(2000, 'a', long))] })).toEqual([0, 0, 2000, 0]);
  });

  test('walks back over blocks that cannot be marked', () => {
    const account = new Account();
    const request = {
      ...short,
      model: 'claude-sonnet-4-5',
      messages: [
        user(text(2000, 'a')),
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] },
      ],
    };
    expect(account.ask(request).slice(0, 3)).toEqual([0, 2000, 0]);
  });
});

describe('EMU-2: a fork', () => {
  test('that sends the same bytes and appends reads all of the parent', () => {
    const account = new Account();
    const shared = [user(text(3000, 'a')), { role: 'assistant', content: [text(100, 'b')] }];
    const [asked] = shared;
    account.ask({ tools: [tool('a', 500)], messages: [asked], ...short });
    const child = (fill: string) => ({
      tools: [tool('a', 500)],
      messages: [...shared, user(text(50, fill, short))],
    });
    expect(account.ask(child('c'))).toEqual([3500, 150, 0, 0]);
    expect(account.ask(child('d'))[0]).toBe(3500);
  });
});
