/**
 * What an earlier process left of an agent's last turn: an answer that was cut off, and background commands. An
 * interruption has stopped those, or nobody has watched them since, and the conversation still says that they run. The
 * agent learns of each, once, if it was interrupted; one that had finished knew that they end.
 */
import { join } from 'node:path';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { describeTask } from '../../tools/shell/background-tasks.ts';
import type { Agent } from '../agent/agent.ts';
import { OUTPUT_CUT, tasksInterrupted } from '../agent/notices.ts';
import { hasOpenCalls } from '../calls/finish-calls.ts';

/** Makes the agent ready to continue its last turn. */
export function continueLastTurn(agent: Agent): void {
  agent.inbox.releaseTaken();
  if (agent.state.openStop === 'max_tokens') {
    agent.say('notice', [freezeBlock({ type: 'text', text: OUTPUT_CUT })]);
  }
  tellOfTasks(agent);
}

function tellOfTasks(agent: Agent): void {
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
  agent.receive('notification', null, tasksInterrupted(lines), {
    tasks: interrupted.map(([id]) => id),
  });
}
