/** Turns an HTTP answer that is not a response into a ModelError that says what to do (facts: section 3.3). */
import type { IncomingHttpHeaders } from 'node:http';
import { ModelError } from '../schema/errors.ts';
import { isContextOverflow } from './context-window.ts';

interface ErrorBody {
  type: string;
  message: string;
  spendLimit: boolean;
}

interface Refusal {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export function errorFromAnswer(answer: Refusal, context: { model: string; origin: string }): ModelError {
  const body = readErrorBody(answer.body);
  const spendLimit = answer.status === 429 && answer.headers['retry-after'] === undefined && body.spendLimit;
  const family = !spendLimit && isRetryable(answer) ? 'retryable' : 'terminal';
  const tooLong = answer.status === 400 && isContextOverflow(body.message);
  const code = spendLimit ? 'spend_limit' : tooLong ? 'context_window' : body.type || `http_${answer.status}`;
  const advice = spendLimit ? 'raise the spend limit of the account' : adviceFor(answer.status, context);
  const message = `${context.origin} answered ${answer.status} ${body.message}${advice && `: ${advice}`}`;
  return new ModelError(code, family, message, {
    status: answer.status,
    retryAfterMs: retryAfterMs(answer.headers),
  });
}

function isRetryable({ status, headers }: Refusal): boolean {
  if (headers['x-should-retry'] === 'true') return true;
  if (headers['x-should-retry'] === 'false') return false;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function adviceFor(status: number, context: { model: string }): string {
  switch (status) {
    case 401:
      return 'check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN';
    case 403:
      return 'the key may not use this model or workspace';
    case 404:
      return `is "${context.model}" a model of this provider, and ANTHROPIC_BASE_URL right?`;
    case 413:
      return 'the conversation is too large for one request; start a new session';
    default:
      return '';
  }
}

/** The delay the server asks for; `retry-after` is in seconds or a date. */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number = Date.now()): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (Number.isFinite(exact) && exact > 0) return exact;
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const delay = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return delay > 0 ? delay : undefined;
}

function readErrorBody(text: string): ErrorBody {
  try {
    const { error } = JSON.parse(text);
    return {
      type: String(error.type ?? ''),
      message: String(error.message ?? error.type ?? ''),
      spendLimit: error.details?.error_code === 'enforced_spend_limit_reached',
    };
  } catch {
    return { type: '', message: text.replace(/\s+/g, ' ').slice(0, 200), spendLimit: false };
  }
}

/** `anthropic-ratelimit-tokens-remaining: 5` becomes `tokens-remaining: 5`. */
export function rateHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const prefix = 'anthropic-ratelimit-';
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(prefix) && typeof value === 'string') found[name.slice(prefix.length)] = value;
  }
  return found;
}
