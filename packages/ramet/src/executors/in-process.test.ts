import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { startEngine, toolOf } from '../../test/fixtures/engine.ts';
import { freezeBlock } from '../conversation/frozen-block.ts';
import { snapshotOf } from '../engine/agent/agent-content.ts';
import { hostOf } from '../engine/host-duties.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { inProcess } from './in-process.ts';

const { signal } = new AbortController();

async function prompted(...parameters: Parameters<typeof startEngine>) {
  const engine = await startEngine(...parameters);
  engine.agent.say('prompt', [freezeBlock({ type: 'text', text: 'Go.' })]);
  return engine;
}

describe('an agent in this process', () => {
  test('shares the bytes of its value: there is no second conversation', async () => {
    const { agent } = await prompted({ provider: scriptedModel({ text: 'Done.' }) });
    const value = snapshotOf(agent);
    const [first] = value.conversation.messages;
    await inProcess.run(value, hostOf(agent), { signal });
    expect(agent.conversation).toBe(value.conversation);
    expect(agent.conversation.messages[0]).toBe(first);
  });

  test('two side by side know who they are from what they were given, whatever surrounds them', async () => {
    const ambient = new AsyncLocalStorage<string>();
    const seen: string[] = [];
    const tell = toolOf('Tell', 'read', async (_, { agent }) => {
      await new Promise(setImmediate);
      seen.push(`${agent} in ${ambient.getStore()}`);
      return { content: 'ok' };
    });
    const engines = await Promise.all(
      ['one', 'two'].map(() =>
        prompted({
          provider: scriptedModel({ calls: [{ name: 'Tell', input: {} }] }, { text: 'Done.' }),
          tools: [tell],
        }),
      ),
    );
    await ambient.run('another agent', () =>
      Promise.all(engines.map(({ agent }) => inProcess.run(snapshotOf(agent), hostOf(agent), { signal }))),
    );
    expect(seen.toSorted()).toEqual(
      engines.map(({ agent }) => `${agent.spec.id} in another agent`).toSorted(),
    );
  });
});
