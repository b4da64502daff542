/**
 * `POST /v1/messages`, from a judged request to its last byte: choose an answer, account for the cache, wait as long
 * as the model would, send. The order matters: the cache is looked at when the request arrives, and what it writes can
 * be read from the moment the response begins.
 */
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../schema/errors.ts';
import { type Answer, type AnsweredMessage, composeMessage } from './answer.ts';
import { badRequest } from './api-error.ts';
import type { CacheAdmission } from './cache.ts';
import type { EmulatorState } from './emulator-state.ts';
import { messageEvents } from './event-stream.ts';
import { type Exchange, openResponse, playSteps, sendStatusFault, stall } from './exchange.ts';
import { documentSteps, type ResponseStep, streamSteps } from './fault.ts';
import { firstTokenMs, generationMs } from './latency.ts';
import { parseRequest, type WireRequest } from './message-request.ts';
import { buildPrompt, type Prompt } from './prompt.ts';
import { askHook, chooseReply, prewarmReply, type Reply, unmatched } from './reply.ts';
import { checkRequest } from './request-rules.ts';
import { type RequestView, viewRequest } from './request-view.ts';
import { placeOfAnswer } from './thinking-seal.ts';

/** A judged request with all that was decided about it. */
interface Answering {
  state: EmulatorState;
  exchange: Exchange;
  view: RequestView;
  reply: Reply;
  admission: CacheAdmission;
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
  const view = viewRequest(request, exchange.headers);
  const reply = request.max_tokens === 0 ? prewarmReply(state) : chooseReply(state, exchange, view);
  if (reply.fault !== undefined) exchange.record.outcome = 'fault';
  if (reply.fault?.kind === 'status') {
    sendStatusFault(exchange, reply.fault, reply.headers);
    return;
  }
  const admission = state.cache.admit(prompt, exchange.record.time);
  const answering = { state, exchange, view, reply, admission };
  const message = compose(answering, reply.answer ?? (await askHook(state, exchange, view)), prompt);
  const steps = responseSteps(answering, message);
  exchange.record.usage = message.usage;
  await waitForFirstToken(answering);
  if (exchange.gone.aborted) return;
  if (reply.fault?.kind === 'reset' && reply.fault.at === 'headers') {
    exchange.response.destroy();
    return;
  }
  state.cache.begin(admission);
  state.thinking.remember(request.model, message.content);
  await send(answering, message, steps);
}

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

function compose({ state, admission }: Answering, answer: Answer, prompt: Prompt): AnsweredMessage {
  return composeMessage(answer, {
    id: state.newId('msg'),
    model: prompt.model,
    usage: admission.usage,
    place: () => placeOfAnswer(prompt.sent, prompt.model),
    newToolId: () => state.newId('toolu'),
  });
}

function responseSteps(
  { state, exchange, view, reply }: Answering,
  message: AnsweredMessage,
): ResponseStep[] {
  try {
    return view.request.stream === true
      ? streamSteps(messageEvents(message), reply.fault)
      : documentSteps(JSON.stringify(message), reply.fault);
  } catch (error) {
    throw unmatched(state, exchange, view, describeError(error));
  }
}

/** At least to the end of this event-loop phase, so that requests that came together all miss the cache. */
async function waitForFirstToken({ state: { clock }, exchange, reply, admission }: Answering): Promise<void> {
  const wait = firstTokenMs(reply.latency, admission.usage);
  await (wait > 0 ? clock.sleep(wait, exchange.gone) : setImmediate());
  if (reply.fault?.kind === 'stall' && reply.fault.at === 'headers') {
    await stall(reply.fault.ms, clock, exchange.gone);
  }
}

async function send(
  { state: { clock, rateLimits }, exchange, view, reply }: Answering,
  message: AnsweredMessage,
  steps: readonly ResponseStep[],
): Promise<void> {
  const headers = { ...rateLimits?.count(message.usage, exchange.record.time), ...reply.headers };
  if (reply.fault?.kind === 'wrong_content_type') {
    openResponse(exchange, 200, 'text/html', headers);
    exchange.response.end('<!doctype html><title>Sign in</title>');
    return;
  }
  if (view.request.stream === true) {
    openResponse(exchange, 200, 'text/event-stream; charset=utf-8', {
      'cache-control': 'no-cache',
      ...headers,
    });
    await playSteps(exchange, steps, clock, (tokens) => generationMs(reply.latency, tokens));
    return;
  }
  const generation = generationMs(reply.latency, message.usage.output_tokens);
  if (generation > 0) await clock.sleep(generation, exchange.gone);
  if (exchange.gone.aborted) return;
  openResponse(exchange, 200, 'application/json', headers);
  await playSteps(exchange, steps, clock, () => 0);
}
