/**
 * Signatures of thinking blocks. A seal holds a digest of the thinking text and a digest of where it was thought:
 * the model and everything before the assistant turn. Seals need no memory, so a conversation survives a restart
 * of the emulator.
 *
 * What a model makes of old thinking (retention, binding) is data in `model/catalog.ts`; where no source says,
 * thinking is kept and not bound.
 */
import { createHash, hash } from 'node:crypto';
import { findModel } from '../../model/catalog.ts';
import { isThinking, type PromptBlock } from './prompt-blocks.ts';

const SEAL = /^emu\.([\w-]{43})\.([\w-]{43})$/;

export function sealThinking(place: string, thinking: string): string {
  return `emu.${digest(thinking)}.${digest(place)}`;
}

/** True when the text is not what the seal was put on. Empty text is a reader that was shown none. */
export function wasModified(signature: string, thinking: string): boolean {
  const [, text] = SEAL.exec(signature) ?? [];
  return text !== undefined && thinking !== '' && text !== digest(thinking);
}

/** The signature of a thinking block or the data of a redacted one. */
export function sealOf(block: Readonly<Record<string, unknown>>): string {
  return String(block.signature ?? block.data ?? '');
}

/** Where an answer to this conversation would be thought. */
export function placeOfAnswer(blocks: readonly PromptBlock[], model: string): string {
  return placesOf(blocks, model).answer;
}

/** The blocks the model gets to see: thinking that the model forgets or does not recognise is left out. */
export function withoutLostThinking(blocks: readonly PromptBlock[], model: string): readonly PromptBlock[] {
  if (!blocks.some(({ type }) => isThinking(type))) return blocks;
  const facts = findModel(model);
  const forgottenBefore = facts?.retention === 'stripped' ? lastUserText(blocks) : -1;
  const places = facts?.binding === 'conversation' ? placesOf(blocks, model).turns : undefined;
  return blocks.filter((block) => {
    if (!isThinking(block.type)) return true;
    if (block.message < forgottenBefore) return false;
    const place = places?.get(block.message);
    return place === undefined || SEAL.exec(sealOf(block.source))?.[2] === digest(place);
  });
}

/** Index of the last user message that holds more than tool results: everything before is a finished turn. */
function lastUserText(blocks: readonly PromptBlock[]): number {
  return blocks.findLast(({ role, type }) => role === 'user' && type !== 'tool_result')?.message ?? -1;
}

interface Places {
  /** By index of each assistant message. */
  turns: Map<number, string>;
  answer: string;
}

/** All messages of one assistant turn share the place where the turn began. */
function placesOf(blocks: readonly PromptBlock[], model: string): Places {
  const running = createHash('sha256').update(model);
  const turns = new Map<number, string>();
  const here = (): string => running.copy().digest('base64url');
  let previous = '';
  let place = here();
  for (const block of blocks) {
    if (block.role === 'assistant') {
      if (previous !== 'assistant') place = here();
      turns.set(block.message, place);
    }
    running.update(`\n${block.role} ${block.json}`);
    previous = block.role;
  }
  return { turns, answer: previous === 'assistant' ? place : here() };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
