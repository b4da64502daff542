/**
 * Pictures that the provider refuses: it would refuse every later request of the conversation too. What is known to be refused
 * never gets there (`model/image-type.ts`); this is for the rest: broken data in a right frame, one picture too many, another
 * server that takes none.
 *
 * Words of refusals differ between providers. Those that name an image are believed; any others may be about something else
 * that passes, so the same request is sent once more. Then it is sent without the newest pictures, without all that this model
 * has not surely taken, and without any, and the answers tell: at most five requests.
 *
 * Invariants
 * 1. A picture is left out only after a request without it was accepted. Until then the conversation is as it was, on record
 *    too: a session that is killed meanwhile sends the same again.
 * 2. No picture is lost by an error that is not there at the second try.
 * 3. Before the first picture that is left out, no byte changes.
 */
import type { FrozenMessage } from '../../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import type { ImageBlock, OtherBlock, TextBlock } from '../../schema/content.ts';
import { ModelError } from '../../schema/errors.ts';
import { itemsOf } from '../../system/persistent.ts';
import type { Agent } from '../agent/agent.ts';
import type { ExchangeOptions, ModelExchange, ReplacedBlocks } from '../exchange/model-exchange.ts';

type Exchange = (agent: Agent, options: ExchangeOptions) => Promise<ModelExchange>;

/** A request that is refused is tried without pictures, if its pictures may be why. */
export async function sparingPictures(
  agent: Agent,
  exchange: Exchange,
  options: ExchangeOptions,
): Promise<ModelExchange> {
  const first = await answerOf(exchange(agent, options));
  if (!(first instanceof ModelError)) return first;
  const trials = trialsOf(agent);
  if (!mayBeOfPicture(first) || trials.length === 0) throw first;
  let refusal = first;
  if (!isOfPicture(first)) {
    const again = await answerOf(exchange(agent, options));
    if (!(again instanceof ModelError)) return again;
    if (isOfPicture(again)) refusal = again;
    else if (again.status !== first.status || again.code !== first.code) throw first;
  }
  const done = await firstAccepted(trials, { agent, exchange, options, refusal });
  if (done === null) throw first;
  return done;
}

/** A prompt that is too long and cannot be made shorter: without pictures that it has not taken. Null if that is refused too. */
export async function shorterByPictures(
  agent: Agent,
  exchange: Exchange,
  options: ExchangeOptions,
  refusal: ModelError,
): Promise<ModelExchange | null> {
  const trials = trialsOf(agent).filter(({ isProven }) => !isProven);
  return firstAccepted(trials, { agent, exchange, options, refusal });
}

interface Refused {
  agent: Agent;
  exchange: Exchange;
  options: ExchangeOptions;
  refusal: ModelError;
}

async function firstAccepted(
  trials: readonly Trial[],
  { agent, exchange, options, refusal }: Refused,
): Promise<ModelExchange | null> {
  for (const { instead, which } of trials) {
    const done = await answerOf(exchange(agent, { ...options, instead }));
    if (done instanceof ModelError) continue;
    leaveOut(agent, instead, `${refusal.message}. ${which} are left out of the conversation`);
    return done;
  }
  return null;
}

async function answerOf(exchange: Promise<ModelExchange>): Promise<ModelExchange | ModelError> {
  try {
    return await exchange;
  } catch (error) {
    if (error instanceof ModelError && isOfContent(error)) return error;
    throw error;
  }
}

const NOT_OF_CONTENT = [401, 403, 408, 409, 429];

/** Whether it is about what was sent, and not about a key, a limit or the state of the provider. */
function isOfContent({ family, status = 400 }: ModelError): boolean {
  return family === 'terminal' && status >= 400 && status < 500 && !NOT_OF_CONTENT.includes(status);
}

function mayBeOfPicture(refusal: ModelError): boolean {
  // A summary helps the first, and money the second.
  if (refusal.code === 'context_window' || refusal.code === 'spend_limit') return false;
  return isOfPicture(refusal) || [400, 413, 422].includes(refusal.status ?? 0);
}

function isOfPicture({ code }: ModelError): boolean {
  return code === 'image_refused';
}

interface Trial {
  instead: readonly ReplacedBlocks[];
  which: string;
  /** Whether it is also without pictures that this model has taken. */
  isProven: boolean;
}

/**
 * First without what came after the last answer: the provider has taken all before, if it is still the same model at the
 * same server.
 */
function trialsOf(agent: Agent): Trial[] {
  const { messages } = agent.conversation;
  const answered = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const newest = withoutPictures(messages, answered);
  const unproven = withoutPictures(messages, acceptedEnd(agent));
  const all = withoutPictures(messages, 0);
  const trials: Trial[] = [
    { instead: newest, which: 'The newest pictures', isProven: false },
    { instead: unproven, which: 'All pictures that it may not have taken', isProven: false },
    { instead: all, which: 'All pictures', isProven: true },
  ];
  return trials.filter(({ instead }, at) => instead.length > (trials[at - 1]?.instead.length ?? 0));
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
