/**
 * The two tools with which a model steers a run (OP-2): it looks, and it asks for what the machine allows. What is for a person,
 * such as an answer about permission, is refused.
 */
import { costOfTask, tasksOf } from '../../../operator/run/operator-state.ts';
import * as z from '../../../schema/zod.ts';
import { defineTool, failure, type Tool } from '../../../tools/tool.ts';
import type { RunningOperator } from '../operate-order.ts';

const MOST_TASKS = 200;
const LONGEST_MESSAGE = 300;

const MODEL_ACTIONS = ['pause', 'resume', 'stop', 'skip', 'retry'] as const;

export function operatorTools(
  run: Pick<RunningOperator, 'state' | 'act' | 'allowed'>,
): readonly [Tool, Tool] {
  return [stateTool(run), actionTool(run)];
}

function stateTool(run: Pick<RunningOperator, 'state' | 'allowed'>): Tool {
  return defineTool({
    name: 'get_current_state',
    description: 'The run of tasks as it is now: each task with its status, and what take_action can do.',
    effect: 'read',
    schedule: 'parallel',
    input: z.strictObject({
      task: z.optional(z.string().check(z.describe('Only this task, with its actions'))),
    }),
    run: async ({ task }) => ({ content: JSON.stringify(stateObject(run, task)) }),
  });
}

function stateObject(run: Pick<RunningOperator, 'state' | 'allowed'>, only: string | undefined): unknown {
  const { state } = run;
  const tasks = tasksOf(state).filter(({ task }) => only === undefined || task.id === only);
  return {
    ...{ status: state.status, cause: state.cause, allowed: modelActions(run.allowed()) },
    tasks: tasks.slice(0, MOST_TASKS).map((one) => ({
      ...{ id: one.task.id, status: one.status, cause: one.cause, attempts: one.attempts.length },
      ...{ message: one.message?.slice(0, LONGEST_MESSAGE) ?? null, cost_usd: costOfTask(one) },
      ...(only !== undefined && { title: one.task.title, allowed: modelActions(run.allowed(only)) }),
    })),
    more: Math.max(0, tasks.length - MOST_TASKS),
  };
}

function modelActions(allowed: readonly string[]): string[] {
  return MODEL_ACTIONS.filter((kind) => allowed.includes(kind));
}

function actionTool(run: Pick<RunningOperator, 'act'>): Tool {
  return defineTool({
    name: 'take_action',
    description: 'Asks the run for something. What is not allowed now is refused with what is.',
    effect: 'execute',
    schedule: 'ordered',
    input: z.strictObject({
      action: z.enum(MODEL_ACTIONS),
      task: z.optional(z.string().check(z.describe('For skip and retry'))),
    }),
    run: async ({ action, task }) => {
      if (action !== 'skip' && action !== 'retry') return outcomeOf(run.act({ kind: action }, 'model'));
      if (task === undefined) return failure(`${action} needs a task: give its id`);
      return outcomeOf(run.act({ kind: action, task }, 'model'));
    },
  });
}

function outcomeOf(refused: string | null): ReturnType<typeof failure> {
  return refused === null ? { content: 'done' } : failure(refused);
}
