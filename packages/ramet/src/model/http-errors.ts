/** Turns an HTTP answer that is not a response into a ModelError that says what to do (facts: section 3.3). */
import type { IncomingHttpHeaders } from 'node:http';
import { ModelError } from '../schema/errors.ts';
import { isContextOverflow } from './catalog.ts';
import type { EndpointNames } from './http-post.ts';
import { LONGEST_PAUSE_MS } from './rate/machine-rates.ts';
import { rateHeaders } from './rate/rate-headers.ts';

interface ErrorBody {
  type: string;
  message: string;
  spendLimit: boolean;
  contextWindow: boolean;
}

interface Refusal {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

interface RefusalContext {
  model: string;
  origin: string;
  names: EndpointNames;
}

export function errorFromAnswer(answer: Refusal, context: RefusalContext): ModelError {
  const body = readErrorBody(answer.body);
  const spendLimit = answer.status === 429 && answer.headers['retry-after'] === undefined && body.spendLimit;
  const family = !spendLimit && isRetryable(answer) ? 'retryable' : 'terminal';
  const code = codeOf(answer.status, body, spendLimit, context.model);
  const advice = spendLimit ? 'raise the spend limit of the account' : adviceFor(answer, code, context);
  const message = `${context.origin} answered ${answer.status} ${body.message}${advice && `: ${advice}`}`;
  return new ModelError(code, family, message, {
    status: answer.status,
    retryAfterMs: retryAfterMs(answer.headers),
    rate: rateHeaders(answer.headers),
    model: context.model,
  });
}

function codeOf(status: number, body: ErrorBody, spendLimit: boolean, model: string): string {
  if (spendLimit) return 'spend_limit';
  if (status === 400 && body.contextWindow) return 'context_window';
  // A model may be called after images.
  if (isAboutContent(status) && IMAGE.test(body.message.replaceAll(model, ''))) return 'image_refused';
  return body.type || `http_${status}`;
}

function isRetryable({ status, headers }: Refusal): boolean {
  if (headers['x-should-retry'] === 'true') return true;
  if (headers['x-should-retry'] === 'false') return false;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Any refusal but those of a key, of a limit, or for a time. */
function isAboutContent(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 408, 409, 429].includes(status);
}

/** Also within names such as image_url and media_type. */
const IMAGE = /(?<![a-z])(?:image|picture|photo|(?:media|attachments?)(?![a-z]))/i;

function adviceFor({ status }: Refusal, code: string, { model, names }: RefusalContext): string {
  switch (status) {
    case 401:
      return `check ${names.key}`;
    case 403:
      return 'the key may not use this model or workspace';
    case 404:
      return code === 'image_refused'
        ? ''
        : `is "${model}" a model of this provider, and ${names.baseUrl} right?`;
    case 413:
      return 'the conversation is too large for one request; start a new session';
    default:
      return '';
  }
}

/** The delay the server asks for; `retry-after` is in seconds or a date. What nobody can mean, such as years, is none. */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number = Date.now()): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (exact > 0 && exact <= LONGEST_PAUSE_MS) return exact;
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const delay = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return delay > 0 && delay <= LONGEST_PAUSE_MS ? delay : undefined;
}

const LONGEST_QUOTE = 200;

/** Providers agree on `error: {type, message}`; servers of their kind also put it at the top, or only a text. */
function readErrorBody(text: string): ErrorBody {
  try {
    const body = JSON.parse(text);
    const error = typeof body.error === 'object' && body.error !== null ? body.error : body;
    const plain = typeof body.error === 'string' ? body.error : body.detail;
    const type = typeof error.type === 'string' ? error.type : '';
    const said = error.message ?? plain ?? type;
    const message = typeof said === 'string' ? said : JSON.stringify(said).slice(0, LONGEST_QUOTE);
    return { type, message, ...meaningOf(type, message, error) };
  } catch {
    const message = text.replace(/\s+/g, ' ').slice(0, LONGEST_QUOTE);
    return { type: '', message, spendLimit: false, contextWindow: false };
  }
}

/** What must be known of an error by name, wherever a provider says it: type, code, details or only the text. */
function meaningOf(
  type: string,
  message: string,
  { code, details }: { code?: unknown; details?: { error_code?: unknown } | null },
): Pick<ErrorBody, 'spendLimit' | 'contextWindow'> {
  const names = [type, code, details?.error_code];
  return {
    spendLimit: names.includes('enforced_spend_limit_reached') || names.includes('insufficient_quota'),
    contextWindow: isContextOverflow(`${type} ${code} ${message}`),
  };
}
