import { describe, expect, test } from 'vitest';
import { startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { ModelError } from '../../schema/errors.ts';
import { type ScriptedAnswer, type SentRequest, scriptedModel } from '../../testing/scripted-model.ts';

type Step = ScriptedAnswer | ModelError;

const picture = (data: string) =>
  ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }) as const;
const look = toolOf('Look', 'read', async (input) => ({
  content: [{ type: 'text', text: 'Seen:' }, picture(String(Object(input).data))],
}));
const call = (data: string): Step => ({
  text: 'looking',
  calls: [{ name: 'Look', input: { data }, id: data }],
});
const DONE: Step = { text: 'done' };
const refusedWith = (words: string, status = 400, code = 'invalid_request_error'): ModelError =>
  new ModelError(code, 'terminal', `http://127.0.0.1:1 answered ${status} ${words}`, { status });
const ofPicture = (words = 'bad image', status = 400): ModelError =>
  refusedWith(words, status, 'image_refused');

/** What each request carried. */
function picturesOf({ messages }: SentRequest): string[] {
  return [...JSON.stringify(messages).matchAll(/"image\/png","data":"(\w+)"/g)].map(([, data = '']) => data);
}

async function runWith(steps: Step[], spec: { fallbackModel?: string } = {}) {
  const model = scriptedModel(...steps);
  const engine = await startEngine({ provider: model, tools: [look], spec });
  const { result, events } = await engine.run('look');
  model.assertDone();
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event] : []));
  return { ...engine, model, result, warnings, carried: model.requests.map(picturesOf) };
}

describe('RES-6: pictures that the provider refuses', () => {
  const leftOutOnce = async (refusals: ModelError[]): Promise<void> => {
    const { result, warnings, carried, model, recorded } = await runWith([
      call('good'),
      call('bad'),
      ...refusals,
      call('more'),
      DONE,
    ]);
    expect(result).toMatchObject({ status: 'done', text: 'done' });
    const refused = refusals.map(() => ['good', 'bad']);
    expect(carried).toEqual([[], ['good'], ...refused, ['good'], ['good', 'more']]);
    expect(warnings).toMatchObject([
      {
        code: 'picture_left_out',
        message: `${refusals[0]?.message}. The newest pictures are left out of the conversation`,
      },
    ]);
    expect(model.requests[2 + refusals.length]?.messages.at(-1)?.content).toMatchObject([
      {
        tool_use_id: 'bad',
        content: [{ text: 'Seen:' }, { text: expect.stringContaining('A picture stood here') }],
      },
    ]);
    // On record the conversation changes once its new form was accepted, not before.
    const order = recorded().map(({ type }) => type);
    const replaced = order.indexOf('conversation.replaced');
    expect(order.slice(0, replaced).filter((type) => type === 'request.started')).toHaveLength(
      3 + refusals.length,
    );
    expect(order.indexOf('response.completed', replaced)).toBeGreaterThan(replaced);
  };

  test.for([400, 404, 413, 415, 422])(
    '%i in words about images: the newest are left out with a warning, and the conversation continues',
    (status) => leftOutOnce([ofPicture('Could not process image', status)]),
  );

  test.for([
    ['Bad Request', 400],
    ['content.1: too many blocks: 101 > 100', 422],
    ['Request exceeds the maximum size', 413],
  ] as const)('%s: they are left out once the same was refused again', ([words, status]) =>
    leftOutOnce([refusedWith(words, status), refusedWith(`${words} (request 2)`, status)]),
  );

  test.for([
    'Your credit balance is too low to access the API',
    'tools.0.input_schema: JSON schema is invalid',
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'Output blocked by content filtering policy',
  ])('%s: an error that passes takes no picture', async (words) => {
    const { carried, warnings, result, recorded } = await runWith([
      call('one'),
      refusedWith(words),
      call('two'),
      DONE,
    ]);
    expect(result).toMatchObject({ status: 'done' });
    expect(carried).toEqual([[], ['one'], ['one'], ['one', 'two']]);
    expect(warnings).toEqual([]);
    expect(recorded().filter(({ type }) => type === 'conversation.replaced')).toEqual([]);
  });

  test('a second refusal of another kind is none of the pictures: the first error is shown', async () => {
    const { carried, result } = await runWith([
      call('one'),
      refusedWith('no'),
      refusedWith('other', 422, 'unprocessable'),
    ]);
    expect(carried).toEqual([[], ['one'], ['one']]);
    expect(result).toMatchObject({ status: 'failed', message: 'http://127.0.0.1:1 answered 400 no' });
  });

  test('a second refusal that names images is believed', async () => {
    const { carried, warnings } = await runWith([call('one'), refusedWith('no'), ofPicture(), DONE]);
    expect(carried).toEqual([[], ['one'], ['one'], []]);
    expect(warnings).toMatchObject([{ message: expect.stringContaining('bad image. The newest') }]);
  });

  test('what the provider has accepted before stays, byte for byte', async () => {
    const { model } = await runWith([call('good'), call('bad'), ofPicture(), DONE]);
    const sent = model.requests.map(({ messages }) =>
      JSON.stringify(messages).replace(/,"cache_control":\{[^}]*\}/g, ''),
    );
    const accepted = sent[1]?.slice(0, -1) ?? '';
    expect(sent[3]?.slice(0, accepted.length)).toBe(accepted);
  });

  test.for([
    ['tools.0.input_schema: JSON schema is invalid', 400],
    ['Your credit balance is too low', 400],
    ['messages.1.content.0: Invalid `signature` in `thinking` block', 400],
    ['`tool_use` ids were found without `tool_result` blocks', 400],
    ['Request exceeds the maximum size', 413],
  ] as const)(
    '%s: where it is refused without them too, they stay and the error is shown',
    async ([words, status]) => {
      const refusal = refusedWith(words, status);
      const { result, warnings, agent, recorded } = await runWith([
        call('one'),
        refusal,
        refusal,
        refusedWith('no, again', status),
      ]);
      expect(result).toMatchObject({
        status: 'failed',
        cause: 'invalid_request_error',
        message: refusal.message,
      });
      expect(warnings).toEqual([]);
      expect(agent.conversation.messages.at(-1)?.bytes.toString()).toContain('"data":"one"');
      expect(recorded().filter(({ type }) => type === 'conversation.replaced')).toEqual([]);
    },
  );

  test.for([
    ['a key that is wrong', new ModelError('authentication_error', 'terminal', 'no', { status: 401 })],
    ['a spend limit', new ModelError('spend_limit', 'terminal', 'no', { status: 400 })],
    ['a model that is not there', refusedWith('no model', 404, 'not_found_error')],
    ['403 about images', ofPicture('no image for this key', 403)],
  ] as const)('nothing is tried after %s', async ([, refusal]) => {
    const { result, carried } = await runWith([call('one'), refusal]);
    expect(result.status).toBe('failed');
    expect(carried).toEqual([[], ['one']]);
  });

  test('nothing is tried where there is no picture', async () => {
    const { carried } = await runWith([refusedWith('no')]);
    expect(carried).toEqual([[]]);
  });

  const nothing: Step = { text: 'reading', calls: [{ name: 'Nothing', input: {} }] };

  test('what the provider has taken before may be refused now, by another server: all are left out', async () => {
    const no = (): ModelError => refusedWith('no');
    const { carried, result, warnings } = await runWith([call('one'), nothing, no(), no(), DONE]);
    expect(carried).toEqual([[], ['one'], ['one'], ['one'], []]);
    expect(result).toMatchObject({ status: 'done' });
    expect(warnings).toMatchObject([
      { message: 'http://127.0.0.1:1 answered 400 no. All pictures are left out of the conversation' },
    ]);
  });

  test('a trial that fails for another reason leaves them in', async () => {
    const away = new ModelError('overloaded_error', 'retryable', 'away', { status: 529 });
    const { agent, warnings } = await runWith([call('one'), ofPicture(), away, away, away]);
    expect(warnings).toEqual([]);
    expect(agent.conversation.messages.at(-1)?.bytes.toString()).toContain('"data":"one"');
  });

  test('another model that takes none is tried without what it has not taken, then without any', async () => {
    const away = new ModelError('overloaded_error', 'retryable', 'away', { status: 529 });
    const no = (): ModelError => refusedWith('content must be text');
    const { carried, warnings } = await runWith(
      [call('one'), call('two'), away, away, away, no(), no(), no(), DONE],
      { fallbackModel: 'claude-other' },
    );
    expect(carried.slice(-4)).toEqual([['one', 'two'], ['one', 'two'], ['one'], []]);
    expect(warnings.at(-1)).toMatchObject({ message: expect.stringContaining('All pictures') });
  });

  test('every trial is refused: the first error is shown and nothing has changed', async () => {
    const { carried, result, agent, warnings } = await runWith([
      call('one'),
      call('two'),
      ofPicture(),
      ofPicture('no image, again'),
      refusedWith('nothing here', 404),
    ]);
    expect(carried).toEqual([[], ['one'], ['one', 'two'], ['one'], []]);
    expect(result).toMatchObject({
      status: 'failed',
      cause: 'image_refused',
      message: expect.stringContaining('bad image'),
    });
    expect(warnings).toEqual([]);
    expect(agent.conversation.messages.map(({ bytes }) => bytes.toString()).join()).toContain('"data":"one"');
  });

  test('a prompt that is too long only by its pictures is sent without them', async () => {
    const long = refusedWith('prompt is too long: 9 > 8', 400, 'context_window');
    const { carried, result, warnings } = await runWith([call('one'), long, DONE]);
    expect(carried).toEqual([[], ['one'], []]);
    expect(result).toMatchObject({ status: 'done' });
    expect(warnings.at(-1)).toMatchObject({ code: 'picture_left_out' });
  });

  test('one that is too long without them too keeps them, and so does one whose pictures it has taken', async () => {
    const long = (): ModelError => refusedWith('prompt is too long: 9 > 8', 400, 'context_window');
    const { carried, result, agent } = await runWith([call('one'), long(), long()]);
    expect(carried).toEqual([[], ['one'], []]);
    expect(result).toMatchObject({ status: 'failed', cause: 'context_window' });
    expect(agent.conversation.messages.at(-1)?.bytes.toString()).toContain('"data":"one"');
    const kept = await runWith([call('one'), nothing, long()]);
    expect(kept.carried).toEqual([[], ['one'], ['one']]);
  });
});
