/** `POST /v1/messages`: judges a request and says what is particular to the Messages API. */
import { composeMessage } from '../answer.ts';
import { answerExchange } from '../answer-exchange.ts';
import { badRequest } from '../api-error.ts';
import type { EmulatorState } from '../emulator-state.ts';
import type { Exchange } from '../exchange.ts';
import { viewRequest } from '../request-view.ts';
import type { CacheAdmission } from './cache.ts';
import { MESSAGE_BREAKAGE, messageEvents } from './event-stream.ts';
import { parseRequest, type WireRequest } from './message-request.ts';
import { buildPrompt, type Prompt } from './prompt.ts';
import { checkRequest } from './request-rules.ts';
import { placeOfAnswer } from './thinking-seal.ts';

export interface JudgedRequest {
  request: WireRequest;
  prompt: Prompt;
}

/** Parses and judges the body; the parsed request is put in the record. */
export function judgeRequest(exchange: Exchange, key: string, counting: boolean): JudgedRequest {
  const { record, headers } = exchange;
  const request = parseRequest(record.body, { counting });
  record.request = request;
  checkRequest(request);
  const betas = (headers['anthropic-beta'] ?? '').split(',').map((beta) => beta.trim());
  const prompt = buildPrompt(request, { key, betas: betas.filter((beta) => beta !== '') });
  return { request, prompt };
}

export async function answerMessages(
  state: EmulatorState,
  exchange: Exchange,
  { request, prompt }: JudgedRequest,
): Promise<void> {
  state.thinking.check(request);
  if (prompt.tokens > state.contextWindow) {
    throw badRequest(`prompt is too long: ${prompt.tokens} tokens > ${state.contextWindow} maximum`);
  }
  let admission: CacheAdmission | undefined;
  await answerExchange(state, exchange, {
    view: viewRequest(request, exchange.headers),
    admit: () => {
      admission = state.cache.admit(prompt, exchange.record.time);
      return admission.usage;
    },
    compose: (answer, usage) =>
      composeMessage(answer, {
        id: state.newId('msg'),
        model: prompt.model,
        usage,
        place: () => placeOfAnswer(prompt.sent, prompt.model),
        newToolId: () => state.newId('toolu'),
      }),
    begin: ({ content }) => {
      if (admission !== undefined) state.cache.begin(admission);
      state.thinking.remember(request.model, content);
    },
    limits: ({ usage }) => state.rateLimits?.count(usage, exchange.record.time) ?? {},
    events: messageEvents,
    document: (message) => message,
    breakage: MESSAGE_BREAKAGE,
  });
}
