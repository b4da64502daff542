/** Lets an agent go on as it was rebuilt from the journal. Who knows it, and what has come for it, stays as it is. */
import type { Agent } from '../../engine/agent.ts';
import type { TaskEnd } from '../../tools/background-tasks.ts';

export function takeOver(agent: Agent, rebuilt: Agent): void {
  agent.followReplacement(rebuilt.conversation);
  agent.previousEnd = rebuilt.previousEnd;
  agent.context.measured = rebuilt.context.measured;
  agent.files = rebuilt.files;
  for (const call of rebuilt.calls) agent.calls.add(call);
  agent.tasks.recall(tasksOf(rebuilt));
  agent.requests = Math.max(agent.requests, rebuilt.requests);
  agent.openStop = rebuilt.openStop;
  agent.openCalls = rebuilt.openCalls;
  agent.prompts = rebuilt.prompts;
  agent.todos = rebuilt.todos;
  agent.own = rebuilt.own;
}

/** Its background tasks as another process can know them: how they ended, or null when nobody saw it. */
export function tasksOf({ tasks }: Agent): [id: string, end: TaskEnd | null][] {
  return tasks.ids.map((id) => {
    const end = tasks.find(id)?.end ?? null;
    return [id, end === 'interrupted' ? null : end];
  });
}
