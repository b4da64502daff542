import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import {
  call,
  eventsOf,
  familyOf,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { builtInDefinitions, generalPurpose } from '../../agents/prompts/built-in.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentExecutor } from '../agent/executor.ts';
import type { SpawnOrder } from './child-plan.ts';
import { createDesk } from './desk.ts';
import type { AgentFamily } from './family.ts';
import { spawnAgent } from './spawn.ts';

/** Everything a main agent has, and it only reads. */
const reader: AgentDefinition = { ...generalPurpose, name: 'reader', aliases: [], readOnly: true };

/** Agents that stay until the test lets them go. */
async function startReaders(): Promise<{
  family: AgentFamily;
  main: Agent;
  spawn(parent: Agent, order: Partial<SpawnOrder>): Promise<Agent>;
  letGo(): void;
}> {
  const engine = await startEngine({ provider: scriptedModel() });
  const gate = Promise.withResolvers<void>();
  const executor: AgentExecutor = {
    name: 'waiting',
    async run(value) {
      const agent = family.find(value.spec.id);
      await gate.promise;
      agent?.record({ type: 'agent.ended', status: 'done', cause: null, message: null });
      return { status: 'done', cause: null, message: null, text: '', turns: 1, ...NOTHING_SPENT };
    },
  };
  const family = familyOf(engine, executor, { definitions: [...builtInDefinitions, reader] });
  onTestFinished(() => gate.resolve());
  return {
    family,
    main: engine.agent,
    letGo: () => gate.resolve(),
    async spawn(parent, order) {
      const outcome = await spawnAgent(family, parent, {
        prompt: 'look',
        description: 'look',
        call: 'c',
        ...order,
      });
      const child = 'handle' in outcome ? family.find(outcome.handle.id) : undefined;
      if (child === undefined) throw new Error(JSON.stringify(outcome));
      return child;
    },
  };
}

const NOTHING_SPENT = { usage: NO_USAGE, costUsd: 0, durationMs: 0 };

describe('TYPE-2: rights never widen on the way down', () => {
  test('a type that only reads is offered nothing that writes, even with all tools', async () => {
    const { main, spawn } = await startReaders();
    const child = await spawn(main, { subagent_type: 'reader' });
    expect(main.spec.tools.map(({ name }) => name)).toContain('Write');
    expect(child.spec).toMatchObject({ readOnly: true, origin: { readOnly: true } });
    expect(child.spec.tools.filter(({ effect }) => effect === 'write')).toEqual([]);
    expect(child.spec.tools.map(({ name }) => name)).toContain('Bash');
  });

  test('an agent that only reads starts only agents that only read, of any type, and forks', async () => {
    const { main, spawn } = await startReaders();
    const parent = await spawn(main, { subagent_type: 'reader' });
    const typed = await spawn(parent, { subagent_type: 'general-purpose' });
    expect(typed.spec).toMatchObject({ readOnly: true, origin: { readOnly: true } });
    expect(typed.spec.tools.filter(({ effect }) => effect === 'write')).toEqual([]);
    const fork = await spawn(parent, {});
    expect(fork.spec).toMatchObject({ type: 'fork', readOnly: true, origin: { readOnly: true } });
    const writing = await spawn(main, { subagent_type: 'general-purpose' });
    expect(writing.spec.readOnly).toBeUndefined();
    expect(writing.spec.tools).toEqual(main.spec.tools);
  });

  test('an agent that only reads cannot resume one that writes', async () => {
    const { family, main, spawn, letGo } = await startReaders();
    const writer = await spawn(main, { subagent_type: 'general-purpose', name: 'writer' });
    const ended = family.findHandle(writer.spec.id)?.result;
    letGo();
    await ended;
    const { agent } = await readerOf(family, main);
    const desk = createDesk(family, agent.spec.id, 'c2', new AbortController().signal);
    const { content, isError } = await desk.send('writer', 'Write it.');
    expect(isError).toBe(true);
    expect(content).toBe('writer cannot be resumed: it may change things, and you only read.');
  });
});

/** A reader that is known to the family and does not run. */
async function readerOf(family: AgentFamily, main: Agent): Promise<{ agent: Agent }> {
  const { Agent: Made } = await import('../agent/agent.ts');
  const spec = { ...main.spec, id: family.newId(), parent: main.spec.id, readOnly: true };
  const agent = Made.start(main.runtime, spec);
  family.admit(agent, null);
  return { agent };
}

describe('TYPE-2: a session with agents that only read', () => {
  test('the widest mode gives them nothing, and they are told why', async () => {
    const family = await startFamily({
      permissions: { allow: ['Bash(*)'] },
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'Explore', model: 'sonnet' }), { text: 'ok' }],
        child: [
          call('Bash', { command: 'echo x > made.txt' }),
          call('Write', { file_path: 'made.txt', content: 'x' }),
          call('Bash', { command: 'git log --format=%s' }),
          { text: 'Done.' },
        ],
      },
    });
    await family.run('Go.');
    const [, second, third, fourth] = family.requestsOf('child');
    expect(lastTexts(second)[0]).toMatch(
      /you are an agent that only reads, and it writes made\.txt\. Do not/,
    );
    expect(lastTexts(third)[0]).toMatch(/^there is no tool "Write"; the tools are/);
    expect(lastTexts(fourth)[0]).toBe('start');
    expect(existsSync(join(family.cwd, 'made.txt'))).toBe(false);
    expect(eventsOf(family.recordedOf(2), 'agent.started')).toMatchObject([{ origin: { readOnly: true } }]);
  });

  test('one that is continued, also after a restart, still only reads', async () => {
    const cast = {
      'Go.': [startAgents(['child'], { subagent_type: 'Explore', name: 'scout' }), { text: 'ok' }],
      child: [{ text: 'Done.' }],
    };
    const family = await startFamily({ cast });
    await family.run('Go.');
    const again = await family.reopen({
      'Again.': [call('SendMessage', { to: 'scout', message: 'more' }), { text: 'wait' }, { text: 'end' }],
      child: [{ text: 'Done.' }, call('Bash', { command: 'touch made.txt' }), { text: 'No.' }],
    });
    await again.run('Again.');
    expect(lastTexts(again.requestsOf('child').at(-1))[0]).toMatch(/you are an agent that only reads/);
    expect(existsSync(join(family.cwd, 'made.txt'))).toBe(false);
  });

  test('fetching a page is asked about like anybody else’s', async () => {
    const asked: string[] = [];
    const family = await startFamily({
      permissionMode: 'default',
      broker: {
        async ask({ tool }) {
          asked.push(tool);
          return { kind: 'denied', reason: 'no' };
        },
      },
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'Explore' }), { text: 'ok' }],
        child: [
          call('WebFetch', { url: 'http://127.0.0.1:9/' }),
          call('Bash', { command: 'rm README.md' }),
          { text: 'Done.' },
        ],
      },
    });
    await family.run('Go.');
    expect(asked).toEqual(['WebFetch']);
  });
});
