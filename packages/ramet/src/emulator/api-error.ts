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
