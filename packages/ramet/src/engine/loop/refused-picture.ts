/**
 * A picture that the provider refuses: it would refuse every later request of the conversation too. What is known to be refused never
 * gets there (`model/image-type.ts`); this is for the rest, such as broken data in a right frame, or many large pictures.
 */
import type { FrozenMessage } from '../../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import type { ImageBlock, OtherBlock, TextBlock } from '../../schema/content.ts';
import { ModelError } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';

const IMAGE_REFUSED = 'image_refused';

/**
 * Puts a line in the place of the pictures that came last: before them the provider took the conversation. False if it has no
 * picture.
 */
export function leftOutPictures(agent: Agent, error: unknown): boolean {
  if (!(error instanceof ModelError) || error.code !== IMAGE_REFUSED) return false;
  const { head, messages } = agent.conversation;
  const at = messages.findLastIndex(({ blocks }) => blocks.some((block) => withoutPictures(block) !== block));
  const found = messages[at];
  if (found === undefined) return false;
  const message: FrozenMessage = { ...found, blocks: found.blocks.map(withoutPictures) };
  agent.warn('picture_left_out', `${error.message}. The newest pictures are left out of the conversation`);
  agent.replaceConversation({ cause: 'pictures' }, head, [
    ...messages.slice(0, at),
    message,
    ...messages.slice(at + 1),
  ]);
  return true;
}

const LEFT_OUT: TextBlock = {
  type: 'text',
  text: '[A picture stood here. The provider refused the request with it, so it is left out.]',
};

function withoutPictures(block: FrozenBlock): FrozenBlock {
  if (block.type === 'image') return freezeBlock(LEFT_OUT);
  if (block.type !== 'tool_result') return block;
  const result: OtherBlock = contentOf(block);
  // The engine wrote it.
  const content = result.content as string | (TextBlock | ImageBlock)[];
  if (typeof content === 'string' || content.every(({ type }) => type !== 'image')) return block;
  return freezeBlock({ ...result, content: content.map((one) => (one.type === 'image' ? LEFT_OUT : one)) });
}
