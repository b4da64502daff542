/** Each title is the documented rule in our words; numbers are tokens. */
import { describe, expect, test } from 'vitest';
import { type CacheAdmission, PromptCache } from './cache.ts';
import { parseRequest } from './message-request.ts';
import { buildPrompt, type PromptOrigin } from './prompt.ts';

type Block = Record<string, unknown>;

const MINUTE = 60_000;
const short = { cache_control: { type: 'ephemeral' } };
const long = { cache_control: { type: 'ephemeral', ttl: '1h' } };

/** A text block of exactly `tokens` tokens; `fill` tells blocks of one size apart. */
function text(tokens: number, fill = 'x', mark: Block = {}): Block {
  return { type: 'text', text: fill.repeat(tokens * 4 - '{"type":"text","text":""}'.length), ...mark };
}

function user(...content: Block[]): Block {
  return { role: 'user', content };
}

function tool(name: string, tokens: number, mark: Block = {}): Block {
  const overhead = JSON.stringify({ name, description: '', input_schema: {} }).length;
  return { name, description: 'd'.repeat(tokens * 4 - overhead), input_schema: {}, ...mark };
}

/** Twenty-five blocks or so of ten tokens, the marks at the given positions. */
function run(length: number, ...marked: number[]): Block {
  return user(...Array.from({ length }, (_, at) => text(10, 'r', marked.includes(at) ? short : {})));
}

class Account {
  readonly #cache = new PromptCache();

  admit(fields: Block, at = 0, origin: Partial<PromptOrigin> = {}): CacheAdmission {
    const body = JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 9, ...fields });
    const prompt = buildPrompt(parseRequest(body, { counting: false }), { key: 'k', betas: [], ...origin });
    return this.#cache.admit(prompt, at);
  }

  begin(admission: CacheAdmission): void {
    this.#cache.begin(admission);
  }

  /** Asks, begins the response, and says [read, written for 5 min, written for 1 h, input]. */
  ask(fields: Block, at = 0, origin: Partial<PromptOrigin> = {}): [number, number, number, number] {
    const admission = this.admit(fields, at, origin);
    this.begin(admission);
    return summary(admission);
  }
}

function summary({ usage }: CacheAdmission): [number, number, number, number] {
  expect(usage.cache_creation_input_tokens).toBe(
    usage.cache_creation.ephemeral_5m_input_tokens + usage.cache_creation.ephemeral_1h_input_tokens,
  );
  return [
    usage.cache_read_input_tokens,
    usage.cache_creation.ephemeral_5m_input_tokens,
    usage.cache_creation.ephemeral_1h_input_tokens,
    usage.input_tokens,
  ];
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
