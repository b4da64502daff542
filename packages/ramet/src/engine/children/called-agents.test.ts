import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type EngineFixture, startEngine } from '../../../test/fixtures/engine.ts';
import { familyOf } from '../../../test/fixtures/family.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { gitVariables } from '../../../test/fixtures/worktrees.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { inProcess } from '../../executors/in-process.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import { worktreeWorkspaces } from '../../git/worktrees/workspace/worktree-workspaces.ts';
import { agentId } from '../../schema/ids.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { Agent } from '../agent/agent.ts';
import { calledAgents } from './called-agents.ts';
import type { AgentFamily } from './family.ts';
import { startChild } from './run-child.ts';

interface CalledChild {
  engine: EngineFixture;
  family: AgentFamily;
  workspace: AgentWorkspace;
  child: Agent;
}

/** A child in a worktree with a new file, for which call `c` of the main agent waits. */
async function calledChild(gate: Promise<unknown> = Promise.resolve()): Promise<CalledChild> {
  const cwd = temporaryRepository({ a: '1\n' });
  const engine = await startEngine({ provider: scriptedModel({ text: 'Scope: done.' }), spec: { cwd } });
  const { runtime, agent } = engine;
  const id = agentId(runtime.journal.session, 2);
  const owner = { session: runtime.journal.session, agent: id };
  const home = join(temporaryDirectory(), 'home');
  const workspaces = worktreeWorkspaces({ home, cwd, env: gitVariables(), settings: {}, now: Date.now });
  onTestFinished(() => workspaces[Symbol.asyncDispose]());
  const real = await workspaces.create({ name: 'work', owner, cwd });
  const release: AgentWorkspace['release'] = (begun) => gate.then(() => real.release(begun));
  const workspace = { ...real, release };
  const { worktree } = workspace;
  writeFiles(worktree.path, { 'new.txt': 'new\n' });
  const child = Agent.start(runtime, {
    ...{ ...agent.spec, id, parent: agent.spec.id, type: 'general-purpose', name: null },
    ...{ cwd: worktree.path, workspace, isWorkspaceOwn: true },
    origin: { kind: 'fresh', call: 'c', description: 'work', background: false, depth: 1, worktree },
  });
  child.say('prompt', [freezeBlock({ type: 'text', text: 'Work.' })]);
  return { engine, family: familyOf(engine, inProcess), workspace, child };
}

async function reportOf({ engine, family }: CalledChild, found = () => {}): Promise<string> {
  const called = await calledAgents(family, engine.runtime, engine.agent.spec.id, ['c']);
  found();
  const outcome = await called.get('c')?.report(new AbortController().signal);
  return String(outcome?.content);
}

const HELD = /Worktree: \S+work \(branch ramet\/work, from \w{12}; holds not known to git: new\.txt;/;

test('AGENT-5: the report of an agent that ends just now says where its work is', async () => {
  const gate = Promise.withResolvers<void>();
  const called = await calledChild(gate.promise);
  const { engine, family, child } = called;
  const handle = startChild(family, engine.agent, child, {});
  // It has ended, and its worktree is not given back yet.
  while (family.find(child.spec.id) !== undefined) await new Promise(setImmediate);
  expect(await reportOf(called, gate.resolve)).toMatch(HELD);
  await handle.result;
  expect(await reportOf(called)).toMatch(HELD);
});

test('AGENT-5: an agent whose process was killed is reported with its worktree', async () => {
  const called = await calledChild();
  const { child } = called;
  expect(await reportOf(called)).toMatch(
    /^interrupted: .*\nWorktree: \S+work \(branch ramet\/work, from \w{12}\)\.$/,
  );
  // Killed after its end was on record, and before its worktree was given back.
  child.record({ type: 'agent.ended', status: 'done', cause: null, message: null });
  expect(await reportOf(called)).toMatch(/^Worktree: \S+work \(branch ramet\/work, from \w{12}\)\.$/m);
});
