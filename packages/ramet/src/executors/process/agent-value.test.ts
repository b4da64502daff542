/** An agent's state travels as a value: what it holds arrives, whatever that is. */
import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { anyEvents } from '../../../test/fixtures/event-sequences.ts';
import { watchStates } from '../../../test/fixtures/watched-states.ts';
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { Agent } from '../../engine/agent/agent.ts';
import { snapshotOf } from '../../engine/agent/agent-content.ts';
import { resumeAgent } from '../../engine/resume/resume.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { recordedAgent } from '../../journal/projections/recorded-agents.ts';
import { openReader } from '../../journal/sessions.ts';
import { agentId } from '../../schema/ids.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { agentFromImage, imageOf, type ProcessSurroundings } from './agent-image.ts';

const SURROUNDINGS: ProcessSurroundings = {
  session: 's',
  journal: '',
  environment: {},
  outputDirectory: '',
  home: null,
  slots: null,
  sandbox: 'off',
  isolation: 'off',
  processes: '',
  secrets: { salt: '', values: [] },
  clockAheadMs: 0,
  hookEvents: [],
};

/** As it comes out of the line to another process. */
function throughLine(agent: Agent): Promise<Agent> {
  return agentFromImage(deserialize(serialize(imageOf(snapshotOf(agent), SURROUNDINGS))), agent.runtime);
}

/** The blocks that generated events name. */
const BLOCKS = Array.from({ length: 10 }, (_, index) => [`d${index}`, `result-of-c${index}`])
  .flat()
  .map((digest): FrozenBlock => ({ ...freezeBlock({ type: 'text', text: digest }), digest }));

test('LOG-1, EXEC-2: after any events it is their fold, and so it is in another process', async () => {
  const { failures } = watchStates();
  const { runtime, agent: first } = await startEngine({ provider: scriptedModel() });
  let agents = 1;
  await fc.assert(
    fc.asyncProperty(anyEvents, async (events) => {
      const agent = Agent.start(runtime, { ...first.spec, id: agentId(runtime.journal.session, ++agents) });
      for (const event of events) {
        agent.content.know(BLOCKS);
        agent.record(event);
      }
      expect(failures).toEqual([]);
      const other = await throughLine(agent);
      expect(other.state).toEqual(agent.state);
      expect(other.conversation.digest).toBe(agent.conversation.digest);
      expect(other.prompts).toHaveLength(agent.prompts.length);
      expect(other.content.mail).toEqual(agent.content.mail);
      if (!agent.conversation.awaitsAnswer) expect(other.content.results).toEqual(agent.content.results);
    }),
    { numRuns: 60 },
  );
});

test('FORK-2, LOG-1, EXEC-2: a field that nobody knows survives fork, resume and another process', async () => {
  const { runtime, agent: first } = await startEngine({ provider: scriptedModel() });
  const { spec, conversation } = first;
  const field = { probe: { holds: new Map([['a', [1, 2]]]) } };
  const agent = new Agent(runtime, spec, { state: { ...first.state, ...field }, conversation });
  agent.say('prompt', [freezeBlock({ type: 'text', text: 'Go.' })]);
  agent.setTodos([{ content: 'one', status: 'pending' }]);
  expect(agent.state).toMatchObject(field);
  expect((await throughLine(agent)).state).toEqual(agent.state);
  const fork = agent.fork({ ...spec, id: agentId(runtime.journal.session, 2), parent: spec.id }, 'task');
  expect(fork.state).toMatchObject({ ...field, agent: fork.spec.id, todos: [] });
  await runtime.journal.commit('written');
  const reader = openReader({ project: dirname(runtime.journal.file), session: runtime.journal.session });
  const folded = { ...recordedAgent((id) => reader.events({ agent: id }), spec.id), ...field };
  const resumed = resumeAgent(runtime, reader, () => spec, spec.id, folded);
  reader.close();
  resumed.say('notice', [freezeBlock({ type: 'text', text: 'Resumed.' })]);
  expect(resumed.state).toMatchObject(field);
  expect(resumed.state.todos).toEqual(agent.state.todos);
});

test('FORK-2, LOG-1: beside its state an agent has ports and one object of this process, which a fork begins without', async () => {
  const { runtime, agent } = await startEngine({ provider: scriptedModel() });
  const ports = ['runtime', 'directory', 'files', 'content', 'inbox', 'children'];
  expect(Object.keys(agent).toSorted()).toEqual([...ports, 'here'].toSorted());
  agent.say('prompt', [freezeBlock({ type: 'text', text: 'Go.' })]);
  Object.assign(agent.here, { launched: true, openQuestions: 2 }).beginRun();
  const id = agentId(runtime.journal.session, 2);
  const { here } = agent.fork({ ...agent.spec, id, parent: agent.spec.id }, 'task');
  expect(here).toMatchObject({ spending: null, carried: null, launched: false, openQuestions: 0 });
});

test('EXEC-2, WORK-7: a worktree comes out of the line as it is, with what few of them have', async () => {
  const { runtime, agent: first } = await startEngine({ provider: scriptedModel() });
  const held = { setupFailure: 'it failed', leftOut: ['node_modules'], fence: { root: '/w', from: '/r' } };
  const functions = { giveTo() {}, checkpoint: async () => null, release: async () => ({ kept: true }) };
  // All that the line has to know of a worktree.
  const workspace = { worktree: { path: '/w' }, ...held, ...functions } as unknown as AgentWorkspace;
  const spec = { ...first.spec, cwd: '/w', workspace, isWorkspaceOwn: true };
  const { conversation, state } = first;
  const other = await throughLine(new Agent(runtime, spec, { state, conversation }));
  expect(other.directory).toMatchObject({ cwd: '/w', isOwn: true, outside: null });
  expect(other.directory.workspace).toMatchObject({ worktree: { path: '/w' }, ...held });
});
