import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EngineOptions, startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { linePlace } from '../../../test/fixtures/line-place.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { snapshotOf } from '../../engine/agent/agent-content.ts';
import { hostOf } from '../../engine/host-duties.ts';
import type { ModelProvider } from '../../model/provider.ts';
import type { ProcessRegister } from '../../system/processes/process-register.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { fingerprintSecrets } from '../../tools/redaction/fingerprint-redactor.ts';
import { inProcess } from '../in-process.ts';
import type { AgentPlace, StartedPlace } from './agent-place.ts';
import { processPlace } from './child-program.ts';
import { type ProcessExecutorParts, processExecutor } from './process-executor.ts';

const BAD_PROGRAM = join(import.meta.dirname, '../../../test/fixtures/bad-agent-process.ts');

/** An agent with a prompt, and an executor for it; `manner` puts a program in its place that behaves so. */
async function hosted(
  options: EngineOptions,
  manner?: string,
  { environment, ...parts }: Partial<ProcessExecutorParts> & { environment?: Record<string, string> } = {},
) {
  const childEnvironment = { PATH: process.env.PATH ?? '', RAMET_TEST_MANNER: manner ?? '', ...environment };
  const engine = await startEngine({ ...options, runtime: { childEnvironment, ...options.runtime } });
  engine.agent.say('prompt', [freezeBlock({ type: 'text', text: 'Go.' })]);
  const executor = processExecutor({
    secrets: () => fingerprintSecrets({}),
    processes: temporaryDirectory(),
    sandbox: 'off',
    isolation: 'off',
    ...(manner !== undefined && { place: processPlace(BAD_PROGRAM) }),
    ...parts,
  });
  const own = hostOf(engine.agent);
  const run = (signal = new AbortController().signal) =>
    executor.run(snapshotOf(engine.agent), own, { signal });
  const types = () => engine.recorded().map(({ type }) => type);
  return { ...engine, executor, host: run, types };
}

describe('EXEC-2: a process that misbehaves ends its agent as failed: executor', () => {
  test.each<[string, string]>([
    ['garbage', 'it sent no frame'],
    ['a record of nothing', 'it recorded no event'],
    ['a block nobody sent', 'never sent'],
    ['a block by a wrong name', 'a block that is not'],
    ['a notice that there is not', 'a notice that there is not'],
    ['a call that there is not', 'it asks for keys'],
    ['a flood of calls', 'too much at once'],
    ['a flood of notices', 'it says too much'],
    ['an end at once', 'ended 4 times: it exited with 7'],
    ['a crash', 'it broke'],
  ])('%s', async (manner, reason) => {
    const { host, types } = await hosted({ provider: scriptedModel('hang', 'hang', 'hang', 'hang') }, manner);
    const result = await host();
    expect(result).toMatchObject({
      status: 'failed',
      cause: 'executor',
      usage: { input_tokens: 0 },
      costUsd: 0,
    });
    expect(result.message).toContain(reason);
    expect(types().filter((type) => type === 'agent.ended')).toHaveLength(1);
  });

  test('one that cannot be started says why', async () => {
    const { host } = await hosted({
      provider: scriptedModel('hang', 'hang', 'hang', 'hang'),
      spec: { cwd: '/nowhere' },
    });
    expect(await host()).toMatchObject({ cause: 'executor', message: expect.stringContaining('ENOENT') });
  });

  test('a tool made of functions cannot go there, and that is said before anything runs', async () => {
    const own = toolOf('Own', 'read', async () => ({ content: 'x' }));
    const { host } = await hosted({ provider: scriptedModel('hang', 'hang', 'hang', 'hang'), tools: [own] });
    expect(await host()).toMatchObject({ cause: 'executor', message: expect.stringContaining('Own cannot') });
  });
});

describe('EXEC-2: the model is asked while the process starts', () => {
  test('an answer that came before the process failed is kept, and not asked for again', async () => {
    const model = scriptedModel({ text: 'Here it is.' });
    const { host, recorded } = await hosted({ provider: model }, 'silence', { graceMs: 50 });
    const abort = new AbortController();
    const result = host(abort.signal);
    while (model.requests.length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    abort.abort('stopped');
    expect(await result).toMatchObject({ status: 'cancelled' });
    expect(recorded().filter(({ type }) => type === 'response.completed')).toMatchObject([{ kept: true }]);
  });

  test('the calls of such an answer stay open when an outage ends the run, and the next run makes them', async () => {
    const write = { name: 'Write', input: { file_path: 'made.txt', content: 'once' } };
    const model = scriptedModel({ calls: [write] }, { text: 'Written.' });
    const { host, agent, cwd, types } = await hosted({ provider: model }, 'silence', { graceMs: 50 });
    const abort = new AbortController();
    const result = host(abort.signal);
    while (model.requests.length === 0) await new Promise(setImmediate);
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
    abort.abort('provider');
    expect(await result).toMatchObject({ status: 'interrupted', cause: 'provider' });
    expect(types().filter((type) => type === 'agent.ended')).toHaveLength(1);
    expect(agent.conversation.messages.at(-1)).toMatchObject({ role: 'assistant' });
    const { signal } = new AbortController();
    expect(await inProcess.run(snapshotOf(agent), hostOf(agent), { signal })).toMatchObject({
      text: 'Written.',
    });
    expect(readFileSync(join(cwd, 'made.txt'), 'utf8')).toBe('once');
  });

  test('an answer that is coming in when the process is lost is heard to its end, and not asked for again', async () => {
    const model = scriptedModel({ text: 'Here it is.' });
    const lost = Promise.withResolvers<void>();
    const mayEnd = join(temporaryDirectory(), 'may-end');
    const slow: ModelProvider = {
      ...model,
      async send(request, options) {
        options.onDelta({ type: 'began' });
        // Not before: a process that is lost while nothing is coming in calls its question off.
        writeFileSync(mayEnd, '');
        await lost.promise;
        for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
        return model.send(request, options);
      },
    };
    const processes: ProcessRegister = {
      expect: () => ({ token: '', settle() {} }),
      enter: () => () => lost.resolve(),
    };
    const { host, recorded } = await hosted(
      { provider: slow, runtime: { processes } },
      'an end when it may',
      {
        environment: { RAMET_TEST_MAY_END: mayEnd },
      },
    );
    expect(await host()).toMatchObject({ usage: { input_tokens: 10 } });
    expect(model.requests).toHaveLength(1);
    expect(recorded().filter(({ type }) => type === 'response.completed')).toMatchObject([{ kept: true }]);
  });

  test('an agent that was aborted before it began asks nothing', async () => {
    const model = scriptedModel();
    const { host } = await hosted({ provider: model });
    expect(await host(AbortSignal.abort('stopped'))).toMatchObject({ status: 'cancelled' });
    expect(model.requests).toEqual([]);
  });
});

describe('EXEC-2: a process that is lost between two runs of its agent', () => {
  test('is replaced, and the second run is not taken for the first', async () => {
    const model = scriptedModel({ text: 'One.' }, { text: 'Two.' });
    const started: StartedPlace[] = [];
    const place: AgentPlace = {
      start(order) {
        const one = linePlace.start(order);
        started.push(one);
        return one;
      },
    };
    const { host, agent, types } = await hosted({ provider: model }, undefined, { place });
    expect(await host()).toMatchObject({ status: 'done', text: 'One.' });
    started[0]?.kill();
    agent.receive('message', null, 'One more thing.');
    expect(await host()).toMatchObject({ status: 'done', text: 'Two.' });
    expect(started).toHaveLength(2);
    expect(types().filter((type) => type === 'agent.ended')).toHaveLength(2);
  });
});

describe('EXEC-2: a process that does not end is ended', () => {
  test.each(['silence', 'deafness', 'an endless loop'])('%s', async (manner) => {
    const { host, types } = await hosted(
      { provider: scriptedModel('hang', 'hang', 'hang', 'hang') },
      manner,
      { graceMs: 50 },
    );
    const abort = new AbortController();
    const result = host(abort.signal);
    // This process goes on meanwhile.
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
    abort.abort('stopped');
    expect(await result).toMatchObject({ status: 'cancelled', cause: 'stopped' });
    expect(types().filter((type) => type === 'agent.ended')).toHaveLength(1);
  });
});
