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
  test.for([
    ['messages.3.content.1: too many media blocks: 101 > 100', 400],
    ['media: at most 20 files', 400],
    ['attachment could not be decoded', 400],
    ['photo dimensions exceed max allowed size: 8000 pixels', 400],
    ['Could not process image', 400],
    ['Request exceeds the maximum size', 413],
  ] as const)(
    '%s: the newest are left out with a warning, and the conversation continues',
    async ([words, status]) => {
      const { result, warnings, carried, model, recorded } = await runWith([
        call('good'),
        call('bad'),
        refusedWith(words, status),
        call('more'),
        DONE,
      ]);
      expect(result).toMatchObject({ status: 'done', text: 'done' });
      expect(carried).toEqual([[], ['good'], ['good', 'bad'], ['good'], ['good', 'more']]);
      expect(warnings).toMatchObject([
        {
          code: 'picture_left_out',
          message: `http://127.0.0.1:1 answered ${status} ${words}. The newest pictures are left out of the conversation`,
        },
      ]);
      expect(model.requests[3]?.messages.at(-1)?.content).toMatchObject([
        {
          tool_use_id: 'bad',
          content: [{ text: 'Seen:' }, { text: expect.stringContaining('A picture stood here') }],
        },
      ]);
      // On record the conversation changes once its new form was accepted, not before.
      const order = recorded().map(({ type }) => type);
      const replaced = order.indexOf('conversation.replaced');
      expect(order.slice(0, replaced).filter((type) => type === 'request.started')).toHaveLength(4);
      expect(order.indexOf('response.completed', replaced)).toBeGreaterThan(replaced);
    },
  );

  test('what the provider has accepted before stays, byte for byte', async () => {
    const { model } = await runWith([call('good'), call('bad'), refusedWith('no'), DONE]);
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
  ] as const)('nothing is tried after %s', async ([, refusal]) => {
    const { result, carried } = await runWith([call('one'), refusal]);
    expect(result.status).toBe('failed');
    expect(carried).toEqual([[], ['one']]);
  });

  test('nothing is tried if the provider has taken all pictures before', async () => {
    const { carried, result } = await runWith([
      call('one'),
      { text: 'reading', calls: [{ name: 'Nothing', input: {} }] },
      refusedWith('no'),
    ]);
    expect(carried).toEqual([[], ['one'], ['one']]);
    expect(result).toMatchObject({ status: 'failed', message: 'http://127.0.0.1:1 answered 400 no' });
  });

  test('a trial that fails for another reason leaves them in', async () => {
    const away = new ModelError('overloaded_error', 'retryable', 'away', { status: 529 });
    const { agent, warnings } = await runWith([call('one'), refusedWith('no'), away, away, away]);
    expect(warnings).toEqual([]);
    expect(agent.conversation.messages.at(-1)?.bytes.toString()).toContain('"data":"one"');
  });

  test('another model that takes none is tried without all of them', async () => {
    const away = new ModelError('overloaded_error', 'retryable', 'away', { status: 529 });
    const { carried, warnings } = await runWith(
      [
        call('one'),
        call('two'),
        away,
        away,
        away,
        refusedWith('media is not supported'),
        refusedWith('media'),
        DONE,
      ],
      { fallbackModel: 'claude-other' },
    );
    expect(carried.slice(-3)).toEqual([['one', 'two'], ['one'], []]);
    expect(warnings.at(-1)).toMatchObject({ message: expect.stringContaining('All pictures') });
  });

  test('words about an image lead to a trial without any, and then to the error', async () => {
    const words = (): ModelError => refusedWith('bad image', 400, 'image_refused');
    const { carried, result } = await runWith([call('one'), call('two'), words(), words(), words()]);
    expect(carried).toEqual([[], ['one'], ['one', 'two'], ['one'], []]);
    expect(result).toMatchObject({ status: 'failed', cause: 'image_refused' });
  });
});
