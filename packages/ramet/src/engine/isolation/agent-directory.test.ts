import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { type EngineFixture, startEngine } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { recordedAgent } from '../../journal/projections/recorded-agents.ts';
import { openReader } from '../../journal/sessions.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { Agent } from '../agent/agent.ts';

function workspaceAt(path: string): AgentWorkspace {
  const worktree = { id: 'w', path, branch: 'ramet/w', base: 'b', from: '/repo' };
  return {
    worktree,
    created: {
      type: 'worktree.created',
      ...worktree,
      how: 'made',
      dirty: { policy: 'exclude', files: 0 },
      ms: 1,
    },
    fence: { root: path, from: '/repo', scratch: '/scratch', temporary: [], guarded: [] },
    bounds: { shared: [], caches: [], guarded: [], own: [path], made: [] },
    env: {},
    notice: { whole: '', brief: '' },
    warnings: [],
    recovered: null,
    giveTo() {},
    checkpoint: async () => null,
    release: async () => ({ kept: true, reasons: [] }),
  };
}

/** The agent as another process makes it from the journal. */
async function again({ runtime, agent }: EngineFixture, workspace: AgentWorkspace): Promise<Agent> {
  await runtime.journal.commit('written');
  const { file, session } = runtime.journal;
  const reader = openReader({ project: dirname(file), session });
  const state = recordedAgent((id) => reader.events({ agent: id }), agent.spec.id);
  reader.close();
  return new Agent(runtime, { ...agent.spec, workspace }, { state, conversation: agent.conversation });
}

const whereOf = ({ directory: { cwd, isOwn, outside, workspace } }: Agent) => ({
  ...{ cwd, isOwn, outside },
  worktree: workspace?.worktree ?? null,
});

test('LOG-1, WORK-2: where an agent is follows from its record, in a worktree and out of it again', async () => {
  const engine = await startEngine({ provider: scriptedModel() });
  const { agent } = engine;
  const began = agent.spec.cwd;
  const workspace = workspaceAt(temporaryDirectory());
  agent.directory.enter(workspace);
  const { path } = workspace.worktree;
  expect(whereOf(agent)).toEqual({ cwd: path, isOwn: true, outside: began, worktree: workspace.worktree });
  expect(whereOf(await again(engine, workspace))).toEqual(whereOf(agent));
  agent.directory.leave(began);
  expect(whereOf(agent)).toEqual({ cwd: began, isOwn: false, outside: null, worktree: null });
  expect(whereOf(await again(engine, workspace))).toEqual(whereOf(agent));
});

test('WORK-8: a record of an earlier version lacks the directory that the agent left: a resume adds it once', async () => {
  const engine = await startEngine({ provider: scriptedModel() });
  const { agent } = engine;
  const workspace = workspaceAt(temporaryDirectory());
  const { worktree } = workspace;
  agent.record({ type: 'directory.changed', cwd: worktree.path, worktree });
  const moved = await again(engine, workspace);
  expect(moved.directory.outside).toBeNull();
  moved.directory.resume('/repo');
  expect(moved.directory.outside).toBe('/repo');
  const { state } = moved;
  moved.directory.resume('/repo');
  expect(moved.state).toBe(state);
});

test('WORK-7: an agent in a worktree that its process does not hold works nowhere', async () => {
  const { agent } = await startEngine({ provider: scriptedModel() });
  const { worktree } = workspaceAt('/w/elsewhere');
  agent.record({ type: 'directory.changed', cwd: '/w/elsewhere', worktree });
  expect(() => agent.directory.workspace).toThrow('is not held here');
});
