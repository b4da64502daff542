import { getEventListeners } from 'node:events';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { openReader } from '../../journal/sessions.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { resumeAgent } from '../resume/resume.ts';
import { type Agent, hosted } from './agent.ts';

const startAgent = async (): Promise<Agent> => {
  const { agent } = await startEngine({ provider: scriptedModel() });
  agent.say('prompt', [freezeBlock({ type: 'text', text: 'Go.' })]);
  return agent;
};

const names = ({ inbox }: Agent): string[] => inbox.items.map(({ item }) => item);

async function resumed(agent: Agent): Promise<Agent> {
  const { runtime, spec } = hosted(agent);
  const { journal } = runtime;
  await journal.commit('written');
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  try {
    return resumeAgent(runtime, reader, () => spec, spec.id);
  } finally {
    reader.close();
  }
}

describe('AGENT-7: messages that wait for an agent', () => {
  test('is there in order until it is told, once', async () => {
    const agent = await startAgent();
    const [a, b, c] = ['a', 'b', 'c'].map((text) => agent.receive('notification', null, text));
    expect(agent.takeFromInbox(({ item }) => item === b, null).map(({ item }) => item)).toEqual([b]);
    expect(names(agent)).toEqual([a, c]);
    const blocks = agent.inbox.items.flatMap((item) => item.blocks);
    agent.say('delivery', blocks, 0, { delivers: names(agent) });
    expect([agent.inbox.size, agent.state.inbox]).toEqual([0, []]);
  });

  test('tells whether there is a message', async () => {
    const agent = await startAgent();
    agent.receive('cancel', null, 'a');
    expect(agent.inbox.hasMessages).toBe(false);
    agent.receive('message', null, 'b');
    expect(agent.inbox.hasMessages).toBe(true);
  });

  test('AGENT-5: what a call took that never ended is there again when the agent is resumed', async () => {
    const agent = await startAgent();
    const item = agent.receive('notification', 'other', 'a');
    expect(agent.takeFromInbox(() => true, 'call')).toHaveLength(1);
    expect(names(agent)).toEqual([]);
    expect(names(await resumed(agent))).toEqual([item]);
    agent.inbox.releaseTaken();
    expect(names(agent)).toEqual([item]);
  });

  test('AGENT-5: a request to end is void once the agent is resumed, wherever it then runs', async () => {
    const agent = await startAgent();
    agent.receive('cancel', null, 'a');
    const item = agent.receive('message', null, 'b');
    const { inbox, state } = await resumed(agent);
    expect(inbox.items).toEqual(agent.inbox.items.slice(1));
    expect(state.inbox.map((pending) => pending.item)).toEqual([item]);
  });

  test('wakes everybody who waits for it, and leaves nothing on their signals', async () => {
    const agent = await startAgent();
    const abort = new AbortController();
    const waiting = [agent.inbox.arrival(abort.signal), agent.inbox.arrival(abort.signal)];
    agent.receive('notification', null, 'a');
    await Promise.all(waiting);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    await agent.inbox.arrival(abort.signal);
  });

  test('wakes who is interrupted, at once when that was before', async () => {
    const { inbox } = await startAgent();
    const abort = new AbortController();
    const waiting = inbox.arrival(abort.signal);
    abort.abort();
    await waiting;
    await inbox.arrival(abort.signal);
    expect(inbox.size).toBe(0);
  });

  test('an interrupted wait does not keep a later one from waiting', async () => {
    const agent = await startAgent();
    const abort = new AbortController();
    const first = agent.inbox.arrival(abort.signal);
    abort.abort();
    await first;
    let woken = false;
    const second = agent.inbox.arrival(new AbortController().signal).then(() => {
      woken = true;
    });
    await new Promise(setImmediate);
    expect(woken).toBe(false);
    agent.receive('notification', null, 'a');
    await second;
  });
});
