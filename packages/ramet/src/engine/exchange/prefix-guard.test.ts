import { describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/fixtures/engine.ts';
import { startSiblings } from '../../../test/fixtures/siblings.ts';
import { Conversation, freezeHead } from '../../conversation/conversation.ts';
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { type GuardedChild, PrefixGuard } from './prefix-guard.ts';

const text = (value: string): FrozenBlock => freezeBlock({ type: 'text', text: value });

interface Opening {
  system?: string;
  shared?: string;
  task?: string;
  cwd?: string;
}

function childOf({ system = 'be brief', shared = 'rules', task = 'task', cwd = '/a' }: Opening = {}) {
  const head = freezeHead({ model: 'm', thinking: null, tools: [], system: [text(system)] });
  const blocks = [text(shared), text(task)];
  const warnings: string[] = [];
  const child: GuardedChild = {
    spec: { type: 'Explore', cwd, tools: [] },
    conversation: new Conversation(head, [{ role: 'user', blocks, shared: 1 }]),
    here: { inherited: null },
    warn: (code, message) => warnings.push(`${code}: ${message}`),
  };
  return { child, warnings };
}

/** A fork of `parent` that has been given its task. */
function forkOf(parent: Conversation, conversation: Conversation = parent.fork()) {
  const { child, warnings } = childOf();
  const inherited = { blocks: parent.chain.length, digest: parent.digest, parent: parent.fork() };
  conversation.append({ role: 'user', blocks: [text('directive'), text('task')], shared: 1 });
  return { child: { ...child, conversation, here: { inherited } }, warnings };
}

describe('FORK-8: a fork is compared with its parent before its first request', () => {
  const parent = childOf().child.conversation;

  test('a fork that only adds to its parent passes, also when the parent has continued', () => {
    const moving = parent.fork();
    const { child, warnings } = forkOf(moving);
    moving.append({ role: 'assistant', blocks: [text('meanwhile')], shared: 0 });
    new PrefixGuard({ strict: true }).check(child);
    expect(warnings).toEqual([]);
  });

  test.each<[string, Opening]>([
    ['system[0], field text', { system: 'be long' }],
    ['messages[0].content[0], field text', { shared: 'other rules' }],
    ['messages[0].content[1], field text', { task: 'another task' }],
  ])('a fork that differs in %s warns and names it', (where, opening) => {
    const { child, warnings } = forkOf(parent, childOf(opening).child.conversation);
    new PrefixGuard({ strict: false }).check(child);
    expect(warnings).toEqual([
      expect.stringContaining(`prefix_diverged: this fork differs from its parent in ${where}`),
    ]);
  });

  test('where a strict session is asked for it fails', () => {
    const { child } = forkOf(parent, childOf({ system: 'be long' }).child.conversation);
    expect(() => new PrefixGuard({ strict: true }).check(child)).toThrow(/system\[0\]/);
  });
});

describe('FORK-8: agents of one type are compared with the first of them', () => {
  const warningsAfter = (opening: Opening): string[] => {
    const guard = new PrefixGuard({ strict: false });
    guard.check(childOf().child);
    const { child, warnings } = childOf(opening);
    guard.check(child);
    return warnings;
  };

  test('another task is no difference', () => {
    expect(warningsAfter({ task: 'something else' })).toEqual([]);
  });

  test('another system prompt is', () => {
    expect(warningsAfter({ system: 'be long' })).toEqual([expect.stringContaining('system[0], field text')]);
  });

  test('FORK-9: another directory may bring other rules, and must not bring another system prompt', () => {
    expect(warningsAfter({ cwd: '/b', shared: 'rules of b' })).toEqual([]);
    expect(warningsAfter({ shared: 'rules of b' })).toHaveLength(1);
    expect(warningsAfter({ cwd: '/b', system: 'you are in /b' })).toHaveLength(1);
  });
});

describe('FORK-8: the guard stands before the first request', () => {
  test('a child that parts from its siblings fails in a strict session, and nothing is sent for it', async () => {
    const siblings = await startSiblings();
    await siblings.run(siblings.child('one'));
    const stray = siblings.child('two', { system: [`other ${'x'.repeat(10_000)}`] });
    expect(await siblings.run(stray)).toMatchObject({ status: 'failed', cause: 'prefix_diverged' });
    expect(siblings.emulator.requests).toHaveLength(1);
  });

  test('a fork that has lost its parent fails, and releases it once it has started', async () => {
    const siblings = await startSiblings();
    const [stray, fork] = [siblings.child('one', { type: 'fork' }), siblings.child('two', { type: 'fork' })];
    const { conversation } = fork;
    stray.here.inherited = { blocks: 1, digest: 'another' };
    expect(await siblings.run(stray)).toMatchObject({ status: 'failed', cause: 'prefix_diverged' });
    fork.here.inherited = { blocks: 1, digest: conversation.chain[0] ?? '', parent: conversation.fork() };
    expect((await siblings.run(fork)).status).toBe('done');
    expect(fork.here.inherited).toBeNull();
  });

  test('agents of one type with other tools are not compared', async () => {
    const siblings = await startSiblings();
    await siblings.run(siblings.child('one'));
    const tools = [toolOf('Look', 'read', async () => ({ content: 'seen' }))];
    expect((await siblings.run(siblings.child('two', { tools }))).status).toBe('done');
  });
});
