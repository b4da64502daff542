/** What every executor does for an agent, wherever its loop runs: here, in a process, at the end of any line. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EngineOptions, startEngine } from '../../test/fixtures/engine.ts';
import { linePlace } from '../../test/fixtures/line-place.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { withoutTimes } from '../../test/fixtures/watched-states.ts';
import { freezeBlock } from '../conversation/frozen-block.ts';
import { snapshotOf } from '../engine/agent/agent-content.ts';
import type { AgentEvent } from '../engine/agent/agent-event.ts';
import type { AgentExecutor } from '../engine/agent/executor.ts';
import { hostOf } from '../engine/host-duties.ts';
import { foldAgent } from '../journal/projections/apply-event.ts';
import type { PermissionBroker } from '../permission/broker.ts';
import { ModelError } from '../schema/errors.ts';
import type { JournalEvent } from '../schema/events.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { fingerprintSecrets } from '../tools/redaction/fingerprint-redactor.ts';
import { inProcess } from './in-process.ts';
import type { AgentPlace } from './process/agent-place.ts';
import { processExecutor } from './process/process-executor.ts';

function elsewhere(place?: AgentPlace): AgentExecutor {
  const processes = temporaryDirectory();
  const secrets = () => fingerprintSecrets({});
  return processExecutor({ secrets, processes, sandbox: 'off', isolation: 'off', graceMs: GRACE_MS, place });
}

/** Long: on a busy machine an agent needs time to record what it has not begun. */
const GRACE_MS = 20_000;

/** The fields that an event and its record have alike: its name and what it names are spelled differently. */
function plainOf(event: AgentEvent | JournalEvent): Record<string, unknown> {
  const { type: _, ...fields } = event;
  const different = new Set(['blocks', 'call', 'result', 'details']);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !different.has(name)));
}

const EXECUTORS: readonly [string, () => AgentExecutor][] = [
  ['in this process', () => inProcess],
  ['in a process of its own', () => elsewhere()],
  ['at the end of a line', () => elsewhere(linePlace)],
];

const WRITE = { name: 'Write', input: { file_path: 'made.txt', content: 'by the agent' }, id: 'toolu_1' };

describe.each(EXECUTORS)('EXEC-2: an agent %s', (_, executorOf) => {
  /** An agent with a prompt, and its runs. */
  async function prompted(options: EngineOptions) {
    const engine = await startEngine(options);
    engine.agent.say('prompt', [freezeBlock({ type: 'text', text: 'Go.' })]);
    const executor = executorOf();
    const events: AgentEvent[] = [];
    engine.agent.here.sink = (event) => void events.push(event);
    const own = hostOf(engine.agent);
    const host = (signal = new AbortController().signal, value = snapshotOf(engine.agent)) =>
      executor.run(value, own, { signal });
    const ends = () => engine.recorded().filter(({ type }) => type === 'agent.ended');
    return { ...engine, host, events, ends };
  }

  test('runs to its end with its tools, hands its events on in order, and is the fold of its record', async () => {
    const provider = scriptedModel({ text: 'I write.', calls: [WRITE] }, { text: 'Done.' });
    const { host, agent, events, recorded, ends, cwd } = await prompted({ provider });
    expect(await host()).toMatchObject({ status: 'done', text: 'Done.', turns: 2 });
    expect(events.map(({ type }) => type)).toEqual([
      'assistant',
      'tool_started',
      'tool_completed',
      'assistant',
    ]);
    expect(readFileSync(join(cwd, 'made.txt'), 'utf8')).toBe('by the agent');
    expect(ends()).toMatchObject([{ status: 'done' }]);
    const record = recorded().map((event, seq) => ({ seq, time: 0, agent: agent.spec.id, event }));
    expect(withoutTimes(foldAgent(record, agent.spec.id))).toEqual(withoutTimes(agent.state));
  });

  test('tells what is recorded, as it is recorded, with the content that the record names', async () => {
    const unknown = { name: 'Nothing', input: {}, id: 'toolu_2' };
    const overloaded = new ModelError('overloaded_error', 'retryable', 'busy', { status: 529 });
    const provider = scriptedModel(
      overloaded,
      { text: 'I write.', calls: [WRITE, unknown] },
      { text: 'Done.' },
    );
    const { host, agent, events, recorded } = await prompted({ provider });
    await host();
    const records = recorded().filter(({ type }) =>
      /^(request\.failed|response|tool|warning|status)/.test(type),
    );
    expect(events.map(plainOf)).toEqual(records.map(plainOf));
    const write = { type: 'tool_use', ...WRITE };
    expect(events.filter(({ type }) => type.startsWith('tool_')).slice(0, 2)).toMatchObject([
      { type: 'tool_started', name: 'Write', call: write, details: { change: { path: 'made.txt' } } },
      {
        type: 'tool_completed',
        call: write,
        result: { tool_use_id: 'toolu_1' },
        details: { change: { path: 'made.txt' } },
      },
    ]);
    expect(events.filter(({ type }) => type === 'assistant')).toMatchObject([
      { blocks: [{ type: 'text', text: 'I write.' }, write, { name: 'Nothing' }] },
      { blocks: [{ type: 'text', text: 'Done.' }] },
    ]);
    expect(agent.state.ended).toBe(true);
  });

  test('runs from its value, which stays as it was, and from no value that it has left behind', async () => {
    const provider = scriptedModel({ text: 'One.' }, { text: 'Two.' });
    const { host, agent } = await prompted({ provider });
    const value = snapshotOf(agent);
    const before = structuredClone(value.state);
    const signal = new AbortController().signal;
    expect(await host(signal, value)).toMatchObject({ text: 'One.' });
    expect(value.state).toEqual(before);
    expect(agent.state).not.toEqual(before);
    agent.receive('message', null, 'And now?');
    await expect(host(signal, value)).rejects.toThrow('is no longer what it is to run from');
    expect(provider.requests).toHaveLength(1);
    expect(await host()).toMatchObject({ text: 'Two.' });
  });

  test('never rejects for what a model does', async () => {
    const { host, ends } = await prompted({ provider: scriptedModel(new Error('no network')) });
    expect(await host()).toMatchObject({ status: 'failed', message: 'no network' });
    expect(ends()).toHaveLength(1);
  });

  test('runs again from where it was, with what it was told meanwhile', async () => {
    const model = scriptedModel({ text: 'One.' }, (request) => {
      expect(JSON.stringify(request.messages)).toContain('One more thing.');
      return { text: 'Two.' };
    });
    const { host, agent } = await prompted({ provider: model });
    expect(await host()).toMatchObject({ text: 'One.' });
    agent.receive('message', null, 'One more thing.');
    expect(await host()).toMatchObject({ status: 'done', text: 'Two.', turns: 1 });
    model.assertDone();
  });

  test('answers the calls that an earlier run left open', async () => {
    const model = scriptedModel({ calls: [WRITE] }, { text: 'Written.' });
    const { host, agent, cwd } = await prompted({ provider: model });
    const asked = await agent.runtime.host.exchange(agent, {
      turn: 1,
      maxTokens: 100,
      partial: false,
      signal: new AbortController().signal,
      onSpent: () => {},
    });
    const { recordResponse } = await import('../engine/exchange/exchange.ts');
    recordResponse(agent, asked, true);
    expect(await host()).toMatchObject({ status: 'done', text: 'Written.' });
    expect(readFileSync(join(cwd, 'made.txt'), 'utf8')).toBe('by the agent');
  });

  test('makes the calls that had done nothing when a limit or an outage ended the run', async () => {
    const later = { ...WRITE, input: { file_path: 'later.txt', content: 'by the agent' }, id: 'toolu_2' };
    const model = scriptedModel({ calls: [WRITE, later] }, (request) => {
      const content = [{ tool_use_id: 'toolu_1' }, { tool_use_id: 'toolu_2' }];
      expect(request.messages.at(-1)).toMatchObject({ role: 'user', content });
      expect(JSON.stringify(request.messages.at(-1))).not.toContain('is_error');
      return { text: 'Written.' };
    });
    const abort = new AbortController();
    const broker: PermissionBroker = {
      async ask() {
        abort.abort('provider');
        return { kind: 'once' };
      },
    };
    const { host, cwd, ends } = await prompted({
      provider: model,
      runtime: { broker },
      spec: { permissionMode: 'default' },
    });
    expect(await host(abort.signal)).toMatchObject({ status: 'interrupted', cause: 'provider' });
    expect(readdirSync(cwd)).not.toContain('made.txt');
    expect(await host()).toMatchObject({ status: 'done', text: 'Written.' });
    for (const name of ['made.txt', 'later.txt'])
      expect(readFileSync(join(cwd, name), 'utf8')).toBe('by the agent');
    expect(ends()).toHaveLength(2);
  });

  test('begins nothing after a command that the end of the run broke off', async () => {
    const command = 'touch begun; sleep 100';
    const model = scriptedModel(
      { calls: [{ name: 'Bash', input: { command }, id: 'toolu_0' }, WRITE] },
      (request) => {
        const answers = JSON.stringify(request.messages.at(-1));
        expect(answers).toContain('this call was not run');
        return { text: 'I look first.' };
      },
    );
    const { host, cwd } = await prompted({ provider: model });
    const abort = new AbortController();
    const run = host(abort.signal);
    while (!existsSync(join(cwd, 'begun'))) await new Promise(setImmediate);
    abort.abort('limit');
    expect(await run).toMatchObject({ status: 'interrupted', cause: 'limit' });
    expect(await host()).toMatchObject({ status: 'done', text: 'I look first.' });
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
  });

  test('ends as interrupted when it is aborted, once', async () => {
    const model = scriptedModel('hang', 'hang');
    const { host, ends } = await prompted({ provider: model });
    const abort = new AbortController();
    const result = host(abort.signal);
    while (model.requests.length === 0) await new Promise(setImmediate);
    abort.abort('SIGINT');
    expect(await result).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
    expect(ends()).toHaveLength(1);
  });
});
