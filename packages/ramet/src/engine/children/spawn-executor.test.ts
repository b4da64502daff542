import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { eventsOf, familyOf } from '../../../test/fixtures/family.ts';
import { generalPurpose } from '../../agents/prompts/built-in.ts';
import { inProcess } from '../../executors/in-process.ts';
import type { ExecutorKind } from '../../schema/status.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { DEFAULT_AGENT_LIMITS } from '../agent/agent-limits.ts';
import type { AgentExecutor } from '../agent/executor.ts';
import { spawnAgent } from './spawn.ts';

/** What says where a child runs, and where it then ran. */
async function hostOf(said: { order?: ExecutorKind; type?: ExecutorKind; setting?: ExecutorKind }) {
  const engine = await startEngine({ provider: scriptedModel({ text: 'ok' }) });
  const ran: string[] = [];
  const noting = (name: string): AgentExecutor => ({
    name,
    run(...order) {
      ran.push(name);
      return inProcess.run(...order);
    },
  });
  const family = familyOf(engine, noting('in-process'), {
    ownProcess: async () => noting('process'),
    definitions: [{ ...generalPurpose, ...(said.type && { executor: said.type }) }],
    limits: { ...DEFAULT_AGENT_LIMITS, executor: said.setting ?? DEFAULT_AGENT_LIMITS.executor },
  });
  const order = { prompt: 'Go.', description: 'd', subagent_type: 'general-purpose', call: null };
  const outcome = await spawnAgent(family, engine.agent, { ...order, executor: said.order });
  if ('problem' in outcome) throw new Error(outcome.problem);
  await outcome.handle.result;
  const [started] = eventsOf(engine.recordedOf(outcome.handle.id), 'agent.started');
  return { ran: ran.join(), recorded: started?.origin?.executor };
}

describe('EXEC-2: where an agent runs', () => {
  test.each<[string, Parameters<typeof hostOf>[0], ExecutorKind]>([
    ['in this process by default', {}, 'in-process'],
    ['what the setting says', { setting: 'process' }, 'process'],
    ['what its type says, whatever the setting', { setting: 'process', type: 'in-process' }, 'in-process'],
    ['what its type asks for', { type: 'process' }, 'process'],
    ['what the program that starts it says first', { type: 'process', order: 'in-process' }, 'in-process'],
  ])('%s', async (_, said, expected) => {
    expect(await hostOf(said)).toEqual({
      ran: expected,
      recorded: expected === 'process' ? 'process' : undefined,
    });
  });
});
