import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, systemCode } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';
import { describeSize } from '../../system/text/visible-text.ts';
import { describeRoot } from '../root-view.ts';
import { defineTool, failure, type Tool } from '../tool.ts';
import { type BackgroundTask, describeTask, unknownTask } from './background-tasks.ts';
import { LONGEST_SECRET, readPart, readShownOutput, safeCut } from './output-file.ts';

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

/**
 * The part of an output file that was not shown yet. While more may come, a line that is not finished is shown but
 * not counted as seen, and neither is a private key that may still continue: the next look shows them whole, so that
 * no secret passes the redactor in two halves.
 */
interface NewOutputOptions {
  from: number;
  /** Nothing more will come. */
  final: boolean;
  gap: (bytes: number) => string;
}

/** Throws the system's error when the file cannot be read. */
function readNewOutput(path: string, options: NewOutputOptions): { text: string; next: number } {
  const descriptor = openSync(path, 'r');
  try {
    const { text } = readShownOutput({ path, descriptor }, options.gap, options.from);
    const { size } = fstatSync(descriptor);
    return { text, next: options.final ? size : seenUpTo(descriptor, options.from, size) };
  } finally {
    closeSync(descriptor);
  }
}

function seenUpTo(descriptor: number, from: number, size: number): number {
  const start = Math.max(from, size - LONGEST_SECRET);
  // One character a byte, so that places in the text are places in the file.
  const end = readPart(descriptor, start, size - start).toString('latin1');
  const endless = start > from && !end.includes('\n');
  return endless ? size : start + safeCut(end);
}
