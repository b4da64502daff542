import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { ProcessGroup } from '../workspace/process-group.ts';
import {
  createOutputFile,
  discardOutputFile,
  keepOutputFile,
  type OutputFile,
  watchOutputSize,
} from './output-file.ts';
import type { ToolContext, ToolOutcome } from './tool.ts';

/** The directory is the counter: a name is taken by creating its file, so ids stay unique after a restart too. */
function* taskNames(): Generator<string> {
  for (let number = 1; ; number++) yield `bash-${number}.txt`;
}

export async function runInBackground(
  context: ToolContext,
  start: (output: OutputFile) => Promise<ProcessGroup>,
): Promise<ToolOutcome> {
  const output = createOutputFile(context.outputDirectory, taskNames());
  const task = basename(output.path, '.txt');
  let group: ProcessGroup;
  try {
    group = await start(output);
  } catch (error) {
    await discardOutputFile(output);
    throw error;
  }
  group.release();
  const stopWatching = watchOutputSize(output, () => void group.terminate());
  const noted = noteEnd(group, output, task);
  context.onAgentEnd(async () => {
    await group.terminate();
    await noted;
    stopWatching();
    await keepOutputFile(output, context.redact);
  });
  return {
    content: `Started ${task} (pid ${group.id}). Read ${output.path} to follow its output. It is stopped when you finish.`,
  };
}

/** Whoever reads the file sees that nothing more will come. On a full disk that line is missing, no more. */
async function noteEnd(group: ProcessGroup, output: OutputFile, task: string): Promise<void> {
  const { code, signal } = await group.ended;
  try {
    appendFileSync(output.descriptor, `\n[${task} ended: ${signal ?? `exit code ${code}`}]\n`);
  } catch {}
}
