/** Where a request marks cache breakpoints, and the refusals (400) for marks that may not stand there. */
import type { CacheControl } from '../../schema/content.ts';
import { badRequest } from '../api-error.ts';
import { isThinking, type PromptBlock } from './prompt-blocks.ts';

export type CacheLifetime = '5m' | '1h';

export interface CacheMark {
  /** Index in the list of prompt blocks. */
  position: number;
  ttl: CacheLifetime;
}

const MAXIMUM_MARKS = 4;

/** Marks in prefix order, the automatic one of the request included. */
export function readMarks(
  blocks: readonly PromptBlock[],
  automatic: CacheControl | null | undefined,
): CacheMark[] {
  const marks: CacheMark[] = [];
  blocks.forEach((block, position) => {
    checkPlace(block);
    if (block.mark !== undefined) marks.push({ position, ttl: block.mark.ttl ?? '5m' });
  });
  if (marks.length > MAXIMUM_MARKS) {
    throw badRequest(
      `A maximum of ${MAXIMUM_MARKS} blocks with cache_control may be provided. Found ${marks.length}.`,
    );
  }
  if (automatic != null) addAutomatic(marks, blocks, automatic.ttl ?? '5m');
  checkOrder(marks);
  return marks;
}

function checkPlace(block: PromptBlock): void {
  const nested = 'content' in block.source ? block.source.content : undefined;
  if (Array.isArray(nested) && nested.some((part) => part?.cache_control != null)) {
    throw badRequest(`cache_control cannot be set inside a ${block.type} block: mark the block itself`);
  }
  if (block.mark === undefined || mayCarryMark(block)) return;
  throw badRequest(
    isThinking(block.type)
      ? `cache_control cannot be set for ${block.type} blocks`
      : 'cache_control cannot be set for empty text blocks',
  );
}

function mayCarryMark(block: PromptBlock): boolean {
  return !isThinking(block.type) && !(block.type === 'text' && block.source.text === '');
}

/** The last block that can carry a mark gets one; a request without such a block is simply not cached. */
function addAutomatic(marks: CacheMark[], blocks: readonly PromptBlock[], ttl: CacheLifetime): void {
  if (marks.length === MAXIMUM_MARKS) {
    throw badRequest(
      `Automatic cache_control needs one of the ${MAXIMUM_MARKS} breakpoints, and all are set.`,
    );
  }
  const position = blocks.findLastIndex(mayCarryMark);
  if (position === -1) return;
  const present = marks.find((mark) => mark.position === position);
  if (present === undefined) marks.push({ position, ttl });
  else if (present.ttl !== ttl) {
    throw badRequest(`Automatic cache_control (${ttl}) differs from the last block's own (${present.ttl}).`);
  }
}

function checkOrder(marks: readonly CacheMark[]): void {
  const firstShort = marks.findIndex(({ ttl }) => ttl === '5m');
  if (firstShort !== -1 && marks.slice(firstShort).some(({ ttl }) => ttl === '1h')) {
    throw badRequest('A ttl="1h" cache_control block must not come after a ttl="5m" cache_control block.');
  }
}
