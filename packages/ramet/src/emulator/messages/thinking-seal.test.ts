import { describe, expect, test } from 'vitest';
import { PromptCache } from './cache.ts';
import { parseRequest, type WireRequest } from './message-request.ts';
import { buildPrompt } from './prompt.ts';
import { promptBlocks } from './prompt-blocks.ts';
import { placeOfAnswer, sealThinking, wasModified } from './thinking-seal.ts';

type Fields = Record<string, unknown>;

const THOUGHT = 't'.repeat(4000);
const mark = { cache_control: { type: 'ephemeral' } };
const user = (content: unknown): Fields => ({ role: 'user', content });
const first = user([{ type: 'text', text: 'q'.repeat(8000) }]);
const result = user([{ type: 'tool_result', tool_use_id: 'a', content: 'r', ...mark }]);

function request(model: string, messages: Fields[], more: Fields = {}): WireRequest {
  return parseRequest(JSON.stringify({ model, max_tokens: 9, messages, ...more }), { counting: false });
}

function tokens(model: string, messages: Fields[], more: Fields = {}): number {
  return buildPrompt(request(model, messages, more), { key: 'k', betas: [] }).tokens;
}

function assistant(signature: string): Fields {
  return {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: THOUGHT, signature },
      { type: 'tool_use', id: 'a', name: 'T', input: {} },
    ],
  };
}

/** What the model would have thought after `first`. */
function sealed(model: string): Fields {
  return assistant(sealThinking(placeOfAnswer(promptBlocks(request(model, [first])), model), THOUGHT));
}

describe('EMU-2: thinking of finished turns', () => {
  const later = [user('and now?')];

  test('counts as input where the model keeps it', () => {
    const kept = [first, sealed('claude-opus-5'), result];
    expect(tokens('claude-opus-5', [...kept, ...later])).toBeGreaterThan(3000);
  });

  test('counts while the tool loop continues, also where the model strips it', () => {
    const loop = [first, sealed('claude-haiku-4-5'), result];
    expect(tokens('claude-haiku-4-5', loop)).toBeGreaterThan(3000);
  });

  test('is gone after new user text where the model strips it, and the messages are cold from there', () => {
    const cache = new PromptCache();
    const model = 'claude-sonnet-4-5';
    const loop = [first, sealed(model), result];
    const read = (messages: Fields[]) => {
      const admission = cache.admit(buildPrompt(request(model, messages, mark), { key: 'k', betas: [] }), 0);
      cache.begin(admission);
      return admission.usage.cache_read_input_tokens;
    };
    read(loop);
    expect(read(loop)).toBeGreaterThan(3000);
    expect(tokens(model, [...loop, ...later])).toBeLessThan(2200);
    expect(read([...loop, ...later])).toBe(0);
  });
});

describe('EMU-2: thinking bound to model and conversation', () => {
  const model = 'claude-opus-5-5';
  const whole = tokens(model, [first, sealed(model), result]);

  test('is kept when model and prefix are the ones it was thought on', () => {
    expect(whole).toBeGreaterThan(3000);
  });

  test.each<[string, string, Fields[], Fields]>([
    ['an earlier turn was edited', model, [user('other'), sealed(model), result], {}],
    ['another model thought it', model, [first, sealed('claude-sonnet-5-5'), result], {}],
    ['the system prompt changed', model, [first, sealed(model), result], { system: 'new' }],
    ['its signature is not ours', model, [first, assistant('EqQBCg=='), result], {}],
  ])('is dropped and not counted when %s', (_, asked, messages, more) => {
    const bare = messages.map((message) => ({
      ...message,
      content: Array.isArray(message.content)
        ? message.content.filter((block) => block.type !== 'thinking')
        : message.content,
    }));
    expect(tokens(asked, messages, more)).toBe(tokens(asked, bare, more));
  });

  test('a moved mark does not unbind it', () => {
    const marked = user([{ type: 'text', text: 'q'.repeat(8000), ...mark }]);
    expect(tokens(model, [marked, sealed(model), result])).toBe(whole);
  });

  test('other models take thinking from anywhere', () => {
    expect(tokens('claude-opus-5', [user('other'), assistant('x'), result])).toBeGreaterThan(1000);
  });
});

describe('seals', () => {
  const seal = sealThinking('here', 'thought');

  test('tell changed text from the text they were put on, and accept text that was never shown', () => {
    expect(wasModified(seal, 'thought')).toBe(false);
    expect(wasModified(seal, '')).toBe(false);
    expect(wasModified(seal, 'thought!')).toBe(true);
  });

  test('of others say nothing', () => {
    expect(wasModified('EqQBCg==', 'anything')).toBe(false);
  });
});
