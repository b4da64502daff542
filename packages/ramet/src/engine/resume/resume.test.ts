import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type EngineFixture,
  runToEnd,
  runUntil,
  startEngine,
  toolOf,
} from '../../../test/fixtures/engine.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { openReader } from '../../journal/sessions.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { Agent } from '../agent/agent.ts';
import { MAY_HAVE_RUN, NOT_RUN } from '../agent/notices.ts';
import { switchModel } from '../exchange/switch-model.ts';
import { resumeAgent } from './resume.ts';

/** The agent as another process would find it: from the journal alone. */
function resumed(engine: EngineFixture, provider: ModelProvider): Agent {
  const { journal } = engine.runtime;
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  const agent = resumeAgent(
    { ...engine.runtime, provider },
    reader,
    () => engine.agent.spec,
    engine.agent.spec.id,
  );
  reader.close();
  return agent;
}

function goOn(agent: Agent, prompt?: string): ReturnType<typeof runToEnd> {
  if (prompt !== undefined) agent.say('prompt', [freezeBlock({ type: 'text', text: prompt })]);
  return runToEnd(agent);
}

describe('LOG-1: an agent is rebuilt from its journal byte for byte', () => {
  test('the next request continues the bytes of the last one, marks included', async () => {
    const first = scriptedModel({ text: 'one' }, { text: 'two' });
    const engine = await startEngine({ provider: first });
    await engine.run('first');
    const second = scriptedModel({ text: 'two' });
    const again = resumed(engine, second);
    expect(again.conversation.digest).toBe(engine.agent.conversation.digest);
    await goOn(again, 'second');
    await engine.run('second');
    expect(second.bodies[0]).toBe(first.bodies[1]);
  });

  test('a model that took over as fallback stays', async () => {
    const engine = await startEngine({ provider: scriptedModel({ text: 'one' }) });
    await engine.run('first');
    switchModel(engine.agent, 'fallback', 'claude-opus-5');
    await engine.runtime.journal.commit('written');
    expect(resumed(engine, scriptedModel()).conversation.head.model).toBe('claude-opus-5');
  });

  test('a file that was read before may be edited after, and one that changed meanwhile may not', async () => {
    const engine = await startEngine({
      provider: scriptedModel(
        (_) => ({ calls: ['a.txt', 'b.txt'].map((file_path) => ({ name: 'Read', input: { file_path } })) }),
        { text: 'read' },
      ),
    });
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(engine.cwd, name), 'old');
    await engine.run('read them');
    writeFileSync(join(engine.cwd, 'b.txt'), 'other');
    const again = resumed(engine, scriptedModel());
    expect(await again.files.for('c').write('a.txt', 'new')).toMatchObject({ ok: true });
    expect(await again.files.for('c').write('b.txt', 'new')).toMatchObject({ ok: false });
  });
});

describe('RES-6: what an agent keeps beside its conversation', () => {
  test('its todo list and the fate of its background tasks outlive the process', async () => {
    const todos = [
      { content: 'read', status: 'completed' },
      { content: 'write', status: 'in_progress', activeForm: 'Writing' },
    ];
    const engine = await startEngine({
      provider: scriptedModel(
        (_) => ({
          calls: [
            { name: 'TodoWrite', input: { todos: [] } },
            { name: 'TodoWrite', input: { todos } },
            { name: 'Bash', input: { command: 'exit 5', run_in_background: true } },
            { name: 'TaskOutput', input: { task_id: 'bash-1', block: true } },
            { name: 'Bash', input: { command: 'exec sleep 300', run_in_background: true } },
          ],
        }),
        { text: 'ok' },
      ),
    });
    await engine.run('go');
    expect(engine.agent.state.todos).toEqual(todos);
    const again = resumed(engine, scriptedModel());
    expect(again.state.todos).toEqual(todos);
    expect(again.tasks.ids).toEqual(['bash-1', 'bash-2']);
    expect(again.tasks.find('bash-1')?.end).toMatchObject({ code: 5, stoppedBy: null });
    expect(again.tasks.find('bash-2')?.end).toBe('interrupted');
  });
});

describe('AGENT-5: calls that a crash left open are answered with the truth', () => {
  test('recorded results are used, a started call may have run, the rest did not', async () => {
    const stuck = Promise.withResolvers<never>();
    const tools = [
      toolOf('Quick', 'execute', async () => ({ content: 'quick result' })),
      toolOf('Slow', 'execute', () => stuck.promise),
    ];
    const calls = ['Quick', 'Slow', 'Quick'].map((name, index) => ({ name, input: {}, id: `c${index}` }));
    const engine = await startEngine({ provider: scriptedModel({ text: 'working', calls }), tools });
    engine.agent.say('prompt', [freezeBlock({ type: 'text', text: 'go' })]);
    await runUntil(engine.agent, (event) => event.type === 'tool_started' && event.call.name === 'Slow');
    await engine.runtime.journal.commit('written');

    const model = scriptedModel((request) => {
      expect(request.messages.at(-1)?.content).toMatchObject([
        { tool_use_id: 'c0', content: 'quick result' },
        { tool_use_id: 'c1', content: MAY_HAVE_RUN, is_error: true },
        { tool_use_id: 'c2', content: NOT_RUN.interrupted, is_error: true },
      ]);
      return { text: 'ok' };
    });
    const again = resumed(engine, model);
    // Another model means another conversation, with the same open calls.
    switchModel(again, 'fallback', 'claude-opus-5');
    expect(await goOn(again)).toMatchObject({ result: { status: 'done', text: 'ok' } });
  });
});

test('MODEL-2: a paused turn that a crash cut in two is one answer', async () => {
  const paused = { text: 'one, ', stopReason: 'pause_turn' } as const;
  const model = scriptedModel(paused, { ...paused, text: 'two, ' });
  const third = Promise.withResolvers<void>();
  const provider: ModelProvider = {
    ...model,
    send(request, options) {
      if (model.requests.length < 2) return model.send(request, options);
      third.resolve();
      return new Promise(() => {});
    },
  };
  const engine = await startEngine({ provider });
  void engine.run('go').catch(() => {});
  await third.promise;
  await engine.runtime.journal.commit('written');
  const again = resumed(engine, scriptedModel({ text: 'three' }));
  expect(await goOn(again)).toMatchObject({ result: { status: 'done', text: 'one, two, three' } });
});
