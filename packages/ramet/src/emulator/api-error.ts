import { describeError } from '../schema/errors.ts';

/** Refusals in the form of the chat completions API. */
export const CHAT_PATH = '/v1/chat/completions';

/** A refusal in the API's own form. Thrown inside the emulator, turned into a response at its edge. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export interface ApiErrorBody {
  type: 'error';
  error: { type: string; message: string; details?: Record<string, unknown> };
  request_id: string;
}

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

export function apiErrorType(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

export function apiErrorBody(
  type: string,
  message: string,
  requestId: string,
  details?: Record<string, unknown>,
): ApiErrorBody {
  const error = details === undefined ? { type, message } : { type, message, details };
  return { type: 'error', error, request_id: requestId };
}

/** The commonest refusal: the request itself is wrong. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, message);
}

/** The JSON of a request's body, or the 400 that both APIs answer with. */
export function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw badRequest(`The request body is not valid JSON: ${describeError(error)}`);
  }
}

interface ChatErrorBody {
  error: { message: string; type: string; param: null; code: string | null };
}

export function chatErrorBody(status: number, message: string, spendLimit = false): ChatErrorBody {
  const [type, code] = spendLimit ? ['insufficient_quota', 'insufficient_quota'] : namesOf(status);
  return { error: { message, type, param: null, code } };
}

function namesOf(status: number): [type: string, code: string | null] {
  if (status === 401) return ['invalid_request_error', 'invalid_api_key'];
  if (status === 404) return ['invalid_request_error', 'model_not_found'];
  if (status === 429) return ['rate_limit_error', 'rate_limit_exceeded'];
  return [status >= 500 ? 'server_error' : 'invalid_request_error', null];
}
