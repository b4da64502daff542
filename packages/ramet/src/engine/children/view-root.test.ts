import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import * as z from '../../schema/zod.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { RootView } from '../../tools/root-view.ts';
import { defineTool } from '../../tools/tool.ts';
import { budgetLeft, viewRoot } from './view-root.ts';

describe('RES-4: the view of the root', () => {
  test('is of one moment: what the root does later is in the next one', async () => {
    const { agent } = await startEngine({ provider: scriptedModel() });
    agent.setTodos([{ content: 'one', status: 'pending' }]);
    const before = viewRoot(agent);
    agent.setTodos([{ content: 'two', status: 'completed' }]);
    expect(before.todos).toEqual([{ content: 'one', status: 'pending' }]);
    expect(viewRoot(agent).todos).toEqual([{ content: 'two', status: 'completed' }]);
  });

  test('a tool that tries to write to it fails, and the root stays as it is', async () => {
    const attempts: ((view: RootView) => unknown)[] = [
      (view) => Object.assign(view, { cwd: '/elsewhere' }),
      (view) => Object.assign(view.todos[0] ?? {}, { content: 'mine' }),
      (view) => (view.todos as unknown[]).push('more'), // what the type forbids is tried
      (view) => (view.rules.allow as unknown[]).push('Bash'), // the same
      (view) => Object.assign(view.budgetLeft, { usd: 1_000 }),
      (view) => Reflect.deleteProperty(view, 'model') || Object.assign(view, { model: 'x' }),
    ];
    const failed: boolean[] = [];
    const meddle = defineTool({
      name: 'Meddle',
      description: 'Tries.',
      effect: 'read',
      schedule: 'parallel',
      input: z.strictObject({}),
      async run(_, context) {
        const view = await context.root();
        for (const attempt of attempts) {
          try {
            attempt(view);
            failed.push(false);
          } catch (error) {
            failed.push(error instanceof TypeError);
          }
        }
        return { content: 'tried' };
      },
    });
    const engine = await startEngine({
      provider: scriptedModel({ calls: [{ name: 'Meddle', input: {} }] }, { text: 'ok' }),
      tools: [meddle],
    });
    engine.agent.setTodos([{ content: 'one', status: 'pending' }]);
    await engine.run('Go.');
    expect(failed).toEqual(attempts.map(() => true));
    expect(engine.agent.state.todos).toEqual([{ content: 'one', status: 'pending' }]);
    expect(engine.runtime.permissions.rules.allow).toEqual([]);
  });

  test('says the least that any limit leaves; unknown is never zero', () => {
    const record = { startedAt: 0, label: '', totalUsage: NO_USAGE, totalCostUsd: 0.25 };
    const own = { ...record, limits: { usd: 1, seconds: 60 } };
    const above = {
      ...record,
      limits: { usd: 0.5, tokens: 100 },
      totalUsage: { ...NO_USAGE, input_tokens: 400 },
    };
    expect(budgetLeft([own, above], 10_000)).toEqual({ usd: 0.25, tokens: 0, seconds: 50 });
    expect(budgetLeft([own, { ...above, totalCostUsd: null }], 0)).toMatchObject({ usd: null });
    expect(budgetLeft([], 0)).toEqual({});
  });
});
