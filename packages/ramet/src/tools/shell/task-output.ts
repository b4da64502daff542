import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, systemCode } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';
import { describeSize } from '../../system/text/cut-text.ts';
import { describeRoot } from '../root-view.ts';
import { defineTool, failure, type Tool } from '../tool.ts';
import { type BackgroundTask, describeTask, unknownTask } from './background-tasks.ts';
import { readNewOutput } from './new-output.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

/** As SendMessage knows it; no other agent is called so. */
const ROOT_NAMES: ReadonlySet<string> = new Set(['main', 'lead']);

const input = z.strictObject({
  task_id: z.string(),
  block: z.optional(z.boolean().check(z.describe('Wait for its end'))),
  timeout: z.optional(
    z.int().check(z.minimum(0), z.maximum(MAX_TIMEOUT_MS), z.describe('Longest wait in ms, default 30000')),
  ),
});

export const taskOutputTool: Tool = defineTool({
  name: 'TaskOutput',
  description: 'Status of a background task or agent, and its new output.',
  effect: 'read',
  schedule: 'parallel',
  input,
  async run({ task_id, block = false, timeout = DEFAULT_TIMEOUT_MS }, context) {
    const task = context.tasks.find(task_id);
    if (task === undefined && ROOT_NAMES.has(task_id)) return { content: describeRoot(await context.root()) };
    if (task === undefined) {
      const agent = await context.agents.look(task_id, { block, timeoutMs: timeout });
      return agent ?? failure(unknownTask(task_id, context.tasks));
    }
    if (block) await waitForEnd(task, timeout, context.signal);
    return { content: `${describeTask(task)}\n${newOutput(task, context.outputDirectory)}` };
  },
});

async function waitForEnd(task: BackgroundTask, timeout: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    await Promise.race([task.ended, sleep(timeout, undefined, { signal: either })]);
  } catch {
    // Aborted: what there is so far is still worth telling.
  } finally {
    stop.abort();
  }
}

function newOutput(task: BackgroundTask, directory: string): string {
  const path = join(directory, `${task.id}.txt`);
  const gap = (size: number): string =>
    `[... the middle of ${describeSize(size)} left out; all of it is in ${path} ...]`;
  try {
    const { text, next } = readNewOutput(path, { from: task.position, final: task.end !== null, gap });
    task.position = next;
    return text === '' ? '(no new output)' : text;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return `(Its output cannot be read: ${describeError(error)}.)`;
  }
}
