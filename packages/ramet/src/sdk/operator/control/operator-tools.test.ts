import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../../test/fixtures/operator-world.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import { operatorTools } from './operator-tools.ts';

// These tools use nothing of their context.
const NOTHING = {} as ToolContext;

describe('OP-2: a model steers a run with two tools', () => {
  test('it sees each task and what is allowed, and what is not allowed answers with what is', async () => {
    const world = new OperatorWorld({ tasks: [runTask('a'), runTask('b', { waits: ['a'] })] });
    const operator = world.operator();
    const [look, act] = operatorTools(operator);
    const state = JSON.parse(String((await look.run({}, NOTHING)).content));
    expect(state).toMatchObject({
      status: 'running',
      allowed: ['pause', 'stop'],
      tasks: [{ id: 'a' }, { id: 'b' }],
    });
    expect(await act.run({ action: 'retry', task: 'a' }, NOTHING)).toEqual({
      ...{ isError: true, content: 'retry is not possible: a is queued; possible now: skip' },
    });
    expect(await act.run({ action: 'skip' }, NOTHING)).toMatchObject({ isError: true });
    expect(await act.run({ action: 'skip', task: 'a' }, NOTHING)).toEqual({ content: 'done' });
    await operator.run(new AbortController().signal);
    const only = JSON.parse(String((await look.run({ task: 'a' }, NOTHING)).content));
    expect(only.tasks).toMatchObject([{ id: 'a', status: 'skipped', allowed: ['retry'] }]);
    expect(world.statuses()).toEqual({ a: 'skipped', b: 'done' });
    expect(world.state.asked.map(({ by }) => by)).toEqual(['model', 'model']);
  });

  test('what is for a person is refused to it', () => {
    const operator = new OperatorWorld({ tasks: [runTask('a', { gate: 'approve it' })] }).operator();
    expect(operator.act({ kind: 'start', task: 'a' }, 'model')).toBe('start is for a person');
    expect(operator.act({ kind: 'answer', question: 'q', answer: 'always' }, 'model')).toBe(
      'answer is for a person',
    );
  });
});
