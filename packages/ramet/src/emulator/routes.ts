/** Which path does what, who may ask, and which models exist. Everything else is a 404 in the API's form. */
import { MODELS } from '../model/catalog.ts';
import { ApiError, CHAT_PATH } from './api-error.ts';
import { answerChat, judgeChat } from './chat/chat-endpoint.ts';
import type { EmulatorOptions, EmulatorState } from './emulator-state.ts';
import { type Exchange, sendJson } from './exchange.ts';
import { answerMessages, judgeRequest } from './messages/messages-endpoint.ts';

export async function route(
  state: EmulatorState,
  exchange: Exchange,
  options: EmulatorOptions,
): Promise<void> {
  const { record } = exchange;
  if (state.recorder !== undefined) return state.recorder.forward(exchange);
  if (state.cassette !== undefined) {
    // A cassette answers any path: what was asked is in the message alone.
    return state.cassette.answer(exchange, (message) =>
      state.unmatched.push({ model: '', turn: 0, last: '', message }),
    );
  }
  const key = authenticate(exchange, options.requireKey);
  if (record.path !== CHAT_PATH) requireVersion(exchange);
  switch (`${record.method} ${record.path}`) {
    case `POST ${CHAT_PATH}`:
      return answerChat(state, exchange, ofKnownModel(judgeChat(exchange, key), options));
    case 'POST /v1/messages':
      return answerMessages(state, exchange, ofKnownModel(judgeRequest(exchange, key, false), options));
    case 'POST /v1/messages/count_tokens': {
      const { prompt } = ofKnownModel(judgeRequest(exchange, key, true), options);
      return sendJson(exchange, 200, { input_tokens: prompt.tokens });
    }
    case 'GET /v1/models':
      return sendJson(exchange, 200, modelList());
    default:
      throw new ApiError(404, `${record.method} ${record.path}: Not found`);
  }
}

/** The key, which also decides whose cache is read; empty when none was sent and none is required. */
function authenticate({ headers }: Exchange, required: string | undefined): string {
  const key = headers['x-api-key'] || (headers.authorization ?? '').replace(/^Bearer /i, '');
  if (required !== undefined && key === '') throw new ApiError(401, 'x-api-key header is required');
  if (required !== undefined && key !== required) throw new ApiError(401, 'invalid x-api-key');
  return key;
}

function requireVersion({ headers }: Exchange): void {
  if (headers['anthropic-version'] === undefined)
    throw new ApiError(400, 'anthropic-version: header is required');
}

function ofKnownModel<Judged extends { request: { model: string } }>(
  judged: Judged,
  { unknownModels }: EmulatorOptions,
): Judged {
  const { model } = judged.request;
  if (unknownModels?.includes(model) === true) throw new ApiError(404, `model: ${model}`);
  return judged;
}

function modelList(): unknown {
  const data = MODELS.map(({ id }) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: '1970-01-01T00:00:00Z', // the API's value for an unknown date
  }));
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}
