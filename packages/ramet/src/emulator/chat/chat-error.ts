/** Refusals in the form of the chat completions API. */
export const CHAT_PATH = '/v1/chat/completions';

export interface ChatErrorBody {
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
