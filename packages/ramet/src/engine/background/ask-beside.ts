/**
 * A fork of one question: it asks the same model on an agent's prefix, beside the conversation, and no tool runs. All but
 * the question is read from the cache. The answer is billed and journaled with its source and never becomes part of the
 * conversation. It works wherever the agent itself does, also in a process of its own.
 */
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { isToolUse, type ModelResponse } from '../../model/provider.ts';
import type { RequestSource } from '../../schema/events.ts';
import type { Usage } from '../../schema/usage.ts';
import type { Agent } from '../agent/agent.ts';
import { recordResponse } from '../exchange/exchange.ts';

export interface BesideQuestion {
  readonly source: RequestSource;
  /** How many messages of the conversation it is about. */
  readonly messages: number;
  readonly texts: readonly string[];
  readonly turn: number;
  /** Output that the answer may need, also where answers are kept shorter. */
  readonly leastTokens?: number;
  readonly signal: AbortSignal;
  onSpent(usage: Usage, costUsd: number | null): void;
}

const TEXT_ONLY =
  'Your last answer called a tool. Tools do not run here. Answer with only the text that was asked for.';

/** A model that calls a tool is told once more. */
export async function askBeside(agent: Agent, question: BesideQuestion): Promise<ModelResponse> {
  const first = await askOnce(agent, question, question.texts);
  return callsTools(first) ? askOnce(agent, question, [...question.texts, TEXT_ONLY]) : first;
}

async function askOnce(
  agent: Agent,
  { source, messages, turn, leastTokens = 0, signal, onSpent }: BesideQuestion,
  texts: readonly string[],
): Promise<ModelResponse> {
  const done = await agent.runtime.host.exchange(agent, {
    turn,
    maxTokens: Math.max(agent.spec.maxTokens, leastTokens),
    signal,
    partial: false,
    onSpent,
    aside: { source, messages, blocks: texts.map((text) => freezeBlock({ type: 'text', text })) },
  });
  recordResponse(agent, done, false);
  return done.response;
}

export function callsTools(response: ModelResponse): boolean {
  return response.cutToolUse || response.blocks.some(isToolUse);
}

export function textOfResponse({ blocks }: ModelResponse): string {
  return blocks
    .map(({ value }) => ('text' in value ? String(value.text) : ''))
    .join('')
    .trim();
}
