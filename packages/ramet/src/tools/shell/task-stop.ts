import * as z from '../../schema/zod.ts';
import { defineTool, failure, type Tool } from '../tool.ts';
import { describeTask, unknownTask } from './background-tasks.ts';

export const taskStopTool: Tool = defineTool({
  name: 'TaskStop',
  description: 'Stop a background task with all its processes, or an agent.',
  // Only what this agent was allowed to start can be stopped here: that needs no second permission.
  effect: 'read',
  schedule: 'ordered',
  input: z.strictObject({ task_id: z.string() }),
  async run({ task_id }, { tasks, agents }) {
    const task = tasks.find(task_id);
    if (task === undefined) return (await agents.stop(task_id)) ?? failure(unknownTask(task_id, tasks));
    if (task.end === 'interrupted') return failure(describeTask(task));
    const before = task.end;
    // Also when its shell has ended: what that left behind is of the task.
    await task.stop('TaskStop');
    return { content: before === null ? describeTask(task) : `Nothing to stop: ${describeTask(task)}` };
  },
});
