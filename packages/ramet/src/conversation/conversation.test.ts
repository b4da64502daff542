import { describe, expect, test } from 'vitest';
import { Conversation, freezeHead, type PromptHead } from './conversation.ts';
import { type FrozenBlock, freezeBlock, freezeTool } from './frozen-block.ts';

const text = (value: string): FrozenBlock => freezeBlock({ type: 'text', text: value });
const tool = freezeTool({ name: 'Read', description: 'reads', input_schema: {} });

function headOf(...system: string[]): PromptHead {
  return freezeHead({ model: 'm', thinking: null, tools: [tool], system: system.map(text) });
}

function talk(...prompts: string[]): Conversation {
  return new Conversation(
    headOf('system'),
    prompts.map((prompt) => ({ role: 'user', blocks: [text(prompt), text('more')], shared: 0 })),
  );
}

describe('FORK-1: the chain has a link for every block, of the system too', () => {
  test('heads that share the first system block share its link, and part after it', () => {
    const [one, other] = [headOf('common', 'explore'), headOf('common', 'write')];
    expect(one.systemChain).toHaveLength(2);
    expect(one.systemChain[0]).toBe(headOf('common').digest);
    expect(other.systemChain[0]).toBe(one.systemChain[0]);
    expect(other.digest).not.toBe(one.digest);
    expect(one.digest).toBe(one.systemChain[1]);
  });

  test('without a system the digest is that of model, thinking and tools', () => {
    const bare = headOf();
    expect(bare.systemChain).toEqual([]);
    expect(bare.digest).not.toBe(freezeHead({ ...bare, model: 'n' }).digest);
    expect(bare.digest).not.toBe(freezeHead({ ...bare, tools: [] }).digest);
    expect(bare.digest).not.toBe(freezeHead({ ...bare, thinking: { type: 'disabled' } }).digest);
  });

  test('links and lengths are counted over the system first and the messages after it', () => {
    const subject = talk('a', 'b');
    const index = subject.indexOf({ message: 1, block: 0 });
    expect(index).toBe(3);
    expect(subject.linkAt(index)).toBe(subject.digestAt({ message: 1, block: 0 }));
    expect(subject.linkAt(0)).toBe(subject.head.systemChain[0]);
    const blocks = [tool, text('system'), text('a'), text('more'), text('b')];
    expect(subject.bytesAt(index)).toBe(blocks.reduce((sum, { bytes }) => sum + bytes.length, 0));
  });
});

describe('FORK-1: a fork of a conversation', () => {
  test('is its parent up to the fork, message by message the same objects, and continues apart', () => {
    const parent = talk('a', 'b');
    const fork = parent.fork();
    expect(fork.digest).toBe(parent.digest);
    expect(fork.messages.every((message, index) => message === parent.messages[index])).toBe(true);
    fork.append({ role: 'user', blocks: [text('c')], shared: 0 });
    expect(parent.messages).toHaveLength(2);
    expect(fork.digest).not.toBe(parent.digest);
    const again = talk('a', 'b');
    again.append({ role: 'user', blocks: [text('c')], shared: 0 });
    expect(fork.digest).toBe(again.digest);
    expect(fork.bytesAt(5)).toBe(again.bytesAt(5));
  });

  test('of the first messages is what the conversation was then', () => {
    expect(talk('a', 'b', 'c').fork(2).chain).toEqual(talk('a', 'b').chain);
  });
});
