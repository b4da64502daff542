/**
 * What a chat completions server takes. Servers differ in fields: OpenAI's newer models refuse `max_tokens`, which most
 * others know alone, old servers refuse `stream_options`, and models that do not reason `reasoning_effort`. A refusal that names
 * such a field is an answer to the question, not a failure: it is asked again in the other way, and remembered.
 */
import type { ChatRequest } from './openai-request.ts';

export interface OpenaiDialect {
  limitField: 'max_tokens' | 'max_completion_tokens';
  /** Whether usage is asked for; without it many servers count nothing in a stream. */
  asksUsage: boolean;
  /** Whether it is told how hard to think. */
  reasons: boolean;
}

export function firstDialect(url: URL): OpenaiDialect {
  const official = /(?:^|\.)openai\.(?:com|azure\.com)$/.test(url.hostname);
  return { limitField: official ? 'max_completion_tokens' : 'max_tokens', asksUsage: true, reasons: true };
}

export function inDialect(
  request: ChatRequest,
  { limitField, asksUsage, reasons }: OpenaiDialect,
): ChatRequest {
  const { max_tokens, stream_options, reasoning_effort, ...rest } = request;
  return {
    ...rest,
    ...(max_tokens === undefined ? {} : { [limitField]: max_tokens }),
    ...(reasons && reasoning_effort !== undefined ? { reasoning_effort } : {}),
    ...(asksUsage && stream_options !== undefined ? { stream_options } : {}),
  };
}

/** The dialect to try after this refusal, or null when it is about something else. */
export function dialectAfter(
  dialect: OpenaiDialect,
  refusal: { status: number; body: string },
): OpenaiDialect | null {
  if (refusal.status !== 400 && refusal.status !== 422) return null;
  if (dialect.asksUsage && /stream_options|include_usage/.test(refusal.body)) {
    return { ...dialect, asksUsage: false };
  }
  if (dialect.reasons && /reasoning_effort|reasoning\.effort/.test(refusal.body)) {
    return { ...dialect, reasons: false };
  }
  if (dialect.limitField === 'max_tokens' && refusal.body.includes('max_completion_tokens')) {
    return { ...dialect, limitField: 'max_completion_tokens' };
  }
  return null;
}
