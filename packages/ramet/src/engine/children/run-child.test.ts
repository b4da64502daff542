import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import {
  call,
  eventsOf,
  familyOf,
  lastTexts,
  startAgents,
  startFamily,
  timesIn,
} from '../../../test/fixtures/family.ts';
import { inProcess } from '../../executors/in-process.ts';
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts';
import type { AgentExecutor } from '../agent/executor.ts';
import { spawnAgent } from './spawn.ts';

const REPORT = { text: 'Scope: done.' };
const BACKGROUND = { run_in_background: true };

describe('AGENT-3: an agent in the background', () => {
  test('is answered at once, told of in one notification, and waited for at the end', async () => {
    const gate = Promise.withResolvers<void>();
    const family = await startFamily({
      cast: {
        'Go.': [
          startAgents(['child'], { ...BACKGROUND, name: 'scout' }),
          (view) => {
            expect(view.last).toMatch(/Agent \w+\.2 "scout" runs in the background/);
            gate.resolve();
            return { text: 'I wait.' };
          },
          { text: 'Heard.' },
        ],
        child: [() => gate.promise.then(() => ({ text: 'Scope: late news.' }))],
      },
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ status: 'done', text: 'Heard.', turns: 3 });
    const [note, ...rest] = lastTexts(family.requestsOf('Go.')[2]);
    expect(rest).toEqual([]);
    expect(note).toMatch(
      /^<task-notification>\n<task-id>\w+\.2<\/task-id>\n<name>scout<\/name>\n<status>done<\/status>\n<summary>about child<\/summary>\n<usage>1 turn, /,
    );
    expect(note).toContain('<result>\nScope: late news.\n</result>');
    expect(note).toMatch(/<duration>.*<cost>\$/s);
  });

  test('one that ends while its parent is in a tool is reported with the tool’s result', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [
          startAgents(['child'], BACKGROUND),
          call('Bash', { command: 'until test -e ended; do sleep 0.01; done; echo seen' }),
          { text: 'Heard.' },
        ],
        child: [call('Bash', { command: 'touch ended' }), REPORT],
      },
      agents: { concurrent: 1 },
    });
    const { result } = await family.run('Go.');
    expect(result.text).toBe('Heard.');
    const all = JSON.stringify(family.emulator.requests.at(-1)?.request?.messages);
    expect(timesIn(all, '<task-id>')).toBe(1);
  });

  test('AGENT-5: fifty that end together are reported once each', async () => {
    const tasks = Array.from({ length: 50 }, (_, index) => `child ${String(index).padStart(2, '0')}`);
    const gate = Promise.withResolvers<void>();
    const family = await startFamily({
      agents: { concurrent: 50 },
      launch: 'parallel',
      cast: {
        'Go.': (view) => {
          if (view.turn === 0) return startAgents(tasks, BACKGROUND);
          gate.resolve();
          return { text: 'I wait.' };
        },
        child: ({ task }) => gate.promise.then(() => ({ text: `Scope: ${task}.` })),
      },
    });
    const { result } = await family.run('Go.');
    expect(result.status).toBe('done');
    const all = JSON.stringify(family.requestsOf('Go.').at(-1)?.request?.messages);
    for (const task of tasks) expect(timesIn(all, `Scope: ${task}.`)).toBe(1);
    expect(timesIn(all, '<task-id>')).toBe(50);
    const received = eventsOf(family.recordedOf(1), 'message.received').map(({ item }) => item);
    expect(new Set(received).size).toBe(50);
  });

  test('AGENT-5: a report that is kept in a file is delivered before its parent ends', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child'], BACKGROUND), { text: 'I wait.' }, { text: 'Heard.' }],
        child: [{ text: `Scope: much. ${'x'.repeat(5_000_000)}` }],
      },
    });
    const { result } = await family.run('Go.');
    expect(result.text).toBe('Heard.');
    const [note = ''] = lastTexts(family.requestsOf('Go.')[2]);
    expect(Buffer.byteLength(note)).toBeLessThan(10_000);
    const file = /the whole is in (\S+)\]/.exec(note)?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toHaveLength(5_000_000 + 'Scope: much. '.length);
  });

  test('one that is interrupted with its session resumes with it, and is reported once', async () => {
    const stop = new AbortController();
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child'], BACKGROUND), { text: 'I wait.' }, { text: 'Heard.' }],
        child: () => new Promise(() => {}),
      },
    });
    family.session.subscribe((event) => {
      if (event.type === 'status_changed' && event.status === 'waiting') stop.abort('SIGINT');
    });
    expect((await family.run('Go.', { signal: stop.signal })).result).toMatchObject({
      status: 'interrupted',
    });
    const resumed = await family.reopen({
      'Go.': () => ({ text: 'Heard.' }),
      child: () => ({ text: 'Scope: late.' }),
    });
    expect(resumed.session.hasNews).toBe(true);
    expect((await resumed.run(null)).result.text).toBe('Heard.');
    expect(lastTexts(resumed.requestsOf('Go.')[2])).toEqual([
      expect.stringMatching(/<status>done<\/status>.*Scope: late\./s),
    ]);
    expect((await resumed.reopen()).session.hasNews).toBe(false);
  });

  test('with another prompt it stays interrupted, and its parent is told so once', async () => {
    const stop = new AbortController();
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child'], BACKGROUND), { text: 'I wait.' }],
        child: () => new Promise(() => {}),
      },
    });
    family.session.subscribe((event) => {
      if (event.type === 'status_changed' && event.status === 'waiting') stop.abort('SIGINT');
    });
    await family.run('Go.', { signal: stop.signal });
    const resumed = await family.reopen({ Else: () => ({ text: 'Done.' }) });
    expect((await resumed.run('Else?')).result.text).toBe('Done.');
    const said = JSON.stringify(resumed.emulator.requests.at(-1)?.request?.messages);
    expect(timesIn(said, '<status>interrupted: SIGINT</status>')).toBe(1);
    expect(resumed.requestsOf('child')).toHaveLength(1);
  });

  test('a waited-for agent that is sent to the background frees its parent and is reported later', async () => {
    const gate = Promise.withResolvers<void>();
    const family = await startFamily({
      cast: {
        'Go.': [
          startAgents(['child']),
          (view) => {
            expect(view.lastToolResult).toMatch(/^It was sent to the background\. Agent \w+\.2 runs/);
            gate.resolve();
            return { text: 'I wait.' };
          },
          { text: 'Heard.' },
        ],
        child: [
          () => {
            for (const child of family.session.agents) child.detach();
            return gate.promise.then(() => REPORT);
          },
        ],
      },
    });
    const { result } = await family.run('Go.');
    expect(result.text).toBe('Heard.');
    const all = JSON.stringify(family.requestsOf('Go.').at(-1)?.request?.messages);
    expect(timesIn(all, '<task-id>')).toBe(1);
    expect(eventsOf(family.recordedOf(2), 'agent.detached')).toHaveLength(1);
  });

  test('one that has ended cannot be sent to the background any more', async () => {
    const family = await startFamily({
      cast: { 'Go.': [startAgents(['child']), { text: 'ok' }], child: [REPORT] },
    });
    const handles = new Set<{ detach(): void }>();
    family.session.subscribe(({ type }) => {
      for (const handle of family.session.agents) handles.add(handle);
      if (type === 'agent_ended') for (const handle of handles) handle.detach();
    });
    await family.run('Go.');
    expect(handles.size).toBe(1);
    expect(lastTexts(family.requestsOf('Go.')[1])[0]).toContain('Scope: done.');
    expect(eventsOf(family.recordedOf(2), 'agent.detached')).toEqual([]);
  });
});

describe('AGENT-5: the end of a child', () => {
  const order = { prompt: 'child', description: 'x', call: null, signal: new AbortController().signal };

  async function start(provider: ScriptedModel, executor: AgentExecutor, run_in_background = true) {
    const engine = await startEngine({ provider });
    const family = familyOf(engine, executor);
    const spawned = await spawnAgent(family, engine.agent, { ...order, run_in_background });
    if ('problem' in spawned) throw new Error(spawned.problem);
    return { engine, family, handle: spawned.handle };
  }

  test('it is one of its parent’s children until its parent has been told', async () => {
    const provider = scriptedModel({ text: 'x'.repeat(8_000_000) });
    const { engine } = await start(provider, inProcess);
    while (engine.agent.children.anyInBackground) await new Promise(setImmediate);
    expect(engine.agent.inbox.size).toBe(1);
  });

  test('what is said to it while it ends is heard, and all it did is in its figures', async () => {
    let runs = 0;
    const executor: AgentExecutor = {
      name: 'slow to end',
      async run(value, host, options) {
        const result = await inProcess.run(value, host, options);
        if (runs++ === 0) family.find(value.spec.id)?.receive('message', null, 'One more thing.');
        return result;
      },
    };
    const provider = scriptedModel({ text: 'First.' }, (request) => {
      expect(JSON.stringify(request.messages.at(-1))).toContain('One more thing.');
      return { text: 'Second.' };
    });
    const { handle, family } = await start(provider, executor);
    expect(await handle.result).toMatchObject({
      status: 'done',
      text: 'Second.',
      turns: 2,
      usage: { output_tokens: 10 },
    });
    provider.assertDone();
    expect(family.running).toEqual([]);
  });

  test('what breaks inside its host is failed: internal, and its place is free again', async () => {
    const executor: AgentExecutor = { name: 'broken', run: () => Promise.reject(new Error('pipe broke')) };
    const { handle, family, engine } = await start(scriptedModel(), executor, false);
    expect(await handle.result).toMatchObject({
      status: 'failed',
      cause: 'internal',
      message: 'pipe broke',
      costUsd: null,
    });
    expect(family.running).toEqual([]);
    expect(engine.agent.children.running).toEqual([]);
    for (let place = 0; place < family.capacity.limit; place += 1)
      expect(family.capacity.tryTake()).toBe(true);
  });

  test('LIB-1: a handle is a view: nobody changes the agent through it', async () => {
    const { handle } = await start(scriptedModel({ text: 'ok' }), inProcess);
    expect(() => Object.assign(handle, { inBackground: false })).toThrow(TypeError);
    expect(() => Object.assign(handle, { name: 'other' })).toThrow(TypeError);
    await handle.result;
  });
});
