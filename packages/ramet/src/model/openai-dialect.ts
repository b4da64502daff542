/**
 * What a chat completions server takes. Servers differ in two fields that every request needs: OpenAI's newer models
 * refuse `max_tokens`, which most others know alone, and old servers refuse `stream_options`. A refusal that names
 * such a field is an answer to the question, not a failure: it is asked again in the other way, and remembered.
 */
import type { ChatRequest } from './openai-request.ts';

export interface OpenaiDialect {
  limitField: 'max_tokens' | 'max_completion_tokens';
  /** Whether usage is asked for; without it many servers count nothing in a stream. */
  asksUsage: boolean;
}

export function firstDialect(url: URL): OpenaiDialect {
  const official = /(?:^|\.)openai\.(?:com|azure\.com)$/.test(url.hostname);
  return { limitField: official ? 'max_completion_tokens' : 'max_tokens', asksUsage: true };
}

export function inDialect(request: ChatRequest, { limitField, asksUsage }: OpenaiDialect): ChatRequest {
  const { max_tokens, stream_options, ...rest } = request;
  return {
    ...rest,
    ...(max_tokens === undefined ? {} : { [limitField]: max_tokens }),
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
  if (dialect.limitField === 'max_tokens' && refusal.body.includes('max_completion_tokens')) {
    return { ...dialect, limitField: 'max_completion_tokens' };
  }
  return null;
}
