import { basename } from 'node:path';
import type { ProcessGroup } from '../../system/processes/process-group.ts';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import {
  createOutputFile,
  discardOutputFile,
  keepOutputFile,
  type OutputFile,
  watchOutputSize,
} from './output-file.ts';

/** The directory is the counter: a name is taken by creating its file, so ids stay unique after a restart too. */
function* taskNames(): Generator<string> {
  for (let number = 1; ; number++) yield `bash-${number}.txt`;
}

export async function runInBackground(
  command: string,
  context: ToolContext,
  confined: boolean,
  start: (output: OutputFile) => Promise<ProcessGroup>,
): Promise<ToolOutcome> {
  const output = createOutputFile(context.outputDirectory, taskNames());
  const since = Date.now();
  let group: ProcessGroup;
  try {
    group = await start(output);
  } catch (error) {
    await discardOutputFile(output);
    throw error;
  }
  group.release();
  const task = context.tasks.add(basename(output.path, '.txt'), context.call, group);
  const stopWatching = watchOutputSize(output, () => void task.stop('output limit'));
  void task.ended.then(() => context.afterCommand?.(command, since));
  context.onAgentEnd(async () => {
    await task.stop('agent end');
    stopWatching();
    await keepOutputFile(output, context.redact);
  });
  const where = confined ? ' It runs in a read-only sandbox without network.' : '';
  return {
    content: `Started ${task.id} (pid ${group.id}). Follow it with TaskOutput, or Read ${output.path}. It is stopped when you finish.${where}`,
  };
}
