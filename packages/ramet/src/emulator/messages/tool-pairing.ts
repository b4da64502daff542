/**
 * How tool calls and their results must be paired in a conversation. Consecutive messages of one role are read as one
 * turn, as the API merges them. Wording follows the API's where it is documented.
 */
import { badRequest } from '../api-error.ts';
import { contentBlocks, type WireBlock, type WireMessage, type WireRole } from './message-request.ts';

export interface WireTurn {
  role: WireRole;
  blocks: WireBlock[];
  /** Index of the first message of the turn, for error messages. */
  index: number;
}

export function mergeTurns(messages: readonly WireMessage[]): WireTurn[] {
  const turns: WireTurn[] = [];
  messages.forEach(({ role, content }, index) => {
    const blocks = contentBlocks(content);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks = [...last.blocks, ...blocks];
    else turns.push({ role, blocks, index });
  });
  return turns;
}

export function checkToolPairing(turns: readonly WireTurn[]): void {
  const seen = new Set<string>();
  turns.forEach((turn, position) => {
    if (turn.role === 'assistant') {
      const calls = collectCalls(turn, seen);
      checkAnswered(calls, turn, turns[position + 1]);
    } else {
      const previous = turns[position - 1];
      checkResults(turn, previous?.role === 'assistant' ? previous : undefined);
    }
  });
}

function collectCalls(turn: WireTurn, seen: Set<string>): string[] {
  const calls = turn.blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
  for (const id of calls) {
    if (seen.has(id)) throw badRequest(`messages.${turn.index}: \`tool_use\` ids must be unique: ${id}`);
    seen.add(id);
  }
  return calls;
}

function checkAnswered(calls: readonly string[], turn: WireTurn, next: WireTurn | undefined): void {
  const answered = new Set(next === undefined ? [] : resultIds(next));
  const open = calls.filter((id) => !answered.has(id));
  if (open.length === 0) return;
  throw badRequest(
    `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
      `${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkResults(turn: WireTurn, previous: WireTurn | undefined): void {
  const calls = new Set(
    previous?.blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id)),
  );
  const answered = new Set<string>();
  for (const id of resultIds(turn)) {
    if (!calls.has(id)) {
      throw badRequest(
        `messages.${turn.index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      );
    }
    if (answered.has(id)) {
      throw badRequest(`messages.${turn.index}: each tool_use must have a single result: ${id} has several`);
    }
    answered.add(id);
  }
  checkResultsFirst(turn);
}

function checkResultsFirst(turn: WireTurn): void {
  const lastResult = turn.blocks.findLastIndex(({ type }) => type === 'tool_result');
  const firstOther = turn.blocks.findIndex(({ type }) => type !== 'tool_result');
  if (firstOther !== -1 && firstOther < lastResult) {
    throw badRequest(
      `messages.${turn.index}: \`tool_result\` blocks must come first in the message that answers \`tool_use\``,
    );
  }
}

function resultIds(turn: WireTurn): string[] {
  return turn.blocks
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id }) => String(tool_use_id));
}
