import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { snapshotOf } from '../../engine/agent/agent-content.ts';
import { viewRoot } from '../../engine/children/view-root.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { imageOf } from './agent-image.ts';
import { childRuntime, type HostChannel } from './child-runtime.ts';

test('RES-4: the view of the root cannot be changed in an agent’s own process either', async () => {
  const { agent } = await startEngine({ provider: scriptedModel() });
  agent.setTodos([{ content: 'one', status: 'pending' }]);
  // What the line does to it: a copy, which nothing has frozen.
  const line = { post() {}, call: async () => structuredClone(viewRoot(agent)) };
  const image = imageOf(snapshotOf(agent), {
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
  });
  const runtime = childRuntime(line as unknown as HostChannel, image, () => agent); // all that it asks of a line
  const view = await runtime.agents.root();
  expect(view).toEqual(viewRoot(agent));
  expect(() => Object.assign(view.todos[0] ?? {}, { content: 'mine' })).toThrow(TypeError);
  expect(() => Object.assign(view, { cwd: '/elsewhere' })).toThrow(TypeError);
});
