/**
 * Inside a tool loop the thinking of the latest assistant turn must come back as it was given: unmodified, complete,
 * in order. Which thinking belonged to which call is remembered per model, because after a change of model a client
 * rightly leaves foreign thinking out.
 */
import { badRequest } from '../api-error.ts';
import type { WireBlock, WireRequest } from './message-request.ts';
import { isThinking } from './prompt-blocks.ts';
import { sealOf, wasModified } from './thinking-seal.ts';
import { mergeTurns } from './tool-pairing.ts';

const REFUSAL =
  '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. ' +
  'These blocks must remain as they were in the original response.';

export class ThinkingTurns {
  /** By model and call: the sequences of seals given out with it. Scripted calls may reuse an id. */
  readonly #given = new Map<string, Set<string>>();

  remember(model: string, content: readonly WireBlock[]): void {
    const seals = sealSequence(content);
    if (seals === '') return;
    for (const id of callIds(content)) {
      const key = `${model} ${id}`;
      this.#given.set(key, (this.#given.get(key) ?? new Set()).add(seals));
    }
  }

  check(request: WireRequest): void {
    const latest = openTurn(request);
    if (latest === undefined) return;
    if (
      latest.some((block) => block.type === 'thinking' && wasModified(sealOf(block), String(block.thinking)))
    ) {
      throw badRequest(REFUSAL);
    }
    // A request that switches thinking off may leave it out.
    if (request.thinking?.type === 'disabled') return;
    const seals = sealSequence(latest);
    for (const id of callIds(latest)) {
      const given = this.#given.get(`${request.model} ${id}`);
      if (given !== undefined && ![...given].some((sequence) => seals.includes(sequence))) {
        throw badRequest(REFUSAL);
      }
    }
  }
}

/** The latest assistant turn, when the request answers its calls. */
function openTurn(request: WireRequest): WireBlock[] | undefined {
  const turns = mergeTurns(request.messages);
  const latest = turns.findLastIndex(({ role }) => role === 'assistant');
  const answered = turns[latest + 1]?.blocks.some(({ type }) => type === 'tool_result') === true;
  return answered ? turns[latest]?.blocks : undefined;
}

function sealSequence(content: readonly WireBlock[]): string {
  return content
    .filter(({ type }) => isThinking(type))
    .map((block) => `${sealOf(block)}\n`)
    .join('');
}

function callIds(content: readonly WireBlock[]): string[] {
  return content.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
}
