/**
 * From a judged request to its last byte, in whichever API it was asked: choose an answer, account for the cache, wait
 * as long as the model would, send. The order matters: the cache is read when the request arrives, and what the request
 * writes can be read from the moment the response begins.
 */
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../schema/errors.ts';
import type { Answer, AnsweredMessage } from './answer.ts';
import type { EmulatorState } from './emulator-state.ts';
import {
  type Exchange,
  type HeaderFields,
  openResponse,
  playSteps,
  sendStatusFault,
  stall,
} from './exchange.ts';
import { documentSteps, type ResponseStep, streamSteps } from './fault.ts';
import { firstTokenMs, generationMs } from './latency.ts';
import type { InputUsage } from './messages/cache.ts';
import type { EmittedEvent, StreamBreakage } from './messages/event-stream.ts';
import { askHook, chooseReply, prewarmReply, type Reply, unmatched } from './reply.ts';
import type { RequestView } from './request-view.ts';

/** What differs between the APIs that the emulator speaks. */
export interface AnswerProtocol {
  view: RequestView;
  /** Looks at the cache: what the request reads and writes. */
  admit(): InputUsage;
  compose(answer: Answer, usage: InputUsage): AnsweredMessage;
  /** The response has begun. */
  begin(message: AnsweredMessage): void;
  /** Headers about limits. */
  limits(message: AnsweredMessage): HeaderFields;
  events(message: AnsweredMessage): EmittedEvent[];
  document(message: AnsweredMessage): unknown;
  breakage: StreamBreakage;
}

/** A judged request with all that was decided about it. */
interface Answering {
  state: EmulatorState;
  exchange: Exchange;
  protocol: AnswerProtocol;
  reply: Reply;
}

export async function answerExchange(
  state: EmulatorState,
  exchange: Exchange,
  protocol: AnswerProtocol,
): Promise<void> {
  const { view } = protocol;
  const reply = view.request.max_tokens === 0 ? prewarmReply(state) : chooseReply(state, exchange, view);
  if (reply.fault !== undefined) exchange.record.outcome = 'fault';
  if (reply.fault?.kind === 'status') {
    sendStatusFault(exchange, reply.fault, reply.headers);
    return;
  }
  const usage = protocol.admit();
  const answering = { state, exchange, protocol, reply };
  const message = protocol.compose(reply.answer ?? (await askHook(state, exchange, view)), usage);
  const steps = responseSteps(answering, message);
  exchange.record.usage = message.usage;
  await waitForFirstToken(answering, usage);
  if (exchange.gone.aborted) return;
  if (reply.fault?.kind === 'reset' && reply.fault.at === 'headers') {
    exchange.response.destroy();
    return;
  }
  protocol.begin(message);
  await send(answering, message, steps);
}

function responseSteps(
  { state, exchange, protocol, reply }: Answering,
  message: AnsweredMessage,
): ResponseStep[] {
  const { view } = protocol;
  try {
    return view.request.stream === true
      ? streamSteps(protocol.events(message), reply.fault, protocol.breakage)
      : documentSteps(JSON.stringify(protocol.document(message)), reply.fault);
  } catch (error) {
    throw unmatched(state, exchange, view, describeError(error));
  }
}

/** At least to the end of this event-loop phase, so that requests that came together all miss the cache. */
async function waitForFirstToken(
  { state: { clock }, exchange, reply }: Answering,
  usage: InputUsage,
): Promise<void> {
  const wait = firstTokenMs(reply.latency, usage);
  await (wait > 0 ? clock.sleep(wait, exchange.gone) : setImmediate());
  if (reply.fault?.kind === 'stall' && reply.fault.at === 'headers') {
    await stall(reply.fault.ms, clock, exchange.gone);
  }
}

async function send(
  { state: { clock }, exchange, protocol, reply }: Answering,
  message: AnsweredMessage,
  steps: readonly ResponseStep[],
): Promise<void> {
  const headers = { ...protocol.limits(message), ...reply.headers };
  if (reply.fault?.kind === 'wrong_content_type') {
    openResponse(exchange, 200, 'text/html', headers);
    exchange.response.end('<!doctype html><title>Sign in</title>');
    return;
  }
  if (protocol.view.request.stream === true) {
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
