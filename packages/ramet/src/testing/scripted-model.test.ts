import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import type { ModelRequest, SendOptions } from '../model/provider.ts';
import { tool } from '../sdk/own-tools/tool.ts';
import { openSession } from '../sdk/session/session.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

const OPTIONS: SendOptions = { signal: new AbortController().signal, onDelta: () => {} };

function request(text: string): ModelRequest {
  const body = {
    model: 'm',
    max_tokens: 1,
    system: [],
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  };
  // What is not read here may be missing.
  return { model: 'm', body: Buffer.from(JSON.stringify(body)) } as unknown as ModelRequest;
}

const send = (model: ScriptedModel, text: string) => model.send(request(text), OPTIONS);

describe('a script that is not understood', () => {
  test.each<[unknown, string]>([
    [{ txt: 'typo' }, 'step 1 of the script has no field "txt": there are text, calls, blocks, '],
    [{}, 'step 1 of the script is empty: give an answer with text, calls, '],
    [5, 'step 1 of the script is 5: give an answer with '],
    ['x', 'step 1 of the script is "x": give '],
    [null, 'step 1 of the script is null: give '],
    [{ text: 5 }, 'text of step 1 of the script is wrong: give a text'],
    [{ calls: 5 }, 'calls of step 1 of the script is wrong: give a list of { name, input }'],
    [
      { calls: [{ name: 'x', input: 5 }] },
      'calls of step 1 of the script is wrong: give a list of { name, input }, the input an object',
    ],
    [
      { usage: { foo: 1 } },
      'usage of step 1 of the script is wrong: give an object of counts (input_tokens, ',
    ],
    [{ usage: new Map() }, 'usage of step 1 of the script is wrong: '],
    [{ calls: [{ nme: 'x', input: {} }] }, 'calls of step 1 of the script is wrong: '],
    [{ blocks: [{ text: 'x' }] }, 'blocks of step 1 of the script is wrong: give a list of blocks'],
  ])('%j is refused when it is made, and where a step returns it', async (step, reason) => {
    expect(() => scriptedModel(step as never)).toThrow(reason);
    expect(() => scriptedModel([step] as never)).toThrow(reason);
    const model = scriptedModel((() => step) as never);
    const request = { body: Buffer.from('{}'), model: 'x' };
    const sent = model.send(
      request as never,
      { signal: new AbortController().signal, onDelta() {} } as never,
    );
    await expect(sent).rejects.toThrow(reason.replace('step 1 of the script', 'what it returned'));
    expect(() => model.assertDone()).toThrow('step 1 of the script failed: ');
  });
});

describe('LIB-1: a scripted model', () => {
  test('takes its steps as a list or one by one, in order', async () => {
    for (const model of [
      scriptedModel([{ text: 'a' }, { text: 'b' }]),
      scriptedModel({ text: 'a' }, { text: 'b' }),
    ]) {
      const [a, b] = [await send(model, 'one'), await send(model, 'two')];
      expect([a, b].map(({ blocks }) => blocks[0]?.value)).toMatchObject([{ text: 'a' }, { text: 'b' }]);
      expect(model.requests.map(({ messages }) => messages[0]?.content)).toMatchObject([
        [{ text: 'one' }],
        [{ text: 'two' }],
      ]);
      expect(() => model.assertDone()).not.toThrow();
    }
  });

  test('assertDone fails on a request that no step was for, also where nobody looked at the result', async () => {
    const model = scriptedModel([{ text: 'a' }]);
    await send(model, 'one');
    await expect(send(model, 'two')).rejects.toThrow(/the script has no step for request 2: .*"two"/);
    await expect(send(model, 'three')).rejects.toThrow('request 3');
    expect(() => model.assertDone()).toThrow(/the script has no step for request 2: .*"two"/);
  });

  test('a step that returns a promise is refused, and the steps after it answer their own requests', async () => {
    // JavaScript has no types that refuse it.
    const late = (async () => ({ text: 'late' })) as unknown as () => { text: string };
    const model = scriptedModel([late, { text: 'b' }]);
    await expect(send(model, 'one')).rejects.toThrow('it returned a promise');
    expect((await send(model, 'two')).blocks[0]?.value).toMatchObject({ text: 'b' });
    expect(() => model.assertDone()).toThrow('step 1 of the script failed: it returned a promise');
  });

  test('assertDone fails on steps that no request used, and names the first', () => {
    expect(() => scriptedModel([{ text: 'never said' }, new Error('x')]).assertDone()).toThrow(
      '2 steps of the script were not used, from step 1 on: {"text":"never said"}',
    );
    expect(() => scriptedModel([{ text: 'x' }]).assertDone()).toThrow('1 step of the script was not used');
  });

  test('assertDone fails with what a step has thrown: it may have checked the request', async () => {
    const model = scriptedModel([
      ({ messages }) => {
        if (messages[0]?.content[0]?.type === 'text') throw new Error('not what was expected');
        return { text: 'a' };
      },
    ]);
    await expect(send(model, 'other')).rejects.toThrow('not what was expected');
    expect(() => model.assertDone()).toThrow('step 1 of the script failed: not what was expected');
  });

  test('an error in the script is one of the provider, and no failure of the test', async () => {
    const model = scriptedModel([new Error('overloaded'), () => new Error('overloaded')]);
    await expect(send(model, 'one')).rejects.toThrow('overloaded');
    await expect(send(model, 'two')).rejects.toThrow('overloaded');
    expect(() => model.assertDone()).not.toThrow();
  });

  test('a session may be resumed with another model: no id of a call or a message comes again', async () => {
    const folder = temporaryDirectory();
    let runs = 0;
    const count = tool({
      ...{ name: 'count', description: 'Counts.', inputSchema: { type: 'object' }, access: 'read' },
      run: () => String(++runs),
    });
    const options = {
      cwd: folder,
      env: { RAMET_HOME: join(folder, 'home') },
      settings: false,
      tools: [count],
    } as const;
    const ids: string[] = [];
    for (const resume of [undefined, 'latest', 'latest']) {
      using model = scriptedModel([{ calls: [{ name: 'count', input: {} }] }, { text: 'Counted.' }]);
      await using session = await openSession({ ...options, provider: model, ...(resume && { resume }) });
      await session.ask('Count.', {
        onEvent: (event) => {
          if (event.type === 'tool_started') ids.push(event.call.id);
          if (event.type === 'assistant') ids.push(event.messageId ?? 'none');
        },
      });
    }
    expect(runs).toBe(3);
    expect(new Set(ids).size).toBe(9);
  });

  test('is checked at the end of its block', () => {
    expect(() => {
      using _ = scriptedModel([{ text: 'unused' }]);
    }).toThrow('1 step of the script was not used');
  });
});
