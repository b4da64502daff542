/**
 * Pictures that the provider refuses: it would refuse every later request of the conversation too. What is known to be refused
 * never gets there (`model/image-type.ts`); this is for the rest: broken data in a right frame, one picture too many.
 *
 * What a refusal is about is not read from its words, which differ between providers: the same request is sent without the
 * pictures, and its answer tells.
 *
 * Invariants
 * 1. A picture is left out only after a request without it was accepted. Until then the conversation is as it was, on record
 *    too: a session that is killed meanwhile sends the same again.
 * 2. Before the first picture that is left out, no byte changes.
 */
import type { FrozenMessage } from '../../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import type { ImageBlock, OtherBlock, TextBlock } from '../../schema/content.ts';
import { ModelError } from '../../schema/errors.ts';
import { itemsOf } from '../../system/persistent.ts';
import type { Agent } from '../agent/agent.ts';
import type { ExchangeOptions, ModelExchange, ReplacedBlocks } from '../exchange/model-exchange.ts';

/** A request that is refused is tried without pictures that nobody has accepted yet. */
export async function sparingPictures(
  agent: Agent,
  exchange: (options: ExchangeOptions) => Promise<ModelExchange>,
  options: ExchangeOptions,
): Promise<ModelExchange> {
  try {
    return await exchange(options);
  } catch (refusal) {
    if (!isBadRequest(refusal)) throw refusal;
    for (const { instead, which } of trialsOf(agent, refusal)) {
      const done = await exchange({ ...options, instead }).catch((error) => {
        if (isBadRequest(error)) return null;
        throw error;
      });
      if (done === null) continue;
      leaveOut(agent, instead, `${refusal.message}. ${which} are left out of the conversation`);
      return done;
    }
    throw refusal;
  }
}

const BAD_REQUEST = [400, 413, 422];

/** Any but those about the context window, which a summary helps, and about money. */
function isBadRequest(error: unknown): error is ModelError {
  if (!(error instanceof ModelError) || error.family !== 'terminal') return false;
  if (error.code === 'context_window' || error.code === 'spend_limit') return false;
  return isOfPicture(error) || BAD_REQUEST.includes(error.status ?? 0);
}

function isOfPicture({ code }: ModelError): boolean {
  return code === 'image_refused';
}

interface Trial {
  instead: readonly ReplacedBlocks[];
  which: string;
}

/**
 * First without what came after the last answer: the provider has taken all before. If it need not have, since the model
 * is another now or the words are of a picture, then without all of them.
 */
function* trialsOf(agent: Agent, refusal: ModelError): Generator<Trial> {
  const { messages } = agent.conversation;
  const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const newest = withoutPictures(messages, answered);
  if (newest.length > 0) yield { instead: newest, which: 'The newest pictures' };
  const all = withoutPictures(messages, isOfPicture(refusal) ? 0 : acceptedEnd(agent));
  if (all.length > newest.length) yield { instead: all, which: 'All pictures that it may not have taken' };
}

/** How many messages this model has surely taken: those up to its last answer in this very conversation. */
function acceptedEnd({ conversation, state }: Agent): number {
  const own = itemsOf(state.messages);
  const inherited = conversation.messages.length - own.length;
  return inherited + own.findLastIndex(({ cause }) => cause === 'response') + 1;
}

function withoutPictures(messages: readonly FrozenMessage[], from: number): ReplacedBlocks[] {
  return messages.flatMap(({ blocks }, message) => {
    const others = message < from ? blocks : blocks.map(withoutPicture);
    return others.some((block, at) => block !== blocks[at]) ? [{ message, blocks: others }] : [];
  });
}

function leaveOut(agent: Agent, instead: readonly ReplacedBlocks[], warning: string): void {
  const { head, messages } = agent.conversation;
  const others = new Map(instead.map(({ message, blocks }) => [message, blocks]));
  agent.warn('picture_left_out', warning);
  agent.replaceConversation(
    { cause: 'pictures' },
    head,
    messages.map((message, at) => {
      const blocks = others.get(at);
      return blocks === undefined ? message : { role: message.role, blocks, shared: message.shared };
    }),
  );
}

const LEFT_OUT: TextBlock = {
  type: 'text',
  text: '[A picture stood here. The provider refused the request with it, so it is left out.]',
};

function withoutPicture(block: FrozenBlock): FrozenBlock {
  if (block.type === 'image') return freezeBlock(LEFT_OUT);
  if (block.type !== 'tool_result') return block;
  const result: OtherBlock = contentOf(block);
  // The engine wrote it.
  const content = result.content as string | (TextBlock | ImageBlock)[];
  if (typeof content === 'string' || content.every(({ type }) => type !== 'image')) return block;
  return freezeBlock({ ...result, content: content.map((one) => (one.type === 'image' ? LEFT_OUT : one)) });
}
