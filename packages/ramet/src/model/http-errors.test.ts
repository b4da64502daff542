import { describe, expect, test } from 'vitest';
import { errorFromAnswer, retryAfterMs } from './http-errors.ts';

const context = {
  model: 'claude-x',
  origin: 'http://127.0.0.1:1',
  names: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
};
const body = (type: string, message: string, details?: object): string =>
  JSON.stringify({
    type: 'error',
    error: { type, message, ...(details ? { details } : {}) },
    request_id: 'r',
  });

describe('MODEL-2: what an error answer means', () => {
  test.each([
    [400, 'terminal'],
    [401, 'terminal'],
    [402, 'terminal'],
    [403, 'terminal'],
    [404, 'terminal'],
    [408, 'retryable'],
    [409, 'retryable'],
    [413, 'terminal'],
    [429, 'retryable'],
    [500, 'retryable'],
    [504, 'retryable'],
    [529, 'retryable'],
  ])('%i is %s', (status, family) => {
    expect(errorFromAnswer({ status, headers: {}, body: body('some_error', 'why') }, context)).toMatchObject({
      family,
      status,
      model: context.model,
      code: 'some_error',
    });
  });

  test.for([
    [400, 'messages.0.content.1.image: image dimensions exceed max allowed size: 8000 pixels', true],
    [400, 'Could not process image', true],
    [400, 'messages.0.content.0.image_url: bad', true],
    [400, 'attachment could not be decoded', true],
    [404, 'No endpoints found that support image input', true],
    [413, 'too many media blocks', true],
    [415, 'Unsupported media', true],
    [400, 'max_tokens is missing', false],
    [400, 'imagine an intermediate medial word', false],
    [404, 'model image-model-1 does not exist', false],
    [401, 'no key for image input', false],
    [403, 'no image for this key', false],
    [429, 'too many images', false],
    [500, 'image service failed', false],
  ] as const)('%i %s has a code of its own if it is about a picture', ([status, message, isOfImage]) => {
    const answer = { status, headers: {}, body: body('invalid_request_error', message) };
    const error = errorFromAnswer(answer, { ...context, model: 'image-model-1' });
    expect(error.code === 'image_refused').toBe(isOfImage);
  });

  test('404 about images gives no advice about the name of the model', () => {
    const answer = {
      status: 404,
      headers: {},
      body: body('x', 'No endpoints found that support image input'),
    };
    expect(errorFromAnswer(answer, context).message).toMatch(/image input$/);
  });

  test('a body whose words are values is quoted as it is', () => {
    const detail = [{ loc: ['body', 'messages'], msg: 'field required' }];
    const answer = { status: 422, headers: {}, body: JSON.stringify({ detail }) };
    expect(errorFromAnswer(answer, context).message).toBe(
      `http://127.0.0.1:1 answered 422 ${JSON.stringify(detail)}`,
    );
  });

  test('RES-7: a prompt that does not fit the context window has a code of its own', () => {
    const answer = {
      status: 400,
      headers: {},
      body: body('invalid_request_error', 'prompt is too long: 9 > 8'),
    };
    expect(errorFromAnswer(answer, context)).toMatchObject({ code: 'context_window', family: 'terminal' });
  });

  test('the server decides by x-should-retry', () => {
    const answer = { status: 400, headers: { 'x-should-retry': 'true' }, body: '' };
    expect(errorFromAnswer(answer, context).family).toBe('retryable');
    const no = { status: 529, headers: { 'x-should-retry': 'false' }, body: '' };
    expect(errorFromAnswer(no, context).family).toBe('terminal');
  });

  test('a reached spend limit is not retried; a 429 without retry-after is', () => {
    const spend = body('rate_limit_error', 'spent', { error_code: 'enforced_spend_limit_reached' });
    expect(errorFromAnswer({ status: 429, headers: {}, body: spend }, context)).toMatchObject({
      code: 'spend_limit',
      family: 'terminal',
    });
    const busy = body('rate_limit_error', 'slow down');
    expect(errorFromAnswer({ status: 429, headers: {}, body: busy }, context).family).toBe('retryable');
  });

  test('the message names the place, the reason and what to do, in one line', () => {
    const error = errorFromAnswer(
      { status: 404, headers: {}, body: body('not_found_error', 'no model') },
      context,
    );
    expect(error.message).toBe(
      'http://127.0.0.1:1 answered 404 no model: is "claude-x" a model of this provider, and ANTHROPIC_BASE_URL right?',
    );
  });

  test('a body that is not JSON is quoted in one line', () => {
    const html = '<html>\n<h1>Bad gateway</h1>\n</html>';
    const error = errorFromAnswer({ status: 502, headers: {}, body: html }, context);
    expect(error.message).toBe('http://127.0.0.1:1 answered 502 <html> <h1>Bad gateway</h1> </html>');
  });
});

describe('MODEL-1: error bodies of servers that differ', () => {
  const refused = (status: number, answer: object): object =>
    errorFromAnswer({ status, headers: {}, body: JSON.stringify(answer) }, context);

  test.each<[string, object]>([
    ['an error object', { error: { message: 'no such model', type: 'x', param: null, code: null } }],
    ['a bare error text', { error: 'no such model' }],
    ['an error at the top', { object: 'error', message: 'no such model', type: 'NotFound', code: 404 }],
    ['a detail', { detail: 'no such model' }],
  ])('%s is read', (_, answer) => {
    expect(refused(404, answer)).toMatchObject({
      family: 'terminal',
      message: expect.stringContaining('answered 404 no such model: is "claude-x" a model'),
    });
  });

  test('an empty account is a spend limit and not retried', () => {
    const answer = { error: { message: 'no more', type: 'insufficient_quota', code: 'insufficient_quota' } };
    expect(refused(429, answer)).toMatchObject({ code: 'spend_limit', family: 'terminal' });
  });

  test.each<[string, object]>([
    ['a code', { error: { message: 'no', type: 'invalid_request_error', code: 'context_length_exceeded' } }],
    ['a type', { error: { message: 'no', type: 'exceed_context_size_error', code: 400 } }],
    ['a text', { error: { message: 'prompt is too long: 210000 tokens', type: 'invalid_request_error' } }],
    ['another', { error: { message: "This model's maximum context length is 8192 tokens.", code: 400 } }],
  ])('MODEL-2: a conversation that no longer fits has one name, told by %s', (_, answer) => {
    expect(refused(400, answer)).toMatchObject({ code: 'context_window', family: 'terminal' });
  });
});

test('retry-after is read as seconds, as a date and in milliseconds', () => {
  expect(retryAfterMs({ 'retry-after': '2' })).toBe(2_000);
  expect(retryAfterMs({ 'retry-after-ms': '150', 'retry-after': '2' })).toBe(150);
  const date = new Date(10_000).toUTCString();
  expect(retryAfterMs({ 'retry-after': date }, 4_000)).toBe(6_000);
  expect(retryAfterMs({ 'retry-after': date }, 20_000)).toBeUndefined();
  expect(retryAfterMs({ 'retry-after': 'soon' })).toBeUndefined();
});

test('a refusal keeps what it says about rate limits', () => {
  const headers = { 'anthropic-ratelimit-requests-remaining': '0' };
  expect(errorFromAnswer({ status: 429, headers, body: '' }, context).rate).toEqual({
    'requests-remaining': '0',
  });
});
