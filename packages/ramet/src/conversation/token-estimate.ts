/** How many tokens blocks may be, where no response has told. For deciding, never for a bill. */
import type { FrozenBlock } from './frozen-block.ts';

const BYTES_PER_TOKEN = 4;
/** An image costs by its area, whatever its file weighs; large ones are scaled down to about this. */
const IMAGE_TOKENS = 1_600;
const IMAGE = '"type":"image"';

export function estimateTokens(blocks: Iterable<FrozenBlock>): number {
  let tokens = 0;
  for (const block of blocks) tokens += blockTokens(block);
  return Math.ceil(tokens);
}

function blockTokens({ bytes }: FrozenBlock): number {
  const byLength = bytes.length / BYTES_PER_TOKEN;
  return byLength > IMAGE_TOKENS && bytes.includes(IMAGE) ? IMAGE_TOKENS : byLength;
}

export function bytesOfTokens(tokens: number): number {
  return Math.floor(tokens * BYTES_PER_TOKEN);
}
