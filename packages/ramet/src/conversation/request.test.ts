import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../schema/content.ts';
import { Conversation, type FrozenMessage, freezeHead } from './conversation.ts';
import { freezeBlock, freezeJson, freezeTool, thawBytes } from './frozen-block.ts';
import { endOf, placeBreakpoints, requestBody } from './request.ts';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });

function message(role: 'user' | 'assistant', blocks: ContentBlock[], shared = 0): FrozenMessage {
  return { role, blocks: blocks.map(freezeBlock), shared };
}

function conversation(messages: FrozenMessage[]): Conversation {
  const head = freezeHead({
    model: 'claude-sonnet-5',
    thinking: null,
    tools: [freezeTool({ name: 'Read', description: 'reads', input_schema: { type: 'object' } })],
    system: [freezeBlock(text('You are careful.'))],
  });
  return new Conversation(head, messages);
}

function bodyOf(subject: Conversation, previousEnd = endOf([])): { text: string; marks: number } {
  const breakpoints = placeBreakpoints(subject, previousEnd);
  const body = requestBody(subject, { breakpoints, maxTokens: 100 }).toString();
  return { text: body, marks: body.split('"cache_control"').length - 1 };
}

describe('FORK-1: a request is a join of frozen bytes', () => {
  test('the body is the JSON a plain serialiser would write', () => {
    const subject = conversation([message('user', [text('hello "world" \u2028 é')])]);
    expect(JSON.parse(bodyOf(subject).text)).toEqual({
      model: 'claude-sonnet-5',
      tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
      system: [{ type: 'text', text: 'You are careful.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'hello "world" \u2028 é', cache_control: { type: 'ephemeral' } }],
        },
      ],
      max_tokens: 100,
      stream: true,
    });
  });

  test('a request without output is not streamed: the API refuses both together', () => {
    const subject = conversation([message('user', [text('hello')])]);
    const body = requestBody(subject, { breakpoints: [], maxTokens: 0 }).toString();
    expect(JSON.parse(body)).toMatchObject({ max_tokens: 0 });
    expect(body).not.toContain('"stream"');
  });

  test('tool input keeps its own key order and spacing, also with numeric keys', () => {
    const json = '{"type":"tool_use","id":"t1","name":"X","input":{"10": 1, "2": {"b":1,"a":2}}}';
    const block = freezeJson('tool_use', json, true);
    const subject = conversation([
      message('user', [text('go')]),
      { role: 'assistant', blocks: [block], shared: 0 },
    ]);
    expect(requestBody(subject, { breakpoints: [], maxTokens: 1 }).toString()).toContain(json);
  });

  test('a block back from its stored bytes is the same block', () => {
    const block = freezeBlock(text('again'));
    expect(thawBytes(block.bytes)).toEqual(block);
    expect(thawBytes(freezeBlock(text('')).bytes).markable).toBe(false);
  });

  test('a request without its marks is a byte prefix of the next one', () => {
    const words = fc.array(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), (turns) => {
        const subject = conversation([]);
        let before = '';
        for (const [index, contents] of turns.entries()) {
          subject.append(message(index % 2 === 0 ? 'user' : 'assistant', contents.map(text)));
          const body = requestBody(subject, { breakpoints: [], maxTokens: 1 }).toString();
          const prompt = body.slice(0, body.lastIndexOf('],"max_tokens"'));
          expect(prompt.startsWith(before)).toBe(true);
          before = prompt;
        }
      }),
    );
  });
});

describe('FORK-7: four breakpoints, no more', () => {
  const results = (count: number): ContentBlock[] =>
    Array.from({ length: count }, (_, i) => ({ type: 'tool_result', tool_use_id: `t${i}`, content: 'ok' }));

  test('the first request marks the system prompt, what runs share, and the end', () => {
    const subject = conversation([message('user', [text('project rules'), text('today'), text('do it')], 1)]);
    expect(placeBreakpoints(subject, null)).toEqual([
      { message: -1, block: 0, ttl: '5m' },
      { message: 0, block: 0, ttl: '5m' },
      { message: 0, block: 2, ttl: '5m' },
    ]);
  });

  test('after fifty results the previous mark is repeated, so the old prefix is hit without look-back', () => {
    const subject = conversation([message('user', [text('rules'), text('do it')], 1)]);
    const first = placeBreakpoints(subject, null);
    subject.append(message('assistant', [text('working')]));
    subject.append(message('user', results(50)));
    const second = placeBreakpoints(subject, endOf(first));
    expect(second).toHaveLength(4);
    expect(second).toContainEqual({ message: 0, block: 1, ttl: '5m' });
    expect(second.at(-1)).toEqual({ message: 2, block: 49, ttl: '5m' });
  });

  test('a mark never stands on thinking or on empty text', () => {
    const subject = conversation([
      message('user', [text('go')]),
      message('assistant', [text('x'), { type: 'thinking', thinking: 'hm', signature: 's' }]),
    ]);
    expect(placeBreakpoints(subject, null).at(-1)).toEqual({ message: 1, block: 0, ttl: '5m' });
    const empty = conversation([message('user', [text('go'), text('')])]);
    expect(placeBreakpoints(empty, null).at(-1)).toEqual({ message: 0, block: 0, ttl: '5m' });
  });

  test('over any conversation there are at most four marks, in order, each of the previous end again', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        const subject = conversation([message('user', [text('rules'), text('go')], 1)]);
        let previous = endOf(placeBreakpoints(subject, null));
        for (const size of sizes) {
          subject.append(message('assistant', [text('a')]));
          subject.append(message('user', results(size + 1)));
          const marks = placeBreakpoints(subject, previous);
          expect(marks.length).toBeLessThanOrEqual(4);
          expect(bodyOf(subject, previous).marks).toBe(marks.length);
          expect(marks.some((m) => m.message === previous?.message && m.block === previous.block)).toBe(true);
          previous = endOf(marks);
        }
      }),
    );
  });
});
