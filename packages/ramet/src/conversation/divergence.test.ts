import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../schema/content.ts';
import { Conversation, freezeHead, type PromptHead } from './conversation.ts';
import { findDivergence } from './divergence.ts';
import { freezeBlock, freezeTool } from './frozen-block.ts';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });

function head(overrides: Partial<PromptHead> = {}): PromptHead {
  return freezeHead({
    model: 'm',
    thinking: null,
    tools: [freezeTool({ name: 'Read', description: 'reads', input_schema: {} })],
    system: [freezeBlock(text('system'))],
    ...overrides,
  });
}

function talk(prompts: string[], start: PromptHead = head()): Conversation {
  const messages = prompts.map((prompt) => ({
    role: 'user' as const,
    blocks: [freezeBlock(text('shared')), freezeBlock(text(prompt))],
    shared: 1,
  }));
  return new Conversation(start, messages);
}

describe('FORK-1: where two conversations part is a lookup', () => {
  test('a continuation does not diverge from what it continues', () => {
    expect(findDivergence(talk(['a']), talk(['a', 'b']))).toBeNull();
    expect(talk(['a']).digest).toBe(talk(['a']).digest);
  });

  test('the first differing block and its field are named', () => {
    expect(findDivergence(talk(['a', 'b']), talk(['a', 'c']))).toEqual({
      where: 'messages[1].content[1]',
      field: 'text',
    });
  });

  test('a missing message and a changed role are named', () => {
    expect(findDivergence(talk(['a', 'b']), talk(['a']))).toEqual({ where: 'messages[1]', field: null });
  });

  test.each([
    ['model', { model: 'other' }, { where: 'model', field: null }],
    ['thinking', { thinking: { type: 'adaptive' } as const }, { where: 'thinking', field: null }],
    ['a system text', { system: [freezeBlock(text('other'))] }, { where: 'system[0]', field: 'text' }],
    ['a tool left out', { tools: [] }, { where: 'tools[0]', field: null }],
    [
      'a tool description',
      { tools: [freezeTool({ name: 'Read', description: 'other', input_schema: {} })] },
      { where: 'tools[0]', field: 'description' },
    ],
  ])('a change of %s is found in the head', (_, change, expected) => {
    expect(findDivergence(talk(['a']), talk(['a'], head(change)))).toEqual(expected);
  });

  test('the chain has one digest per block and depends on all before it', () => {
    const [one, two] = [talk(['a', 'b']), talk(['x', 'b'])];
    expect(one.chain).toHaveLength(4);
    expect(one.chain[0]).toBe(two.chain[0]);
    expect(one.chain[3]).not.toBe(two.chain[3]);
    expect(one.digestAt({ message: 1, block: 1 })).toBe(one.digest);
    expect(one.digestAt({ message: 0, block: 1 })).toBe(talk(['a']).digest);
  });
});
