import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EngineFixture, runToEnd, startEngine } from '../../../test/fixtures/engine.ts';
import { familyOf } from '../../../test/fixtures/family.ts';
import { contentOf, freezeBlock } from '../../conversation/frozen-block.ts';
import { inProcess } from '../../executors/in-process.ts';
import { openReader } from '../../journal/sessions.ts';
import { agentId } from '../../schema/ids.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { Agent } from '../agent/agent.ts';
import { lostNotifications } from './lost-children.ts';
import { RecordedChildren } from './recorded-children.ts';
import { resumeAgent } from './resume.ts';

/** A child as a killed process leaves it: its parent has not been told. */
function child(engine: EngineFixture, background = true): Agent {
  const { runtime, agent } = engine;
  const lost = Agent.start(runtime, {
    ...agent.spec,
    id: agentId(runtime.journal.session, 2),
    parent: agent.spec.id,
    type: 'general-purpose',
    name: 'scout',
    origin: { kind: 'fresh', call: 'c', description: 'look around', background, depth: 1 },
  });
  lost.say('prompt', [freezeBlock({ type: 'text', text: 'Look.' })]);
  return lost;
}

const run = (agent: Agent) => runToEnd(agent);

/** What the main agent finds when another process resumes it. */
async function resumed(engine: EngineFixture): Promise<{ agent: Agent; news: string[] }> {
  const { journal } = engine.runtime;
  await journal.commit('written');
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  const agent = resumeAgent(engine.runtime, reader, () => engine.agent.spec, engine.agent.spec.id);
  const recorded = RecordedChildren.read(reader);
  const family = familyOf(engine, inProcess);
  const lost = await lostNotifications(family, engine.runtime, agent.spec.id, { recorded, reader });
  for (const { from, text } of lost) agent.receive('notification', from, text);
  reader.close();
  const { items } = agent.inbox;
  return { agent, news: items.flatMap(({ blocks }) => blocks.map((block) => String(contentOf(block).text))) };
}

describe('AGENT-5: agents in the background of a process that was killed', () => {
  test('one that had ended is reported with its report', async () => {
    const engine = await startEngine({ provider: scriptedModel({ text: 'Scope: found it.' }) });
    await run(child(engine));
    const { news } = await resumed(engine);
    expect(news).toEqual([expect.stringMatching(/<status>done<\/status>.*\nScope: found it\.\n/s)]);
    expect(news[0]).toContain('<usage>1 turn, 15 tokens');
  });

  test('one that had not is interrupted, and told of once however often the session is resumed', async () => {
    const engine = await startEngine({ provider: scriptedModel() });
    child(engine);
    const first = await resumed(engine);
    const second = await resumed(engine);
    for (const { news } of [first, second]) {
      expect(news).toEqual([expect.stringContaining('<status>interrupted: process_ended: ')]);
    }
    // The second found what the first had received.
    const received = engine.recorded().filter(({ type }) => type === 'message.received');
    expect(received).toHaveLength(1);
  });

  test('one that its parent waited for is not, unless it had been sent to the background', async () => {
    const engine = await startEngine({ provider: scriptedModel() });
    const waited = child(engine, false);
    expect((await resumed(engine)).news).toEqual([]);
    waited.record({ type: 'agent.detached' });
    expect((await resumed(engine)).news).toHaveLength(1);
  });

  test('one that was reported and continued is reported again', async () => {
    const engine = await startEngine({ provider: scriptedModel({ text: 'One.' }, { text: 'Two.' }) });
    const lost = child(engine, false);
    await run(lost);
    engine.agent.receive('notification', lost.spec.id, 'told');
    lost.say('prompt', [freezeBlock({ type: 'text', text: 'And then?' })]);
    await run(lost);
    expect((await resumed(engine)).news).toEqual(['told', expect.stringContaining('\nTwo.\n')]);
  });

  test('what comes after a resume is not taken for what had come before', async () => {
    const engine = await startEngine({ provider: scriptedModel() });
    engine.agent.receive('message', null, 'before');
    (await resumed(engine)).agent.receive('message', null, 'after');
    expect((await resumed(engine)).news).toEqual(['before', 'after']);
  });

  test('a cancellation that came too late does not call off what is continued', async () => {
    const engine = await startEngine({ provider: scriptedModel() });
    engine.agent.receive('cancel', null, 'called off');
    engine.agent.receive('message', null, 'after');
    expect((await resumed(engine)).news).toEqual(['after']);
  });
});
