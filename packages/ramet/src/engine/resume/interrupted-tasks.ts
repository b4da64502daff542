/**
 * Background commands that an interruption has stopped, or that nobody has watched since: the conversation still says
 * that they run. The agent learns of each, once, if it was interrupted; one that had finished knew that they end.
 */
import { join } from 'node:path';
import { describeTask } from '../../tools/shell/background-tasks.ts';
import type { Agent } from '../agent/agent.ts';
import { tasksInterrupted } from '../agent/notices.ts';
import { hasOpenCalls } from '../calls/finish-calls.ts';

export function tellOfTasks(agent: Agent): void {
  const { backgroundTasks, deliveredTasks } = agent.state;
  if (backgroundTasks.size === deliveredTasks.length) return;
  if (!agent.conversation.awaitsAnswer && !hasOpenCalls(agent)) return;
  const interrupted = [...backgroundTasks].filter(
    ([id, end]) => (end === null || end.stoppedBy === 'agent end') && !deliveredTasks.includes(id),
  );
  if (interrupted.length === 0) return;
  const lines = interrupted.map(([id, end]) => {
    const how = describeTask({ id, end: end ?? 'interrupted', pid: null });
    return `- ${how} Its output is in ${join(agent.runtime.outputDirectory, `${id}.txt`)}`;
  });
  agent.receive(
    'notification',
    null,
    tasksInterrupted(lines),
    interrupted.map(([id]) => id),
  );
}
