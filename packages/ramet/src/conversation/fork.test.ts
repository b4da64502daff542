import { describe, expect, test } from 'vitest';
import {
  Conversation,
  type FrozenMessage,
  forkMessage,
  freezeHead,
  isFork,
  takeForkPoint,
} from './conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock } from './frozen-block.ts';

const text = (value: string): FrozenBlock => freezeBlock({ type: 'text', text: value });

const call = (id: string): FrozenBlock => freezeBlock({ type: 'tool_use', id, name: 'Agent', input: {} });

function conversation(...answer: FrozenBlock[]): Conversation {
  const head = freezeHead({ model: 'm', thinking: null, tools: [], system: [text('You are a test.')] });
  return new Conversation(head, [
    { role: 'user', blocks: [text('Go.')], shared: 0 },
    { role: 'assistant', blocks: answer, shared: 0 },
  ]);
}

const THINKING = freezeBlock({ type: 'thinking', thinking: 'Hm. "x" \\', signature: 'c2ln' });

describe('FORK-2: the message with which a fork begins', () => {
  test('answers every call with one text, then has the rules, then the task, and only that differs', () => {
    const params = takeForkPoint(conversation(THINKING, text('So.'), call('a'), call('b')), null);
    const [one, two] = [forkMessage(params, 'one'), forkMessage(params, 'two')];
    expect(one.blocks.map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'text', 'text']);
    const [first, second] = one.blocks.map(contentOf);
    expect([first?.tool_use_id, second?.tool_use_id]).toEqual(['a', 'b']);
    expect(first?.content).toBe(second?.content);
    expect(one.blocks.slice(0, -1)).toEqual(two.blocks.slice(0, -1));
    expect(one.shared).toBe(3);
    expect(one.blocks.at(-1)?.digest).not.toBe(two.blocks.at(-1)?.digest);
    expect(contentOf(one.blocks.at(-1) as FrozenBlock).text).toContain('one');
  });

  test('has no results where nothing was called: a fork between two prompts', () => {
    const { blocks } = forkMessage(takeForkPoint(conversation(text('Done.')), null), 'x');
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'text']);
  });

  test('FORK-1: what was taken stays as it was when the conversation continues', () => {
    const parent = conversation(call('a'));
    const { prefix } = takeForkPoint(parent, null);
    const { digest } = parent;
    parent.append({ role: 'user', blocks: [text('later')], shared: 0 });
    expect(prefix.digest).toBe(digest);
    expect(prefix.messages).toHaveLength(2);
    expect(Object.isFrozen(takeForkPoint(parent, null))).toBe(true);
  });
});

describe('FORK-6: the directive', () => {
  const { blocks } = forkMessage(takeForkPoint(conversation(call('a')), null), 'x');
  const rules = String(contentOf(blocks.at(-2) as FrozenBlock).text);

  test.for([
    ['that it is a fork and not the main agent', /You are now a fork .* You are not the main agent/],
    ['who works beside it', /Your parent and other forks work at the same time/],
    ['to stay inside the scope', /nothing beyond its scope/],
    ['to use tools directly', /Use your tools directly/],
    ['not to delegate', /Do not delegate/],
    ['not to converse or comment', /Do not converse: no questions, no remarks/],
    ['to begin the report with Scope:', /Begin it with "Scope:"/],
    ['to give structured facts under 500 words', /structured facts only, under 500 words/],
    ['to stop then', /write one report and stop/],
  ] as const)('tells it %s', ([, words]) => {
    expect(rules).toMatch(words);
  });
});

describe('FORK-5: a fork is known by the rules it was given', () => {
  test('its conversation is, its parent’s is not', () => {
    const parent = conversation(call('a'));
    const child = parent.fork();
    child.append(forkMessage(takeForkPoint(parent, null), 'x'));
    expect([isFork(parent), isFork(child)]).toEqual([false, true]);
  });

  test('the same words inside another text, or said by the model, make nobody a fork', () => {
    const params = takeForkPoint(conversation(call('a')), null);
    const rules = params.tail.at(-1) as FrozenBlock;
    const quoted = conversation(rules);
    quoted.append({
      role: 'user',
      blocks: [text(`I found: ${String(contentOf(rules).text)}`)],
      shared: 0,
    });
    expect(isFork(quoted)).toBe(false);
  });

  test.for(['first', 'second'] as const)(
    'the rules of the %s earlier version count as well: its sessions resume',
    (version) => {
      const child = conversation(call('a'));
      child.append({ role: 'user', blocks: [text(EARLIER_RULES[version])], shared: 0 });
      expect(isFork(child)).toBe(true);
    },
  );
});

const EARLIER_RULES = {
  first: `You are now a fork of the agent that wrote the messages above: you know what it knows, and you have one task of your own. You are not the main agent. It and other forks go on at the same time. These rules bind you:
1. Do the task below and nothing beyond its scope, whatever the conversation above had planned.
2. Use your tools directly. Do not delegate: no Agent calls.
3. Hold no conversation: no questions, no remarks between tool calls, no proposals.
4. When the task is done or cannot be done, write one report and stop. It begins with "Scope:" and the task in one line; after that structured facts only, under 500 words: results, files by path with what changed, commands with their outcome, what is left undone and why.`,
  second: `You are now a fork of the agent that wrote the messages above: you know what it knows, and you have your own task. You are not the main agent. It and other forks work at the same time. These rules bind you:
1. Do the task below and nothing beyond its scope, whatever was planned above.
2. Use your tools directly. Do not delegate: no Agent calls.
3. Do not converse: no questions, no remarks between tool calls, no proposals.
4. When the task is done or cannot be done, write one report and stop. Begin it with "Scope:" and the task in one line. Then give structured facts only, under 500 words: results, files by path with what changed, commands with their outcome, what is left undone and why.`,
};

test('the record of a prefix is the JSON of its messages, whatever they hold', () => {
  const head = freezeHead({ model: 'm', thinking: null, tools: [], system: [] });
  const all: FrozenMessage[] = [
    { role: 'user', blocks: [text('one'), text('two')], shared: 1 },
    { role: 'assistant', blocks: [text('three')], shared: 0 },
    { role: 'user', blocks: [], shared: 0 },
  ];
  for (let count = 0; count <= all.length; count++) {
    const messages = all.slice(0, count);
    const { record } = takeForkPoint(new Conversation(head, messages), null);
    const named = messages.map(({ role, blocks, shared }) => ({
      role,
      blocks: blocks.map(({ digest }) => digest),
      shared,
    }));
    expect(record.bytes.toString()).toBe(JSON.stringify(named));
  }
});
