/**
 * Refusals (400) that depend on more than the shape of a request: roles, empty content, tools, thinking, prefill and
 * pre-warming. A client that never meets one of these builds valid requests.
 */
import { findModel, type ModelFacts } from '../../model/catalog.ts';
import { badRequest } from '../api-error.ts';
import type { WireBlock, WireRequest } from './message-request.ts';
import { checkToolPairing, mergeTurns, type WireTurn } from './tool-pairing.ts';
import { checkSearches, checkSearchTools } from './web-search.ts';

const FORCED = new Set(['any', 'tool']);
const MINIMUM_THINKING_BUDGET = 1024;

export function checkRequest(request: WireRequest): void {
  const facts = findModel(request.model);
  const turns = mergeTurns(request.messages);
  checkTools(request, facts);
  checkThinking(request);
  checkTurns(turns);
  checkSystemTurns(turns, facts);
  checkToolPairing(turns);
  checkSearches(turns);
  checkPrefill(turns, facts);
  if (request.max_tokens === 0) checkPrewarming(request, turns);
}

function checkTools(request: WireRequest, facts: ModelFacts | undefined): void {
  const names = (request.tools ?? []).map(({ name }) => name);
  if (new Set(names).size !== names.length) throw badRequest('tools: Tool names must be unique.');
  checkSearchTools(request.tools ?? []);
  const choice = request.tool_choice;
  if (choice === undefined) return;
  if (choice.type === 'tool' && !names.includes(choice.name ?? '')) {
    throw badRequest(`tool_choice: Tool '${choice.name ?? ''}' not found in provided tools`);
  }
  if (!FORCED.has(choice.type)) return;
  if (facts?.forcedToolChoice === false) {
    throw badRequest(`tool_choice: ${request.model} does not support forced tool use`);
  }
  if (request.thinking?.type === 'enabled') {
    throw badRequest('Thinking may not be enabled when tool_choice forces tool use.');
  }
}

function checkThinking({ thinking, max_tokens }: WireRequest): void {
  if (thinking?.type !== 'enabled' || max_tokens === 0) return;
  const budget = thinking.budget_tokens;
  if (budget === undefined) throw badRequest('thinking.enabled.budget_tokens: Field required');
  if (budget < MINIMUM_THINKING_BUDGET) {
    throw badRequest(`thinking.enabled.budget_tokens: must be at least ${MINIMUM_THINKING_BUDGET}`);
  }
  if (max_tokens !== undefined && max_tokens <= budget) {
    throw badRequest('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
}

function checkTurns(turns: readonly WireTurn[]): void {
  if (turns[0]?.role !== 'user') throw badRequest('messages: first message must use the "user" role');
  turns.forEach((turn, position) => {
    const mayBeEmpty = turn.role === 'assistant' && position === turns.length - 1;
    if (turn.blocks.length === 0 && !mayBeEmpty) {
      throw badRequest(`messages.${turn.index}: all messages must have non-empty content`);
    }
    for (const block of turn.blocks) checkPlace(block, turn);
  });
}

function checkPlace(block: WireBlock, turn: WireTurn): void {
  if (block.type === 'text' && block.text === '') {
    throw badRequest(`messages.${turn.index}: text content blocks must be non-empty`);
  }
  const foreign =
    (turn.role !== 'assistant' && ['tool_use', 'thinking', 'redacted_thinking'].includes(block.type)) ||
    (turn.role !== 'user' && block.type === 'tool_result');
  if (foreign)
    throw badRequest(`messages.${turn.index}: ${turn.role} messages cannot hold ${block.type} blocks`);
}

function checkSystemTurns(turns: readonly WireTurn[], facts: ModelFacts | undefined): void {
  turns.forEach((turn, position) => {
    if (turn.role !== 'system') return;
    if (facts?.systemMessages === false)
      throw badRequest(`${facts.id} does not support role "system" in messages`);
    const next = turns[position + 1];
    if (turns[position - 1]?.role !== 'user' || (next !== undefined && next.role !== 'assistant')) {
      throw badRequest(`messages.${turn.index}: a system message must follow a user turn and end its turn`);
    }
  });
}

/** An assistant turn that a server tool paused is sent back to be continued; that is no prefill. */
function checkPrefill(turns: readonly WireTurn[], facts: ModelFacts | undefined): void {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return;
  if (last.blocks.some(({ type }) => type === 'server_tool_use')) return;
  if (facts?.prefill === false) {
    throw badRequest(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  const text = last.blocks.at(-1)?.text;
  if (typeof text === 'string' && text !== text.trimEnd()) {
    throw badRequest('messages: final assistant content cannot end with trailing whitespace');
  }
}

function checkPrewarming(request: WireRequest, turns: readonly WireTurn[]): void {
  const refused: Record<string, boolean> = {
    'stream: true': request.stream === true,
    'thinking.type "enabled"': request.thinking?.type === 'enabled',
    'output_config.format': request.output_config?.format != null,
    'a forced tool_choice': FORCED.has(request.tool_choice?.type ?? ''),
  };
  for (const [name, present] of Object.entries(refused)) {
    if (present) throw badRequest(`max_tokens: 0 cannot be combined with ${name}`);
  }
  const texts = turns.at(-1)?.blocks.filter(({ type }) => type === 'text') ?? [];
  if (texts.some(({ text }) => String(text).trim() === '')) {
    throw badRequest('messages: text content blocks must contain non-whitespace text');
  }
}
