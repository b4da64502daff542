import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RandomConversation, randomConversation } from '../../test/fixtures/random-conversation.ts';
import { parseRequest } from '../emulator/messages/message-request.ts';
import { buildPrompt } from '../emulator/messages/prompt.ts';
import { checkRequest } from '../emulator/messages/request-rules.ts';
import { type CompactionPlan, compactedMessages, planCompaction, promptsBefore } from './compacted.ts';
import { Conversation, type FrozenMessage, forkMessage, freezeHead, takeForkPoint } from './conversation.ts';
import { contentOf, estimateTokens, freezeBlock } from './frozen-block.ts';
import { placeBreakpoints, repeatBreakpoints, requestBody } from './request.ts';

const head = freezeHead({
  model: 'claude-sonnet-5',
  thinking: null,
  tools: [],
  system: [freezeBlock({ type: 'text', text: 'You are a test.' })],
});
const question: FrozenMessage = {
  role: 'user',
  blocks: [freezeBlock({ type: 'text', text: 'Summarise.' })],
  shared: 0,
};
const options = fc.record({
  tailTokens: fc.integer({ min: 0, max: 4_000 }),
  unread: fc.constantFrom(0, 1, 4),
  stripThinking: fc.boolean(),
});

/** Throws what the provider would refuse it with. */
function expectAccepted(messages: readonly FrozenMessage[], place = placeBreakpoints): void {
  const open = messages.at(-1)?.role === 'assistant' ? [...messages, question] : messages;
  const conversation = new Conversation(head, open);
  const breakpoints = place(conversation, null);
  expect(breakpoints.length).toBeLessThanOrEqual(4);
  const body = requestBody(conversation, { breakpoints, maxTokens: 100 }).toString();
  const request = parseRequest(body, { counting: false });
  checkRequest(request);
  buildPrompt(request, { key: 'k', betas: [] });
}

function compacted(
  { messages, prompts }: RandomConversation,
  plan: CompactionPlan,
  { tailTokens, stripThinking }: { tailTokens: number; stripThinking: boolean },
): FrozenMessage[] {
  const [opening] = messages;
  if (opening === undefined) throw new Error('every conversation has a first message');
  const record = {
    prompts: promptsBefore(prompts, messages.slice(plan.tail)).map((prompt) =>
      String(contentOf(prompt.blocks.at(-1) ?? freezeBlock({ type: 'text', text: '' })).text),
    ),
    promptRoom: 1_000,
    whole: 'ramet show k3v9x2ab --full',
    todos: [],
    summary: 'SUMMARY',
    changedFiles: [],
    readFiles: [],
  };
  return compactedMessages(messages, plan, {
    opening,
    record,
    mostTailTokens: tailTokens,
    stripThinking,
  });
}

describe('RES-7: what a compaction keeps', () => {
  test('is accepted by the provider, and so is the question before it, whatever the conversation', () => {
    fc.assert(
      fc.property(randomConversation, options, (conversation, chosen) => {
        const { messages } = conversation;
        expectAccepted(messages);
        const plan = planCompaction(messages, chosen);
        if (plan === null) return;
        expectAccepted([...messages.slice(0, plan.summarised), question], repeatBreakpoints);
        expectAccepted(compacted(conversation, plan, chosen));
      }),
      { numRuns: 300 },
    );
  });

  test('begins with the shared blocks and the environment, ends as it ended, and has every prompt once', () => {
    fc.assert(
      fc.property(randomConversation, options, (conversation, chosen) => {
        const { messages, prompts } = conversation;
        const plan = planCompaction(messages, chosen);
        if (plan === null) return;
        const [first, ...tail] = compacted(conversation, plan, chosen);
        expect(first?.shared).toBe(2);
        expect(digests(first?.blocks.slice(0, 3))).toEqual(digests(messages[0]?.blocks.slice(0, 3)));
        expect(tail.at(-1)?.role).toBe(messages.at(-1)?.role);
        const text = JSON.stringify([first, ...tail].map((message) => message?.blocks.map(contentOf)));
        expect(text.split('SUMMARY')).toHaveLength(2);
        for (const [index] of prompts.entries()) {
          expect(text.split(`prompt ${index} p`).length).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('keeps all that no summary covers, in the same order, with results cut to what there is room for', () => {
    fc.assert(
      fc.property(randomConversation, options, (conversation, chosen) => {
        const { messages } = conversation;
        const plan = planCompaction(messages, chosen);
        if (plan === null) return;
        expect(plan.tail).toBeLessThanOrEqual(plan.summarised);
        const kept = compacted(conversation, plan, { ...chosen, stripThinking: false }).slice(1);
        expect(kept).toHaveLength(messages.length - plan.tail);
        const others = kept.flatMap(({ blocks }) => blocks.filter(({ type }) => type !== 'tool_result'));
        const results = kept.flatMap(({ blocks }) => blocks).length - others.length;
        const room = Math.max(chosen.tailTokens, estimateTokens(others));
        // A result of which nothing is left still names its call and says what is missing.
        expect(estimateTokens(kept.flatMap(({ blocks }) => blocks))).toBeLessThanOrEqual(room + results * 50);
      }),
      { numRuns: 100 },
    );
  });

  test('has no bound thinking but in the turn whose calls wait for their results', () => {
    const thinking = freezeBlock({ type: 'thinking', thinking: 'hm', signature: 'c2ln' });
    const turn = (id: string): FrozenMessage[] => [
      {
        role: 'assistant',
        blocks: [thinking, freezeBlock({ type: 'tool_use', id, name: 'Read', input: {} })],
        shared: 0,
      },
      {
        role: 'user',
        blocks: [freezeBlock({ type: 'tool_result', tool_use_id: id, content: 'seen' })],
        shared: 0,
      },
    ];
    const prompt = { ...question, blocks: [...question.blocks] };
    const messages = [prompt, ...turn('a'), ...turn('b'), ...turn('c')];
    const plan = { tail: 3, summarised: messages.length };
    const keeps = { tailTokens: 1_000, stripThinking: true };
    const kept = compacted({ messages, prompts: [prompt] }, plan, keeps).slice(1);
    expect(kept.map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([
      ['tool_use'],
      ['tool_result'],
      ['thinking', 'tool_use'],
      ['tool_result'],
    ]);
  });

  test('has the rules of a fork once, however often it was compacted', () => {
    const text = (said: string) => freezeBlock({ type: 'text', text: said });
    const answer: FrozenMessage = { role: 'assistant', blocks: [text('Yes.')], shared: 0 };
    const parent = new Conversation(freezeHead({ model: 'm', thinking: null, tools: [], system: [] }), [
      { role: 'user', blocks: [text('instructions'), text('prompt')], shared: 1 },
      answer,
    ]);
    const task = forkMessage(takeForkPoint(parent, null), 'the task');
    const rules = task.blocks[0]?.digest;
    let messages: FrozenMessage[] = [...parent.messages, task, answer, question, answer];
    for (const _ of [1, 2]) {
      const plan = { tail: messages.length - 1, summarised: messages.length };
      const keeps = { tailTokens: 1_000, stripThinking: false };
      messages = [...compacted({ messages, prompts: [task] }, plan, keeps), question, answer];
    }
    expect(digests(messages[0]?.blocks).filter((digest) => digest === rules)).toHaveLength(1);
  });

  test('is nothing new when all but the first message would be kept', () => {
    const answer: FrozenMessage = { ...question, role: 'assistant' };
    for (const messages of [[], [question], [question, answer]]) {
      expect(planCompaction(messages, { tailTokens: 1_000, unread: 0 })).toBeNull();
    }
  });
});

function digests(blocks: FrozenMessage['blocks'] = []): string[] {
  return blocks.map(({ digest }) => digest);
}
