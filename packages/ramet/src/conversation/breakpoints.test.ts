import { describe, expect, test } from 'vitest';
import { type InputUsage, PromptCache } from '../emulator/messages/cache.ts';
import { parseRequest } from '../emulator/messages/message-request.ts';
import { buildPrompt } from '../emulator/messages/prompt.ts';
import type { Breakpoint } from '../schema/events.ts';
import { type BlockPosition, Conversation, freezeHead } from './conversation.ts';
import { type FrozenBlock, freezeBlock, freezeTool } from './frozen-block.ts';
import { endOf, placeBreakpoints, requestBody } from './request.ts';

const filler = 'x'.repeat(8_000);
const text = (value: string): FrozenBlock => freezeBlock({ type: 'text', text: value });

function parentOf(): Conversation {
  const head = freezeHead({
    model: 'claude-sonnet-5',
    thinking: null,
    tools: [freezeTool({ name: 'Agent', description: filler, input_schema: { type: 'object' } })],
    system: [text(`system ${filler}`)],
  });
  const first = [text(`rules ${filler}`), text('today'), text('do it')];
  return new Conversation(head, [{ role: 'user', blocks: first, shared: 1 }]);
}

/** The model calls `count` tools, and all are answered. */
function work(subject: Conversation, count: number): void {
  const ids = Array.from({ length: count }, (_, index) => `call${subject.messages.length}x${index}`);
  const calls = ids.map((id) => freezeBlock({ type: 'tool_use', id, name: 'Agent', input: {} }));
  const results = ids.map((id) =>
    freezeBlock({ type: 'tool_result', tool_use_id: id, content: `result ${filler.slice(0, 200)}` }),
  );
  subject.append({ role: 'assistant', blocks: calls, shared: 0 });
  subject.append({ role: 'user', blocks: results, shared: 0 });
}

/** A provider's cache with exact accounting; `ask` sends, lets the response begin, and says what was read. */
function provider() {
  const cache = new PromptCache();
  return {
    ask(subject: Conversation, breakpoints: readonly Breakpoint[]): InputUsage & { marked: number } {
      const body = requestBody(subject, { breakpoints, maxTokens: 100 }).toString();
      const prompt = buildPrompt(parseRequest(body, { counting: false }), { key: 'k', betas: [] });
      const admission = cache.admit(prompt, 0);
      cache.begin(admission);
      const marked = prompt.positions[prompt.marks.at(-1)?.position ?? -1]?.tokens ?? 0;
      return { ...admission.usage, marked };
    },
  };
}

describe('FORK-7: the next request finds what the last one wrote', () => {
  for (const results of [1, 20, 50, 200]) {
    test(`after ${results} results the parent reads all of its former prefix`, () => {
      const { ask } = provider();
      const subject = parentOf();
      let previous: BlockPosition | null = null;
      for (let turn = 0, written = 0; turn < 3; turn++) {
        const marks = placeBreakpoints(subject, previous);
        const usage = ask(subject, marks);
        expect(usage.cache_read_input_tokens).toBe(written);
        expect(usage.input_tokens).toBe(0);
        previous = endOf(marks);
        written = usage.marked;
        work(subject, results);
      }
    });
  }
});

describe('FORK-7: forks read their parent and share their tail', () => {
  /** A parent after a turn of `results` results that then asks for two forks. */
  function family(results: number) {
    const account = provider();
    const parent = parentOf();
    const first = placeBreakpoints(parent, null);
    account.ask(parent, first);
    work(parent, results);
    const second = placeBreakpoints(parent, endOf(first));
    const written = account.ask(parent, second).marked;
    const calls = ['fork1', 'fork2'].map((id) =>
      freezeBlock({ type: 'tool_use', id, name: 'Agent', input: {} }),
    );
    parent.append({ role: 'assistant', blocks: calls, shared: 0 });
    const forkFor = (task: string): Conversation => {
      const fork = parent.fork();
      const placeholders = ['fork1', 'fork2'].map((id) =>
        freezeBlock({ type: 'tool_result', tool_use_id: id, content: 'started' }),
      );
      const blocks = [...placeholders, text(`directive ${filler}`), text(task)];
      fork.append({ role: 'user', blocks, shared: 3 });
      return fork;
    };
    return { account, parent, forkFor, previousEnd: endOf(second), written };
  }

  for (const results of [20, 50]) {
    test(`after ${results} results a fork reads all of the parent, its sibling the tail too`, () => {
      const { account, forkFor, previousEnd, written } = family(results);
      const [one, two] = [forkFor('task one'), forkFor('task two')];
      const first = account.ask(one, placeBreakpoints(one, previousEnd));
      expect(first.cache_read_input_tokens).toBe(written);
      const marks = placeBreakpoints(two, previousEnd);
      const second = account.ask(two, marks);
      const task = two.bytesAt(two.indexOf({ message: 4, block: 3 })) / 4;
      const tail = Math.floor(two.bytesAt(two.indexOf({ message: 4, block: 2 })) / 4);
      expect(second.cache_read_input_tokens).toBe(tail);
      expect(second.cache_creation_input_tokens).toBe(Math.floor(task) - tail);
      work(two, results);
      expect(account.ask(two, placeBreakpoints(two, endOf(marks))).cache_read_input_tokens).toBe(
        second.marked,
      );
    });
  }

  test('the shared tail is the last one: the parent has one of its own in its first message', () => {
    const { forkFor, previousEnd } = family(20);
    expect(placeBreakpoints(forkFor('task'), previousEnd)).toEqual([
      { message: -1, block: 0, ttl: '5m' },
      { message: 2, block: 19, ttl: '5m' },
      { message: 4, block: 2, ttl: '5m' },
      { message: 4, block: 3, ttl: '5m' },
    ]);
  });

  test('FORK-3: an agent that writes nothing for itself marks only what others mark too', () => {
    const { account, forkFor, previousEnd, written } = family(20);
    const [one, two] = [forkFor('task one'), forkFor('task two')];
    account.ask(one, placeBreakpoints(one, previousEnd));
    const marks = placeBreakpoints(two, previousEnd, { skipWrite: true });
    expect(marks.at(-1)).toEqual({ message: 4, block: 2, ttl: '5m' });
    const usage = account.ask(two, marks);
    expect(usage.cache_creation_input_tokens).toBe(0);
    expect(usage.cache_read_input_tokens).toBeGreaterThan(written);
  });
});
