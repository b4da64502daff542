/** `POST /v1/chat/completions`: the same scenarios, hooks and faults, in the words of the other API. */
import { composeMessage } from '../answer.ts';
import { answerExchange } from '../answer-exchange.ts';
import type { EmulatorState } from '../emulator-state.ts';
import type { Exchange } from '../exchange.ts';
import type { WireRequest } from '../messages/message-request.ts';
import { viewRequest } from '../request-view.ts';
import type { ChatAdmission } from './chat-cache.ts';
import { CHAT_BREAKAGE, chatDocument, chatEvents } from './chat-completion.ts';
import { type ChatWireRequest, parseChatRequest } from './chat-request.ts';
import { translateChat } from './chat-translation.ts';

export interface JudgedChat {
  chat: ChatWireRequest;
  /** The same in the words of the Messages API. */
  request: WireRequest;
  key: string;
}

/** Parses and judges the body; the record gets the translated request. */
export function judgeChat({ record }: Exchange, key: string): JudgedChat {
  const chat = parseChatRequest(record.body);
  const request = translateChat(chat);
  record.request = request;
  return { chat, request, key };
}

export async function answerChat(
  state: EmulatorState,
  exchange: Exchange,
  { chat, request, key }: JudgedChat,
): Promise<void> {
  const { time } = exchange.record;
  const created = Math.floor(time / 1000);
  let admission: ChatAdmission | undefined;
  await answerExchange(state, exchange, {
    view: viewRequest(request, exchange.headers),
    admit: () => {
      admission = state.chatCache.admit(JSON.stringify([key, chat.model]), promptText(chat), time);
      return admission.usage;
    },
    compose: (answer, usage) =>
      composeMessage(answer, {
        id: state.newId('chatcmpl'),
        model: chat.model,
        usage,
        place: () => '', // chat completions sign no thinking
        newToolId: () => state.newId('call'),
      }),
    begin: () => {
      if (admission !== undefined) state.chatCache.begin(admission);
    },
    limits: () => ({}),
    events: (message) => chatEvents(message, { created, usage: chat.stream_options?.include_usage === true }),
    document: (message) => chatDocument(message, created),
    breakage: CHAT_BREAKAGE,
  });
}

/** All that the model reads, in the order in which it reads it. */
function promptText({ tools = [], messages }: ChatWireRequest): string {
  return [...tools, ...messages].map((part) => JSON.stringify(part)).join('');
}
